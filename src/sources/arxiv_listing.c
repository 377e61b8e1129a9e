/*
 * arxiv_listing.c - papers from arXiv's feeds and API responses.
 */
#include "sources/arxiv_listing.h"

#include <string.h>

#include "base/bounds.h"
#include "base/day.h"
#include "base/error.h"
#include "base/text.h"
#include "model/paper_id.h"

#define PAGE "https://arxiv.org/abs/"

#define ANNOUNCE_TYPE "Announce Type:"
#define ABSTRACT      "Abstract:"

static bool
is_suffix(const char *name)
{
	static const char *const suffixes[] = {
	    "Jr", "Jr.", "Sr", "Sr.", "II", "III", "IV"};

	for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++)
		if (strcmp(name, suffixes[i]) == 0)
			return true;
	return false;
}

static void
add_author(GPtrArray *authors, const char *text, size_t length)
{
	g_autofree char *name = text_normalize(text, length, BOUNDS_PAPER_AUTHOR_BYTES);
	char *before;

	if (!*name || authors->len == BOUNDS_PAPER_AUTHORS)
		return;
	if (authors->len && is_suffix(name)) {
		before = authors->pdata[authors->len - 1];
		if (strlen(before) + strlen(name) + 1 <= BOUNDS_PAPER_AUTHOR_BYTES) {
			authors->pdata[authors->len - 1] =
			    g_strconcat(before, " ", name, NULL);
			g_free(before);
		}
		return;
	}
	g_ptr_array_add(authors, g_steal_pointer(&name));
}

/* Unbalanced parentheses are part of a name. */
static bool
is_balanced(const char *text)
{
	int depth = 0;

	for (; *text && depth >= 0; text++)
		depth += (*text == '(') - (*text == ')');
	return depth == 0;
}

void
arxiv_listing_split_authors(const char *text, GPtrArray *authors)
{
	bool has_asides = is_balanced(text);
	g_autoptr(GString) name = g_string_new(NULL);
	int aside = 0, brace = 0;

	for (const char *at = text; *at; at++) {
		/* \, and \( are TeX. */
		if (*at == '\\' && at[1]) {
			if (!aside)
				g_string_append_len(name, at, 2);
			at++;
			continue;
		}
		aside += has_asides && *at == '(';
		brace = MAX(0, brace + (*at == '{') - (*at == '}'));
		if (*at == ',' && !aside && !brace) {
			add_author(authors, name->str, name->len);
			g_string_truncate(name, 0);
		} else if (!aside) {
			g_string_append_c(name, *at);
		}
		aside -= has_asides && *at == ')';
	}
	add_author(authors, name->str, name->len);
}

/* Remove the head of "arXiv:2609.26811v1 Announce Type: new \nAbstract: We ...". */
static const char *
skip_head(const char *summary, char **type)
{
	const char *announced = strstr(summary, ANNOUNCE_TYPE);
	const char *abstract = strstr(summary, ABSTRACT);
	const char *word;

	while (g_ascii_isspace(*summary))
		summary++;
	if (!g_str_has_prefix(summary, "arXiv:") || !announced)
		return summary;
	word = announced + strlen(ANNOUNCE_TYPE);
	word += strspn(word, " \t\r\n");
	*type = g_strndup(word, strcspn(word, " \t\r\n"));
	if (!abstract || abstract < announced)
		return word + strlen(*type);
	return abstract + strlen(ABSTRACT);
}

static char *
format_line(const char *text, size_t max_bytes)
{
	return feed_xml_format_line(text, FEED_XML_PLAIN, max_bytes);
}

static void
add_category(GPtrArray *categories, const char *name)
{
	g_autofree char *line = format_line(name, BOUNDS_PAPER_KEYWORD_BYTES);

	if (!line ||
	    g_ptr_array_find_with_equal_func(categories, line, g_str_equal, NULL))
		return;
	g_ptr_array_add(categories, g_steal_pointer(&line));
}

/* @param primary  to be put first, or NULL */
static GPtrArray *
make_categories(const struct feed_xml_entry *entry, const char *primary)
{
	GPtrArray *categories = g_ptr_array_new_with_free_func(g_free);

	if (primary)
		add_category(categories, primary);
	for (unsigned i = 0; i < entry->categories->len; i++)
		add_category(categories, entry->categories->pdata[i]);
	return categories;
}

