/*
 * crossref.c - source: journal articles that were registered with Crossref on a day.
 */
#include "sources/crossref.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/day.h"
#include "base/text.h"
#include "model/paper_id.h"
#include "sources/json.h"

/* Works in a page; the maximum is 1000, which fits for notices. */
#define PAGE_WORKS   200
#define PAGE_NOTICES 1000

/* The members that are read: without a selection the references of each work, a
 * hundred kilobytes at times, come along. */
#define MEMBERS                                                                \
	"DOI,URL,title,abstract,author,container-title,short-container-title," \
	"created,issued,published-online,relation,update-to,updated-by"

/* Texts that are longer stay without the changes of format_html(). */
#define JATS_BYTES (4 * BOUNDS_PAPER_ABSTRACT_BYTES)

static void
add_parameter(GString *url, const char *head, const char *value)
{
	if (*value)
		g_string_append(url, head);
	g_string_append_uri_escaped(url, value, "*", FALSE);
}

static char *
format_url(const struct source_options *options, const char *day, const char *cursor)
{
	GString *url = g_string_new(options->url);

	g_string_append_printf(url,
	    "/works?filter=from-created-date:%s,until-created-date:%s"
	    ",type:journal-article",
	    day, day);
	add_parameter(url, ",issn:", options->issn);
	add_parameter(url, ",prefix:", options->prefix);
	g_string_append_printf(url, "&select=%s&rows=%d", MEMBERS, PAGE_WORKS);
	add_parameter(url, "&cursor=", cursor ? cursor : "*");
	add_parameter(url, "&mailto=", options->contact);
	return g_string_free(url, FALSE);
}

/* Turn JATS (https://jats.nlm.nih.gov/publishing/) into HTML: paragraphs and titles; of
 * a formula that comes twice, as TeX and as MathML, only the TeX. */
static char *
format_html(const char *jats)
{
	static const struct {
		const char *pattern, *html;
	} changes[] = {
	    {"<jats:title[^<]*>\\s*Abstract\\s*</jats:title>", ""},
	    {"<(/?)jats:title", "<\\1h4"},
	    {"(<jats:tex-math)[^<]*\\\\begin\\{document\\}([^<]*)\\\\end\\{document\\}",
	        "\\1>\\2"},
	    {"(</jats:tex-math>)\\s*<mml:math.*?</mml:math>", "\\1"},
	    {"<(/?)jats:", "<\\1"},
	};
	char *html = g_strdup(jats);

	for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
		g_autoptr(GRegex) regex = g_regex_new(
		    changes[i].pattern, G_REGEX_CASELESS | G_REGEX_DOTALL, 0, NULL);
		char *changed =
		    g_regex_replace(regex, html, -1, 0, changes[i].html, 0, NULL);

		if (changed) {
			g_free(html);
			html = changed;
		}
	}
	return html;
}

/* Get a text with JATS; of a list the first one. */
static char *
get_line(const json_t *item, const char *key, size_t max_bytes)
{
	const json_t *value = json_object_get(item, key);
	g_autofree char *html = NULL;

	if (json_is_array(value))
		value = json_array_get(value, 0);
	if (json_is_string(value) && json_string_length(value) <= JATS_BYTES)
		html = format_html(json_string_value(value));
	return feed_xml_format_line(
	    html ? html : json_string_value(value), FEED_XML_HTML, max_bytes);
}

static void
add_authors(struct paper *paper, const json_t *list)
{
	const json_t *author;
	size_t i;

	json_array_foreach(list, i, author)
	{
		const char *given = json_string_value(json_object_get(author, "given"));
		const char *last = json_string_value(json_object_get(author, "family"));
		g_autofree char *name = NULL;
		char *line;

		if (paper->authors->len == BOUNDS_PAPER_AUTHORS)
			return;
		if (!last) /* a group */
			last = json_string_value(json_object_get(author, "name"));
		name = g_strdup_printf("%s %s", given ? given : "", last ? last : "");
		line = feed_xml_format_line(
		    name, FEED_XML_MAYBE_HTML, BOUNDS_PAPER_AUTHOR_BYTES);
		if (line)
			g_ptr_array_add(paper->authors, line);
	}
}

