/*
 * feed.c - any RSS or Atom feed as a source.
 */
#include "sources/feed.h"

#include <string.h>

#include "base/bounds.h"
#include "base/day.h"
#include "base/text.h"
#include "model/paper_id.h"

/* Links of the ACL Anthology to papers that have a DOI: this prefix, and the name in
 * the link. */
#define ACL_LINK                                                                     \
	"^\\s*https://aclanthology\\.org/"                                           \
	"(\\d{4}\\.(?:findings-)?(?:aacl|acl|eacl|emnlp|naacl)(?:-[a-z]+)?\\.\\d+)/" \
	"?\\s*$"
#define ACL_PREFIX "10.18653/v1/"

#define PUBMED_LINK \
	"^\\s*https://pubmed\\.ncbi\\.nlm\\.nih\\.gov/([1-9]\\d{0,8})(?:[/?].*)?\\s*$"

struct feed_source {
	struct source source;
	char *name;
	char *url;
};

/* "A.", "C. M. J.", "H.-X.", "Yu.": given names in a list of "Last, F." */
static bool
is_initials(const char *text)
{
	return g_regex_match_simple(
	    "^\\s*(\\pL{1,2}\\.[\\s-]*|\\pL([\\s-]+|$))+$", text, 0, 0);
}

/* Append a name to those of one element, or initials to the name before. */
static void
add_name(GPtrArray *names, const char *text)
{
	g_autofree char *before = NULL;

	if (names->len && is_initials(text)) {
		before = g_ptr_array_steal_index(names, names->len - 1);
		g_ptr_array_add(names, g_strconcat(before, ",", text, NULL));
		return;
	}
	text += strspn(text, " ");
	if (g_str_has_prefix(text, "and "))
		text += 4;
	else if (g_str_has_prefix(text, "& "))
		text += 2;
	g_ptr_array_add(names, g_strdup(text));
}

/*
 * Split the names of one element: "A. One, B. Two, and C. Three", "One, A., Two, B." or
 * "One, Ann; Two, Ben".
 *
 * @param is_only  there is no other element with names
 */
static GPtrArray *
split_names(const char *line, bool is_only)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	const char *comma = strchr(line, ',');
	/* "Joswig, Michael" is one person; more commas separate people. */
	bool is_one = comma && !strchr(comma + 1, ',') && !is_only;
	bool is_whole = is_one || strchr(line, ';');
	g_auto(GStrv) parts = g_strsplit(line, is_whole ? ";" : ",", -1);

	for (char **part = parts; *part; part++)
		add_name(names, *part);
	return names;
}

static void
add_authors(const struct feed_xml_entry *entry, GPtrArray *authors)
{
	for (unsigned i = 0; i < entry->authors->len; i++) {
		g_autofree char *line = feed_xml_format_line(entry->authors->pdata[i],
		    FEED_XML_MAYBE_HTML, BOUNDS_XML_TEXT_BYTES);
		g_autoptr(GPtrArray) names =
		    line ? split_names(line, entry->authors->len == 1)
		         : g_ptr_array_new();

		for (unsigned n = 0; n < names->len; n++) {
			g_autofree char *name = text_normalize(names->pdata[n],
			    strlen(names->pdata[n]), BOUNDS_PAPER_AUTHOR_BYTES);

			if (*name && authors->len < BOUNDS_PAPER_AUTHORS)
				g_ptr_array_add(authors, g_steal_pointer(&name));
		}
	}
}

static GPtrArray *
make_keywords(const struct feed_xml_entry *entry)
{
	g_autoptr(GPtrArray) keywords = g_ptr_array_new_with_free_func(g_free);

	for (unsigned i = 0; i < entry->categories->len; i++) {
		char *line = feed_xml_format_line(entry->categories->pdata[i],
		    FEED_XML_MAYBE_HTML, BOUNDS_PAPER_KEYWORD_BYTES);

		if (line)
			g_ptr_array_add(keywords, line);
	}
	return keywords->len ? g_steal_pointer(&keywords) : NULL;
}

static void
choose_day(const struct feed_xml_entry *entry, const char *today, char day[DAY_BYTES])
{
	int64_t at = entry->published_at >= 0 ? entry->published_at : entry->updated_at;

	g_strlcpy(day, today, DAY_BYTES);
	if (at < 0)
		return;
	day_format(at, day);
	if (strcmp(day, today) > 0)
		g_strlcpy(day, today, DAY_BYTES);
}

/* @return NULL for a link that does not identify an entry */
static char *
format_link(const char *text)
{
	g_autofree char *url = text_normalize_url(text, BOUNDS_PAPER_URL_BYTES);

	return paper_id_format_link(url);
}

