/*
 * europepmc.c - source: papers that Europe PMC indexed on a day and that match a query.
 */
#include "sources/europepmc.h"

#include <stdbool.h>
#include <string.h>

#include "base/bounds.h"
#include "base/day.h"
#include "base/error.h"
#include "base/text.h"
#include "model/paper_id.h"
#include "sources/json.h"

/* Records in a page, of about 10 KB; the maximum is 1000, which fits for notices. */
#define PAGE_RECORDS 200
#define PAGE_NOTICES 1000

/* Room that format_name() needs for periods and blanks. */
#define INITIALS_BYTES 12

static char *
format_url(const struct source_options *options, const char *day, const char *cursor)
{
	g_autofree char *query = g_strdup_printf(
	    "(%s) AND (FIRST_IDATE:[%s TO %s])", options->query, day, day);
	g_autofree char *escaped = g_uri_escape_string(query, NULL, FALSE);
	g_autofree char *mark = g_uri_escape_string(cursor ? cursor : "*", "*", FALSE);

	return g_strdup_printf("%s/search?query=%s&resultType=core&format=json"
	                       "&pageSize=%d&cursorMark=%s",
	    options->url, escaped, PAGE_RECORDS, mark);
}

/* Titles are sentences: remove the period at the end. */
static char *
get_title(const json_t *element)
{
	char *title = json_format_line(
	    json_object_get(element, "title"), FEED_XML_HTML, BOUNDS_PAPER_TITLE_BYTES);

	if (title && g_str_has_suffix(title, ".") && !g_str_has_suffix(title, "..")) {
		title[strlen(title) - 1] = '\0';
		g_strchomp(title);
	}
	if (title && !*title)
		g_clear_pointer(&title, g_free);
	return title;
}

/*
 * Format a name, so that the last name is known: "Liu QA" is "Liu, Q. A.", as other
 * services have it.  Other forms (groups, "3rd" after the initials) are unchanged.
 */
static char *
format_name(const char *name)
{
	const char *blank = strrchr(name, ' ');
	g_autoptr(GString) out = g_string_new(NULL);

	if (!blank || !g_regex_match_simple("^(\\p{Lu}-?){1,4}$", blank + 1, 0, 0))
		return g_strdup(name);
	g_string_append_len(out, name, blank - name);
	g_string_append_c(out, ',');
	for (const char *at = blank + 1; *at; at = g_utf8_next_char(at)) {
		if (*at == '-') {
			g_string_append_c(out, '-');
			continue;
		}
		if (at[-1] != '-')
			g_string_append_c(out, ' ');
		g_string_append_unichar(out, g_utf8_get_char(at));
		g_string_append_c(out, '.');
	}
	return g_strdup(out->str);
}

static void
add_name(struct paper *paper, const char *name)
{
	g_autofree char *line = text_normalize(
	    name, strlen(name), BOUNDS_PAPER_AUTHOR_BYTES - INITIALS_BYTES);

	if (*line && paper->authors->len < BOUNDS_PAPER_AUTHORS)
		g_ptr_array_add(paper->authors, format_name(line));
}

/* A list of authors, or for records without "Liu QA, Yu N, Cheng J." */
static void
add_authors(struct paper *paper, const json_t *element)
{
	const json_t *list =
	    json_object_get(json_object_get(element, "authorList"), "author");
	const char *line = json_string_value(json_object_get(element, "authorString"));
	g_auto(GStrv) names = NULL;
	const json_t *author;
	size_t i;

	json_array_foreach(list, i, author)
	{
		const json_t *name = json_object_get(author, "fullName");

		if (!name)
			name = json_object_get(author, "collectiveName");
		if (json_is_string(name))
			add_name(paper, json_string_value(name));
	}
	if (paper->authors->len || !line)
		return;
	names = g_strsplit(line, ",", -1);
	for (char **name = names; *name; name++) {
		if (!name[1] && g_str_has_suffix(*name, "."))
			(*name)[strlen(*name) - 1] = '\0';
		add_name(paper, *name);
	}
}