/*
 * Get a date, [[2026, 11, 20]]; month and day may be missing or null.
 *
 * @param parts  set to year, month and day; 1 for those that are missing
 * @return the number of parts; 0 if there is no such date
 */
static unsigned
get_date(const json_t *item, const char *key, int parts[3])
{
	const json_t *list = json_array_get(
	    json_object_get(json_object_get(item, key), "date-parts"), 0);
	unsigned count = 0;

	parts[0] = parts[1] = parts[2] = 1;
	for (; count < 3 && json_is_integer(json_array_get(list, count)); count++) {
		json_int_t part = json_integer_value(json_array_get(list, count));

		parts[count] = (int)CLAMP(part, 0, 9999);
	}
	return parts[0] > 0 && g_date_valid_dmy((GDateDay)parts[2],
	                           (GDateMonth)parts[1], (GDateYear)parts[0])
	           ? count
	           : 0;
}

/* Find the most exact date, with 1 for a month or day that is missing. */
static int64_t
find_date(const json_t *item)
{
	static const char *const keys[] = {"published-online", "created", "issued"};
	g_autofree char *day = NULL;
	int parts[3];

	for (unsigned exact = 3; exact > 0; exact--)
		for (size_t i = 0; i < G_N_ELEMENTS(keys) && !day; i++)
			if (get_date(item, keys[i], parts) >= exact)
				day = g_strdup_printf(
				    "%04d-%02d-%02d", parts[0], parts[1], parts[2]);
	return day && day_start(day) >= 0 ? day_start(day) : PAPER_UNKNOWN;
}

/*
 * Count the retractions in a list of updates.
 *
 * @param paper  NULL, or gets the works that they are about as its records
 */
static unsigned
count_retractions(const json_t *list, struct paper *paper)
{
	static const char *const types[] = {
	    "retraction", "withdrawal", "removal", NULL};
	unsigned count = 0;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *update = json_array_get(list, i);
		const char *type = json_string_value(json_object_get(update, "type"));

		if (!type || !g_strv_contains(types, type))
			continue;
		count++;
		if (paper)
			paper_id_add_record(
			    paper, json_string_value(json_object_get(update, "DOI")));
	}
	return count;
}

/* Whether a work was registered more than a year late. */
static bool
is_late(const json_t *item, const char *day)
{
	int parts[3];

	return get_date(item, "issued", parts) > 0 && parts[0] < atoi(day) - 1;
}

static char *
format_page_url(const json_t *item, const char *doi)
{
	g_autofree char *path = g_uri_escape_string(doi, "/:;()", FALSE);
	g_autofree char *resolver = g_strconcat("https://doi.org/", path, NULL);
	char *url = json_get_url(item, "URL");

	return url ? url : text_normalize_url(resolver, BOUNDS_PAPER_URL_BYTES);
}

/*
 * Add the preprints of an article, and the article of a preprint.  An article may have
 * preprints on several servers; a record that is a preprint of several articles says
 * nothing about them being one work.
 */
static void
add_records(struct paper *paper, const json_t *item)
{
	static const char *const types[] = {"has-preprint", "is-preprint-of"};
	const json_t *relation = json_object_get(item, "relation");

	for (size_t i = 0; i < G_N_ELEMENTS(types); i++) {
		const json_t *list = json_object_get(relation, types[i]);
		bool is_article = i > 0;

		if (is_article && json_array_size(list) > 1)
			continue;
		for (size_t at = 0; at < json_array_size(list); at++)
			paper_id_add_record(paper,
			    json_string_value(
			        json_object_get(json_array_get(list, at), "id")));
	}
}

static const char *
parse_item(const json_t *item, const struct source_options *options, const char *day,
    struct listing **listing)
{
	const char *doi = json_string_value(json_object_get(item, "DOI"));
	const json_t *title = json_object_get(item, "title");
	pb_auto(paper) paper = paper_new();

