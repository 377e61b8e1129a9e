/*
 * biorxiv.c - source: preprints that bioRxiv or medRxiv posted on a day.
 */
#include "sources/biorxiv.h"

#include <inttypes.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "model/paper_id.h"
#include "sources/feed.h"
#include "sources/json.h"

/* Greek letters in abstracts: "PTP{sigma}". */
#define GREEK                                                                 \
	"alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|" \
	"nu|xi|pi|rho|sigma|tau|upsilon|phi|chi|psi|omega|Gamma|Delta|Theta|" \
	"Lambda|Xi|Pi|Sigma|Phi|Psi|Omega"

/* Maximum number of a version; the largest that was seen is below 30. */
#define VERSION_MAX 9999

static const char *
get_server(const struct source_options *options)
{
	return strcmp(options->kind, "medrxiv") == 0 ? "medrxiv" : "biorxiv";
}

static char *
format_url(const struct source_options *options, const char *day, const char *cursor)
{
	return g_strdup_printf("%s/details/%s/%s/%s/%s/json", options->url,
	    get_server(options), day, day, cursor ? cursor : "0");
}

/* Get a text, with its Greek letters as TeX, which is decoded. */
static char *
get_line(const json_t *element, const char *key, size_t max_bytes)
{
	const char *text = json_string_value(json_object_get(element, key));
	g_autoptr(GRegex) greek = g_regex_new("\\{(" GREEK ")\\}", 0, 0, NULL);
	g_autofree char *tex =
	    text ? g_regex_replace(greek, text, -1, 0, "{\\\\\\1}", 0, NULL) : NULL;

	return feed_xml_format_line(tex ? tex : text, FEED_XML_MAYBE_HTML, max_bytes);
}

/* "Last, F. M.; Last, G." */
static void
add_authors(struct paper *paper, const json_t *element)
{
	const char *text = json_string_value(json_object_get(element, "authors"));
	g_auto(GStrv) names = g_strsplit(text ? text : "", ";", -1);

	for (char **at = names; *at && paper->authors->len < BOUNDS_PAPER_AUTHORS;
	     at++) {
		char *name = feed_xml_format_line(
		    *at, FEED_XML_MAYBE_HTML, BOUNDS_PAPER_AUTHOR_BYTES);

		if (name)
			g_ptr_array_add(paper->authors, name);
	}
}

static void
set_category(struct paper *paper, const json_t *element)
{
	g_autofree char *text =
	    json_get_text(element, "category", BOUNDS_PAPER_KEYWORD_BYTES);
	g_autofree char *category = json_pages_format_category(text ? text : "");

	paper->categories = g_ptr_array_new_with_free_func(g_free);
	if (*category)
		g_ptr_array_add(paper->categories, g_steal_pointer(&category));
}

static const char *
parse_element(const json_t *element, const struct source_options *options,
    const char *day, struct listing **listing)
{
	const char *doi = json_string_value(json_object_get(element, "doi"));
	int64_t version = json_get_count(element, "version");
	pb_auto(paper) paper = paper_new();
	g_autofree char *path = NULL;

	paper->title = get_line(element, "title", BOUNDS_PAPER_TITLE_BYTES);
	paper->abstract = get_line(element, "abstract", BOUNDS_PAPER_ABSTRACT_BYTES);
	paper->published_at = json_get_day(element, "date");
	add_authors(paper, element);
	set_category(paper, element);
	json_pages_complete(paper, doi, options->name, "");
	/* Without an article it is "NA", which is not a DOI. */
	paper_id_add_record(
	    paper, json_string_value(json_object_get(element, "published")));
	if (!paper->doi)
		return "doi is not a DOI";
	if (!paper->title)
		return "blank title";
	if (version < 1 || version > VERSION_MAX)
		return "version is not a number";
	path = g_uri_escape_string(paper->doi, "/:;()", FALSE);
	paper->url = g_strdup_printf("https://www.%s.org/content/%sv%d",
	    get_server(options), path, (int)version);
	*listing = listing_new(g_steal_pointer(&paper), day);
	(*listing)->version = (unsigned)version;
	(*listing)->listing_type = version > 1 ? LISTING_REPLACE : LISTING_NEW;
	return NULL;
}

/* Whether a page without papers says that there are none, or ends a list whose total is
 * too large. */
static bool
is_end(const json_t *message, const struct json_page *page)
{
	const char *status = json_string_value(json_object_get(message, "status"));

	if (status && g_ascii_strncasecmp(status, "no posts", 8) == 0)
		return true;
	return g_strcmp0(status, "ok") == 0 && (page->cursor || page->total == 0);
}

/* The position after a page: the service says how many records it counts, but records
 * that it does not show must not be skipped. */
static char *
format_next(const json_t *message, size_t elements, const struct json_page *page)
{
	int64_t at = page->cursor ? g_ascii_strtoll(page->cursor, NULL, 10) : 0;
	int64_t count = json_get_count(message, "count");
	int64_t next =
	    at + (count > 0 ? MIN(count, (int64_t)elements) : (int64_t)elements);

	return page->total >= 0 && next >= page->total
	           ? NULL
	           : g_strdup_printf("%" PRId64, next);
}

GPtrArray *
biorxiv_parse(GBytes *json, const struct source_options *options, const char *day,
    struct json_page *page, GError **error)
{
	json_auto_t *root = json_read(json, error);
	const json_t *message = json_array_get(json_object_get(root, "messages"), 0);
	const json_t *list = json_object_get(root, "collection");
	GPtrArray *listings;

	if (!root)
		return NULL;
	page->total = json_get_count(message, "total");
	if (json_array_size(list) == 0 && is_end(message, page))
		return g_ptr_array_new_with_free_func((GDestroyNotify)listing_free);
	if (json_array_size(list) == 0) {
		pb_fail(error, PB_ERROR_TEMPORARY, JSON_PAGES_NO_LIST);
		return NULL;
	}
	listings = json_read_listings(list, parse_element, options, day, error);
	if (listings)
		page->next = format_next(message, json_array_size(list), page);
	return listings;
}

/* Its feed, of the categories that are wanted, with about 30 papers: fewer than a day
 * has. */
static struct source *
new_fallback(const struct source_options *options)
{
	const char *server = get_server(options);
	const char *const none[] = {NULL};
	g_autofree char *names = g_strjoinv(
	    "+", (char **)(options->categories ? options->categories : none));
	g_autofree char *subjects =
	    g_strdelimit(g_ascii_strdown(*names ? names : "all", -1), " -", '_');
	g_autofree char *usual = g_strdup_printf(
	    "https://connect.%s.org/%s_xml.php?subject=%s", server, server, subjects);
	const char *url =
	    options->feed_url && *options->feed_url ? options->feed_url : usual;

	return feed_source_new(
	    &(struct source_options){.name = options->name, .url = url});
}

struct source *
biorxiv_new(const struct source_options *options)
{
	static const struct json_pages_service service = {
	    .url = "https://api.biorxiv.org",
	    .format_url = format_url,
	    .parse = biorxiv_parse,
	};

	struct source *source = json_pages_new(&service, options);

	/* A mirror may be all that is reachable. */
	if (!options->url || !*options->url ||
	    (options->feed_url && *options->feed_url))
		source->fallback = new_fallback(options);
	return source;
}