static void
add_journal_names(struct paper *paper, const json_t *journal)
{
	static const char *const keys[] = {
	    "title", "isoabbreviation", "medlineAbbreviation"};

	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		paper_add_journal_name(
		    paper, json_format_line(json_object_get(journal, keys[i]),
		               FEED_XML_HTML, BOUNDS_PAPER_TITLE_BYTES));
}

static void
fill_texts(struct paper *paper, const json_t *element)
{
	g_autoptr(GPtrArray) keywords = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) mesh = g_ptr_array_new_with_free_func(g_free);

	paper->title = get_title(element);
	paper->abstract = json_format_line(json_object_get(element, "abstractText"),
	    FEED_XML_HTML, BOUNDS_PAPER_ABSTRACT_BYTES);
	add_journal_names(
	    paper, json_object_get(json_object_get(element, "journalInfo"), "journal"));
	add_authors(paper, element);
	json_add_keywords(keywords,
	    json_object_get(json_object_get(element, "keywordList"), "keyword"), NULL);
	if (keywords->len)
		paper->keywords = g_steal_pointer(&keywords);
	json_add_keywords(mesh,
	    json_object_get(json_object_get(element, "meshHeadingList"), "meshHeading"),
	    "descriptorName");
	if (mesh->len)
		paper->mesh = g_steal_pointer(&mesh);
}

/* Whether a string is "MED", "41792208", "PMC12938590" or the like, which is valid in a
 * URL. */
static bool
is_identifier(const char *text)
{
	return text && g_regex_match_simple("^[A-Za-z0-9._-]{1,80}\\z", text, 0, 0);
}

/* @return NULL unless it is a string of this form */
static char *
get_number(const json_t *element, const char *key, const char *form)
{
	const char *text = json_string_value(json_object_get(element, key));

	return text && g_regex_match_simple(form, text, 0, 0) ? g_strdup(text) : NULL;
}

/* Format a name of another record of this service: its PMID, or as its GUID. */
static char *
format_record(const char *source, const char *id, const struct source_options *options)
{
	return strcmp(source, "MED") == 0
	           ? g_strconcat("pmid:", id, NULL)
	           : g_strdup_printf("%s:%s/%s", options->name, source, id);
}

/*
 * Read comments about other records of this service: "Preprint in" and "Preprint of"
 * name those of the same work, "Retraction of" those that a notice retracts.
 * "Retraction in" is a notice about this one.
 */
static void
read_comments(
    struct paper *paper, const json_t *element, const struct source_options *options)
{
	const json_t *list = json_object_get(
	    json_object_get(element, "commentCorrectionList"), "commentCorrection");
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		const char *type = json_string_value(json_object_get(one, "type"));
		const char *source = json_string_value(json_object_get(one, "source"));
		const char *id = json_string_value(json_object_get(one, "id"));

		if (g_strcmp0(type, "Retraction in") == 0)
			paper_mark_retracted(paper);
		if (!type || !is_identifier(source) || !is_identifier(id))
			continue;
		paper->is_notice |= strcmp(type, "Retraction of") == 0;
		if (g_str_has_prefix(type, "Preprint ") ||
		    strcmp(type, "Retraction of") == 0)
			paper_id_add_name(paper, format_record(source, id, options));
	}
}

static const char *
parse_element(const json_t *element, const struct source_options *options,
    const char *day, struct listing **listing)
{
	const char *source = json_string_value(json_object_get(element, "source"));
	const char *id = json_string_value(json_object_get(element, "id"));
	const json_t *title = json_object_get(element, "title");
	g_autofree char *own = NULL;
	pb_auto(paper) paper = paper_new();

	if (!is_identifier(source) || !is_identifier(id))
		return "invalid source or id";
	if (title && !json_is_string(title))
		return "title is not a string";
	fill_texts(paper, element);
	if (!paper->title)
		return NULL;
	own = g_strdup_printf("%s/%s", source, id);
	paper->url = g_strconcat("https://europepmc.org/article/", own, NULL);
	paper->guid = g_strconcat(options->name, ":", own, NULL);
	paper->published_at = json_get_day(element, "firstPublicationDate");
	paper->looked_up = PAPER_LOOKUP_EUROPEPMC;
	paper->pmid = get_number(element, "pmid", "^[1-9][0-9]{0,8}\\z");
	paper->pmcid = get_number(element, "pmcid", "^PMC[1-9][0-9]{0,9}\\z");
	read_comments(paper, element, options);
	json_pages_complete(paper, json_string_value(json_object_get(element, "doi")),
	    options->name, own);
	*listing = listing_new(g_steal_pointer(&paper), day);
	return NULL;
}