static char *
find_arxiv_id(const struct feed_xml_entry *entry)
{
	g_autofree char *link = format_link(entry->url);
	char *id = NULL;

	if (paper_id_parse_arxiv(link, &id, NULL) ||
	    paper_id_parse_arxiv(entry->guid, &id, NULL) ||
	    paper_id_parse_arxiv(entry->doi, &id, NULL))
		return id;
	return NULL;
}

/* @return what the group of the pattern matches, a new string; or NULL */
static char *
match_link(const struct feed_xml_entry *entry, const char *pattern)
{
	g_autoptr(GRegex) regex = g_regex_new(pattern, 0, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;

	return entry->url && g_regex_match(regex, entry->url, 0, &match)
	           ? g_match_info_fetch(match, 1)
	           : NULL;
}

static char *
find_doi(const struct feed_xml_entry *entry)
{
	char *doi = paper_id_parse_doi(entry->doi);

	if (!doi)
		doi = paper_id_parse_doi(entry->guid);
	if (!doi && entry->url && strstr(entry->url, "doi.org/")) {
		g_autofree char *link = format_link(entry->url);

		doi = paper_id_parse_doi(link);
	}
	if (!doi) {
		g_autofree char *id = match_link(entry, ACL_LINK);
		g_autofree char *text = id ? g_strconcat(ACL_PREFIX, id, NULL) : NULL;

		doi = paper_id_parse_doi(text);
	}
	return doi;
}

static void
fill_texts(struct paper *paper, const struct feed_xml_entry *entry)
{
	paper->abstract = feed_xml_format_line(
	    entry->summary, entry->summary_form, BOUNDS_PAPER_ABSTRACT_BYTES);
	if (!paper->abstract)
		paper->abstract = g_strdup("");
	paper->comment = feed_xml_format_line(
	    entry->comment, FEED_XML_PLAIN, BOUNDS_PAPER_TITLE_BYTES);
	paper->journal = feed_xml_format_line(
	    entry->journal, FEED_XML_MAYBE_HTML, BOUNDS_PAPER_TITLE_BYTES);
	add_authors(entry, paper->authors);
	paper->keywords = make_keywords(entry);
}

static char *
hash_name(const char *head, const char *text)
{
	g_autofree char *hash =
	    g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);

	return g_strconcat(head, hash, NULL);
}

/*
 * Set the names that identify the entry (paperboyd(8)).  A link or guid that is the
 * page of the feed or the home page of a site does not.
 *
 * @param page  of the feed, as of format_link(), or NULL
 */
static void
fill_names(struct paper *paper, const struct feed_xml_entry *entry, const char *name,
    const char *page)
{
	g_autofree char *link = format_link(paper->url);
	g_autofree char *guid_url =
	    text_normalize_url(entry->guid, BOUNDS_PAPER_URL_BYTES);
	g_autofree char *guid_link = paper_id_format_link(guid_url);
	g_autofree char *head = g_strconcat(name, ":", NULL);

	if (link && g_strcmp0(link, page) != 0)
		paper->link = hash_name("link=", link);
	if (entry->guid &&
	    (!guid_url || (guid_link && g_strcmp0(guid_link, page) != 0)))
		paper->guid = hash_name(head, entry->guid);
	paper->entry_key = paper_id_format_entry(name, paper->title);
}

/* @return NULL for an entry without title or link; its id is set for arXiv only */
static struct listing *
make_listing(const struct feed_xml_entry *entry, const char *name, const char *page,
    const char *today)
{
	pb_auto(paper) paper = paper_new();
	char day[DAY_BYTES];

	paper->title = feed_xml_format_line(
	    entry->title, entry->title_form, BOUNDS_PAPER_TITLE_BYTES);
	paper->url = text_normalize_url(entry->url, BOUNDS_PAPER_URL_BYTES);
	paper->doi = find_doi(entry);
	paper->pmid = match_link(entry, PUBMED_LINK);
	if (!paper->url && paper->doi) {
		g_autofree char *link =
		    g_strconcat("https://doi.org/", paper->doi, NULL);

		paper->url = text_normalize_url(link, BOUNDS_PAPER_URL_BYTES);
	}
	if (!paper->title || !paper->url)
		return NULL;
	fill_texts(paper, entry);
	paper->source_rank = PAPER_SOURCE_RANK_FEED;
	paper->published_at = entry->published_at;
	paper->id = find_arxiv_id(entry);
	fill_names(paper, entry, name, page);
	choose_day(entry, today, day);
	return listing_new(g_steal_pointer(&paper), day);
}

static bool
differ(const char *one, const char *other)
{
	return g_strcmp0(one, other) != 0;
}