/* Fields of feeds and API responses. @return NULL if it is not an arXiv paper */
static struct listing *
make_paper(const struct feed_xml_entry *entry, const char *day)
{
	pb_auto(paper) paper = paper_new();
	unsigned version = 0;
	struct listing *listing;

	if (!paper_id_parse_arxiv(entry->guid, &paper->id, &version) &&
	    !paper_id_parse_arxiv(entry->url, &paper->id, &version))
		return NULL;
	paper->title = format_line(entry->title, BOUNDS_PAPER_TITLE_BYTES);
	if (!paper->title)
		return NULL;
	paper->source_rank = PAPER_SOURCE_RANK_ARXIV;
	paper->url = g_strconcat(PAGE, paper->id, NULL);
	paper->comment = format_line(entry->comment, BOUNDS_PAPER_TITLE_BYTES);
	paper->journal = format_line(entry->journal, BOUNDS_PAPER_TITLE_BYTES);
	paper->doi = paper_id_parse_doi(entry->doi);
	for (unsigned i = 0; i < entry->authors->len && !entry->creator; i++)
		add_author(paper->authors, entry->authors->pdata[i],
		    strlen(entry->authors->pdata[i]));
	if (entry->creator)
		arxiv_listing_split_authors(entry->creator, paper->authors);
	listing = listing_new(g_steal_pointer(&paper), day);
	listing->version = version;
	return listing;
}

static struct listing *
make_announced(const struct feed_xml_entry *entry, const char *day)
{
	pb_auto(listing) listing = make_paper(entry, day);
	g_autofree char *type = NULL;
	const char *summary, *announced;

	if (!listing)
		return NULL;
	summary = entry->summary ? skip_head(entry->summary, &type) : "";
	announced = entry->listing_type ? entry->listing_type : type;
	/* Lists without types contain new papers. */
	if (announced && !listing_type_parse(announced, &listing->listing_type))
		return NULL;
	listing->paper->abstract = format_line(summary, BOUNDS_PAPER_ABSTRACT_BYTES);
	if (!listing->paper->abstract)
		listing->paper->abstract = g_strdup("");
	/* Papers without categories are looked up by the API. */
	if (entry->categories->len)
		listing->paper->categories = make_categories(entry, NULL);
	return g_steal_pointer(&listing);
}

/* Remove duplicates, keeping the first type in the order of the enum. */
static void
add_listing(GPtrArray *listings, GHashTable *seen, struct listing *listing)
{
	struct listing *before = g_hash_table_lookup(seen, listing->paper->id);

	if (!before) {
		g_ptr_array_add(listings, listing);
		g_hash_table_insert(seen, listing->paper->id, listing);
		return;
	}
	before->listing_type = MIN(before->listing_type, listing->listing_type);
	before->version = MAX(before->version, listing->version);
	listing_free(listing);
}

GPtrArray *
arxiv_listing_from_feed(const struct feed_xml *feed, const char *day, GError **error)
{
	g_autoptr(GPtrArray) listings =
	    g_ptr_array_new_with_free_func((GDestroyNotify)listing_free);
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

	for (unsigned i = 0; i < feed->entries->len; i++) {
		struct listing *listing = make_announced(feed->entries->pdata[i], day);

		if (!listing) {
			pb_fail(error, PB_ERROR_INPUT,
			    "entry %u of the feed: invalid id, title or announce type",
			    i + 1);
			return NULL;
		}
		add_listing(listings, seen, listing);
	}
	return g_steal_pointer(&listings);
}

static bool
check_error(const struct feed_xml *feed, GError **error)
{
	const struct feed_xml_entry *first =
	    feed->entries->len ? feed->entries->pdata[0] : NULL;
	g_autofree char *message = NULL;

	if (!first || !first->guid || !strstr(first->guid, "arxiv.org/api/errors"))
		return true;
	message = format_line(first->summary, BOUNDS_SOURCE_ERROR_BYTES);
	return pb_fail(error, PB_ERROR_PERMANENT, "arXiv responded: %s",
	    message ? message : "unspecified error");
}

GPtrArray *
arxiv_listing_from_api(const struct feed_xml *feed, GError **error)
{
	g_autoptr(GPtrArray) listings =
	    g_ptr_array_new_with_free_func((GDestroyNotify)listing_free);
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

	if (!check_error(feed, error))
		return NULL;
	for (unsigned i = 0; i < feed->entries->len; i++) {
		const struct feed_xml_entry *entry = feed->entries->pdata[i];
		struct listing *listing = make_paper(entry, "");
		struct paper *paper;

		/* Unknown ids are returned without a title. */
		if (!listing)
			continue;
		paper = listing->paper;
		paper->abstract =
		    format_line(entry->summary, BOUNDS_PAPER_ABSTRACT_BYTES);
		if (!paper->abstract)
			paper->abstract = g_strdup("");
		paper->published_at = entry->published_at;
		paper->categories = make_categories(entry, entry->primary);
		paper->looked_up = PAPER_LOOKUP_ARXIV;
		if (paper->published_at >= 0)
			day_format(paper->published_at, listing->day);
		add_listing(listings, seen, listing);
	}
	return g_steal_pointer(&listings);
}