/* Set the error of a response that has a message instead of a list. */
static bool
check_message(const json_t *root, GError **error)
{
	g_autofree char *message =
	    json_get_text(root, "errMsg", BOUNDS_SOURCE_ERROR_BYTES);
	int64_t status = json_get_count(root, "errCode");

	if (!message || json_object_get(root, "resultList"))
		return true;
	source_set_status_error(
	    status >= 400 && status < 600 ? (int)status : 200, message, error);
	return false;
}

GPtrArray *
europepmc_parse(GBytes *json, const struct source_options *options, const char *day,
    struct json_page *page, GError **error)
{
	json_auto_t *root = json_read(json, error);
	const json_t *list =
	    json_object_get(json_object_get(root, "resultList"), "result");
	const char *next = json_string_value(json_object_get(root, "nextCursorMark"));
	GPtrArray *listings;

	if (!root || !check_message(root, error))
		return NULL;
	if (json_is_array(list) && json_array_size(list) == 0 && !page->cursor &&
	    json_get_count(root, "hitCount") > 0) {
		pb_fail(error, PB_ERROR_TEMPORARY, JSON_PAGES_NO_LIST);
		return NULL;
	}
	listings = json_read_listings(list, parse_element, options, day, error);
	/* The last page repeats the mark of the request. */
	if (listings && next && strcmp(next, page->cursor ? page->cursor : "*") != 0)
		page->next = g_strdup(next);
	return listings;
}

static const struct json_pages_service service = {
    .url = "https://www.ebi.ac.uk/europepmc/webservices/rest",
    .format_url = format_url,
    .parse = europepmc_parse,
};

struct source *
europepmc_new(const struct source_options *options)
{
	return json_pages_new(&service, options);
}

/* Append a clause that finds a paper. */
static void
append_identity(const struct paper *paper, GString *query)
{
	const char * or = query->len ? " OR " : "";

	if (paper->doi)
		g_string_append_printf(query, "%sDOI:\"%s\"", or, paper->doi);
	else if (paper->pmid)
		g_string_append_printf(
		    query, "%s(EXT_ID:%s AND SRC:MED)", or, paper->pmid);
	else if (paper->pmcid)
		g_string_append_printf(query, "%sPMCID:%s", or, paper->pmcid);
}

/* Send one request for a page. */
static GPtrArray *
search(struct http *http, const struct source_options *options, const char *query,
    int records, struct source_lookup *lookup, GError **error)
{
	g_autofree char *escaped = g_uri_escape_string(query, NULL, FALSE);
	g_autofree char *base = source_format_base(options->url, service.url);
	g_autofree char *url = g_strdup_printf(
	    "%s/search?query=%s&resultType=core&format=json&pageSize=%d", base, escaped,
	    records);

	return json_pages_find(&service, http, options, url, lookup, error);
}

GPtrArray *
europepmc_find(struct http *http, const struct source_options *options,
    const GPtrArray *papers, struct source_lookup *lookup, GError **error)
{
	g_autoptr(GString) query =
	    source_lookup_format(lookup, papers, append_identity);

	return search(http, options, query->str, PAGE_RECORDS, lookup, error);
}

GPtrArray *
europepmc_find_notices(struct http *http, const struct source_options *options,
    const GPtrArray *papers, struct source_lookup *lookup, GError **error)
{
	char day[DAY_BYTES];
	g_autofree char *query = NULL;

	(void)papers;
	day_format(lookup->since, day);
	query = g_strdup_printf(
	    "PUB_TYPE:\"Retraction of Publication\" AND FIRST_IDATE:[%s TO 3000-01-01]",
	    day);
	return search(http, options, query, PAGE_NOTICES, lookup, error);
}