/*
 * Find links and guids shared by entries with different titles, and titles shared by
 * entries with different links and guids: they do not identify an entry.
 *
 * @return a set of names, borrowed from the listings
 */
static GHashTable *
find_shared_names(const GPtrArray *listings)
{
	GHashTable *shared = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GHashTable) first = g_hash_table_new(g_str_hash, g_str_equal);

	for (unsigned i = 0; i < listings->len; i++) {
		struct paper *paper = ((struct listing *)listings->pdata[i])->paper;
		char *const names[] = {paper->link, paper->guid, paper->entry_key};

		for (size_t n = 0; n < G_N_ELEMENTS(names); n++) {
			const struct paper *other =
			    names[n] ? g_hash_table_lookup(first, names[n]) : NULL;

			if (names[n] && !other)
				g_hash_table_insert(first, names[n], paper);
			else if (other &&
			         (names[n] == paper->entry_key
			                 ? differ(paper->link, other->link) &&
			                       differ(paper->guid, other->guid)
			                 : differ(paper->entry_key, other->entry_key)))
				g_hash_table_add(shared, names[n]);
		}
	}
	return shared;
}

/* Move a shared name to `dropped`, which keeps the keys of `shared` alive. */
static void
drop_name(GHashTable *shared, char **name, GPtrArray *dropped)
{
	if (*name && g_hash_table_contains(shared, *name))
		g_ptr_array_add(dropped, g_steal_pointer(name));
}

/* Choose the id, once ambiguous names have been dropped. */
static void
choose_id(struct paper *paper, const char *name)
{
	g_autofree char *arxiv_id = g_steal_pointer(&paper->id);

	if (!paper->guid) {
		g_autofree char *head = g_strconcat(name, ":", NULL);
		g_autofree char *text = paper->link ? g_strdup(paper->link)
		                                    : g_strconcat(paper->title, "\n",
		                                          paper->abstract, NULL);

		paper->guid = hash_name(head, text);
	}
	paper_id_choose(paper, arxiv_id, name, paper->link ? paper->link : paper->guid);
}

static GPtrArray *
make_listings(const struct feed_xml *feed, const char *name, const char *today)
{
	g_autofree char *page = format_link(feed->url);
	GPtrArray *listings =
	    g_ptr_array_new_with_free_func((GDestroyNotify)listing_free);

	for (unsigned i = 0; i < feed->entries->len; i++) {
		struct listing *listing =
		    make_listing(feed->entries->pdata[i], name, page, today);

		if (listing)
			g_ptr_array_add(listings, listing);
	}
	return listings;
}

GPtrArray *
feed_source_make_listings(
    const struct feed_xml *feed, const char *name, const char *today)
{
	GPtrArray *listings = make_listings(feed, name, today);
	g_autoptr(GHashTable) shared = find_shared_names(listings);
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GPtrArray) dropped = g_ptr_array_new_with_free_func(g_free);

	for (unsigned i = 0; i < listings->len;) {
		struct paper *paper = ((struct listing *)listings->pdata[i])->paper;

		drop_name(shared, &paper->link, dropped);
		drop_name(shared, &paper->guid, dropped);
		drop_name(shared, &paper->entry_key, dropped);
		choose_id(paper, name);
		/* Adding a key again would replace it by one that is freed. */
		if (g_hash_table_contains(seen, paper->id)) {
			g_ptr_array_remove_index(listings, i);
			continue;
		}
		g_hash_table_add(seen, paper->id);
		i++;
	}
	return listings;
}

static bool
parse(struct source *source, GBytes *xml, const char *url, struct source_answer *answer,
    GError **error)
{
	pb_auto(feed_xml) feed = feed_xml_parse(xml, url, error);

	if (!feed)
		return false;
	source_answer_set_listings(
	    answer, feed_source_make_listings(feed, source->name, answer->day));
	return true;
}

static bool
poll(struct source *source, struct http *http, const char *today, const char *etag,
    struct source_answer *answer, GError **error)
{
	(void)today;
	return source_get(source, http, source->url, etag, answer, error);
}

static void
feed_source_free(struct source *source)
{
	struct feed_source *self = (struct feed_source *)source;

	g_free(self->name);
	g_free(self->url);
	g_free(self);
}

struct source *
feed_source_new(const struct source_options *options)
{
	struct feed_source *self = g_new0(struct feed_source, 1);

	self->name = g_strdup(options->name);
	self->url = g_strdup(options->url);
	self->source = (struct source){
	    .name = self->name,
	    .label = self->name,
	    .url = self->url,
	    .kind = SOURCE_ROLLING,
	    .expected_by = -1,
	    .poll = poll,
	    .parse = parse,
	    .free = feed_source_free,
	};
	return &self->source;
}