	if (!doi || !*doi)
		return "DOI is not a string";
	if (title && !json_is_array(title))
		return "title is not a list";
	paper->title = get_line(item, "title", BOUNDS_PAPER_TITLE_BYTES);
	if (!paper->title)
		return NULL;
	/* Other updates are about papers that stay. */
	count_retractions(json_object_get(item, "update-to"), paper);
	paper->is_notice = paper->records != NULL;
	if (!paper->is_notice &&
	    (json_array_size(json_object_get(item, "update-to")) > 0 ||
	        is_late(item, day)))
		return NULL;
	if (count_retractions(json_object_get(item, "updated-by"), NULL))
		paper_mark_retracted(paper);
	paper->abstract = get_line(item, "abstract", BOUNDS_PAPER_ABSTRACT_BYTES);
	paper->journal = get_line(item, "container-title", BOUNDS_PAPER_TITLE_BYTES);
	paper_add_journal_name(
	    paper, get_line(item, "short-container-title", BOUNDS_PAPER_TITLE_BYTES));
	paper->published_at = find_date(item);
	add_authors(paper, json_object_get(item, "author"));
	if (!paper->is_notice)
		add_records(paper, item);
	paper->url = format_page_url(item, doi);
	if (!paper->url)
		return "DOI is too long";
	paper->looked_up = PAPER_LOOKUP_CROSSREF;
	json_pages_complete(paper, doi, options->name, doi);
	*listing = listing_new(g_steal_pointer(&paper), day);
	return NULL;
}

GPtrArray *
crossref_parse(GBytes *json, const struct source_options *options, const char *day,
    struct json_page *page, GError **error)
{
	json_auto_t *root = json_read(json, error);
	const json_t *message = json_object_get(root, "message");
	const json_t *list = json_object_get(message, "items");
	GPtrArray *listings = NULL;

	if (root)
		listings = json_read_listings(list, parse_item, options, day, error);
	/* The cursor may stay the same from page to page. */
	if (listings && json_array_size(list) > 0)
		page->next = g_strdup(
		    json_string_value(json_object_get(message, "next-cursor")));
	return listings;
}

static const struct json_pages_service service = {
    .url = "https://api.crossref.org",
    .format_url = format_url,
    .parse = crossref_parse,
};

struct source *
crossref_new(const struct source_options *options)
{
	return json_pages_new(&service, options);
}

static void
append_doi(const struct paper *paper, GString *filter)
{
	/* A comma would begin another filter. */
	if (!strchr(paper->doi, ','))
		g_string_append_printf(
		    filter, "%sdoi:%s", filter->len ? "," : "", paper->doi);
}

/* Send one request for a page. */
static GPtrArray *
search(struct http *http, const struct source_options *options, const char *filter,
    int works, struct source_lookup *lookup, GError **error)
{
	g_autofree char *base = source_format_base(options->url, service.url);
	g_autoptr(GString) url = g_string_new(base);

	add_parameter(url, "/works?filter=", filter);
	g_string_append_printf(url, "&select=%s&rows=%d", MEMBERS, works);
	add_parameter(url, "&mailto=", options->contact);
	return json_pages_find(&service, http, options, url->str, lookup, error);
}

GPtrArray *
crossref_find(struct http *http, const struct source_options *options,
    const GPtrArray *papers, struct source_lookup *lookup, GError **error)
{
	g_autoptr(GString) filter = source_lookup_format(lookup, papers, append_doi);

	return filter->len
	           ? search(http, options, filter->str, PAGE_WORKS, lookup, error)
	           : g_ptr_array_new();
}

GPtrArray *
crossref_find_notices(struct http *http, const struct source_options *options,
    const GPtrArray *papers, struct source_lookup *lookup, GError **error)
{
	char day[DAY_BYTES];
	g_autofree char *filter = NULL;

	(void)papers;
	day_format(lookup->since, day);
	filter = g_strdup_printf("update-type:retraction,update-type:withdrawal,"
	                         "update-type:removal,from-created-date:%s",
	    day);
	return search(http, options, filter, PAGE_NOTICES, lookup, error);
}
