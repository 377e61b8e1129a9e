/*
 * huggingface.c - source: Hugging Face Daily Papers.
 */
#include "sources/huggingface.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/day.h"
#include "base/error.h"
#include "base/text.h"
#include "model/paper.h"
#include "model/paper_id.h"
#include "sources/json.h"

/* Maximum page size of the service; its default of 50 truncates long days. */
#define PAGE_LIMIT 100

/* For two years every working day had papers by 07:50 UTC; plus two hours. */
#define EXPECTED_BY (10 * 60)

/* The service has no week 53. */
#define LAST_WEEK 52

#define API_URL    "https://huggingface.co"
#define PAPER_PAGE API_URL "/papers/"

/* YYYY-MM-DDTHH:MM:SS.mmmZ; PAPER_UNKNOWN for anything else. */
static int64_t
get_time(const json_t *object, const char *key)
{
	static const char shape[] = "0000-00-00T00:00:00.000Z";
	const char *text = json_string_value(json_object_get(object, key));
	g_autoptr(GDateTime) time = NULL;
	int64_t at;

	if (!text || strlen(text) != strlen(shape))
		return PAPER_UNKNOWN;
	for (size_t i = 0; shape[i]; i++)
		if (shape[i] == '0' ? !g_ascii_isdigit(text[i]) : text[i] != shape[i])
			return PAPER_UNKNOWN;
	time = g_date_time_new_utc(atoi(text), atoi(text + 5), atoi(text + 8),
	    atoi(text + 11), atoi(text + 14), atoi(text + 17));
	at = time ? g_date_time_to_unix(time) : PAPER_UNKNOWN;
	return at >= 0 ? at : PAPER_UNKNOWN;
}

static bool
is_id(const char *id, size_t length)
{
	if (length == 0 || length > BOUNDS_PAPER_ID_BYTES || !g_ascii_isalnum(id[0]))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!id[i] || (!g_ascii_isalnum(id[i]) && !strchr(".-_/", id[i])))
			return false;
	return !strstr(id, "..") && !strstr(id, "//") && id[length - 1] != '/';
}

static void
add_authors(struct paper *paper, const json_t *authors)
{
	const json_t *author;
	size_t i;

	json_array_foreach(authors, i, author)
	{
		char *name;

		if (paper->authors->len == BOUNDS_PAPER_AUTHORS)
			return;
		if (json_is_true(json_object_get(author, "hidden")))
			continue;
		name = json_get_text(author, "name", BOUNDS_PAPER_AUTHOR_BYTES);
		if (name)
			g_ptr_array_add(paper->authors, name);
	}
}

/* @return NULL for none: the service adds them later */
static GPtrArray *
get_keywords(const json_t *inner)
{
	g_autoptr(GPtrArray) keywords = g_ptr_array_new_with_free_func(g_free);

	json_add_keywords(keywords, json_object_get(inner, "ai_keywords"), NULL);
	return keywords->len ? g_steal_pointer(&keywords) : NULL;
}

/* By file name; the list also contains images. */
static bool
is_video(const char *url)
{
	static const char *const ends[] = {".mp4", ".webm", ".mov", ".qt", ".m4v"};
	size_t path = strcspn(url, "?#");

	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
		size_t len = strlen(ends[i]);

		if (path > len &&
		    g_ascii_strncasecmp(url + path - len, ends[i], len) == 0)
			return true;
	}
	return false;
}

/* The first video of mediaUrls; the oldest lists have mediaUrl. */
static char *
get_video(const json_t *object)
{
	const json_t *list = json_object_get(object, "mediaUrls");
	const json_t *item;
	g_autofree char *only = json_get_url(object, "mediaUrl");
	size_t i;

	json_array_foreach(list, i, item)
	{
		g_autofree char *url =
		    text_normalize_url(json_string_value(item), BOUNDS_PAPER_URL_BYTES);

		if (url && is_video(url))
			return g_steal_pointer(&url);
	}
	return only && is_video(only) ? g_steal_pointer(&only) : NULL;
}

/* Mandatory texts. @param what  set to the error */
static bool
fill_identity(
    struct paper *paper, const json_t *outer, const json_t *inner, const char **what)
{
	const json_t *id = json_object_get(inner, "id");
	const json_t *title = json_object_get(inner, "title");

	*what = NULL;
	if (!json_is_string(id))
		*what = "paper.id is not a string";
	else if (!is_id(json_string_value(id), json_string_length(id)))
		*what = "invalid paper.id";
	else if (title && !json_is_null(title) && !json_is_string(title))
		*what = "paper.title is not a string";
	if (*what)
		return false;
	/* Without the version: `2611.10010v2`. */
	if (!paper_id_parse_arxiv(json_string_value(id), &paper->id, NULL))
		paper->id = g_strdup(json_string_value(id));
	paper->title = json_get_text(inner, "title", BOUNDS_PAPER_TITLE_BYTES);
	if (!paper->title)
		paper->title = json_get_text(outer, "title", BOUNDS_PAPER_TITLE_BYTES);
	if (!paper->title)
		*what = "blank title";
	return !*what;
}

/* @param outer  of a list; or NULL */
static const char *
parse_paper(
    const json_t *outer, const json_t *inner, const char *day, struct listing **listing)
{
	pb_auto(paper) paper = paper_new();
	const char *what;

	if (!json_is_object(inner))
		return "no object named paper";
	if (!fill_identity(paper, outer, inner, &what))
		return what;
	paper->abstract = json_get_text(inner, "summary", BOUNDS_PAPER_ABSTRACT_BYTES);
	if (!paper->abstract)
		paper->abstract =
		    json_get_text(outer, "summary", BOUNDS_PAPER_ABSTRACT_BYTES);
	if (!paper->abstract)
		paper->abstract = g_strdup("");
	paper->summary = json_get_text(inner, "ai_summary", BOUNDS_PAPER_SUMMARY_BYTES);
	add_authors(paper, json_object_get(inner, "authors"));
	paper->source_rank = PAPER_SOURCE_RANK_HF;
	paper->url = g_strconcat(PAPER_PAGE, paper->id, NULL);
	/* Since March 2025 the outer publishedAt is Eastern time with a wrong Z. */
	paper->published_at = get_time(inner, "publishedAt");
	paper->upvotes = json_get_number(inner, "upvotes");
	paper->comments = json_get_number(outer, "numComments");
	paper->stars = json_get_number(inner, "githubStars");
	paper->code_url = json_get_url(inner, "githubRepo");
	paper->project_url = json_get_url(inner, "projectPage");
	paper->video_url = get_video(inner);
	if (!paper->video_url)
		paper->video_url = get_video(outer);
	paper->keywords = get_keywords(inner);
	paper->organization = json_get_text(
	    json_object_get(inner, "organization"), "fullname", BOUNDS_PAPER_ORG_BYTES);
	if (!paper->organization)
		paper->organization =
		    json_get_text(json_object_get(outer, "organization"), "fullname",
		        BOUNDS_PAPER_ORG_BYTES);
	*listing = listing_new(g_steal_pointer(&paper), day);
	return NULL;
}

static const char *
parse_element(const json_t *outer, const struct source_options *options,
    const char *day, struct listing **listing)
{
	(void)options;
	return parse_paper(outer, json_object_get(outer, "paper"), day, listing);
}

static bool
is_list(const struct source_options *options, const char *list)
{
	return options && g_strcmp0(options->list, list) == 0;
}

GPtrArray *
huggingface_parse(GBytes *json, const struct source_options *options, const char *day,
    struct json_page *page, GError **error)
{
	json_auto_t *list = json_read(json, error);
	GPtrArray *listings =
	    list ? json_read_listings(list, parse_element, options, day, error) : NULL;
	int64_t number = page->cursor ? g_ascii_strtoll(page->cursor, NULL, 10) : 0;

	/* The trending papers have no end. */
	if (listings && json_array_size(list) == PAGE_LIMIT &&
	    !is_list(options, "trending"))
		page->next = g_strdup_printf("%d", (int)number + 1);
	return listings;
}

/* Whether an error message means that the day does not exist yet: it calls a date "too
 * big" or "invalid". */
static bool
is_not_yet(const char *text)
{
	g_autofree char *lower = g_ascii_strdown(text, -1);

	return (strstr(lower, "too big") || strstr(lower, "invalid")) &&
	       (strstr(lower, "date") ||
	           g_regex_match_simple("[0-9]{4}-[0-9]{2}-[0-9]{2}", lower, 0, 0));
}

char *
huggingface_parse_error(GBytes *bytes, bool *means_not_yet)
{
	json_auto_t *json = json_read(bytes, NULL);
	char *text = json_get_text(json, "error", BOUNDS_SOURCE_ERROR_BYTES);

	*means_not_yet = text && is_not_yet(text);
	return text;
}

static char *
format_url(const struct source_options *options, const char *day, const char *cursor)
{
	GString *url = g_string_new(options->url);
	g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(day_start(day));

	g_string_append(url, "/api/daily_papers?");
	if (is_list(options, "trending"))
		g_string_append(url, "sort=trending");
	else if (is_list(options, "weeks"))
		g_string_append_printf(url, "week=%04d-W%02d",
		    g_date_time_get_week_numbering_year(time),
		    MIN(g_date_time_get_week_of_year(time), LAST_WEEK));
	else
		g_string_append_printf(url, "date=%s", day);
	g_string_append_printf(
	    url, "&limit=%d&p=%s", PAGE_LIMIT, cursor ? cursor : "0");
	return g_string_free(url, FALSE);
}

struct source *
huggingface_new(const struct source_options *options)
{
	static const struct json_pages_service service = {
	    .url = API_URL,
	    .file = "daily_papers",
	    .format_url = format_url,
	    .parse = huggingface_parse,
	    .parse_error = huggingface_parse_error,
	};
	struct source *source = json_pages_new(&service, options);

	if (strcmp(options->name, "hf") == 0)
		source->label = "Hugging Face";
	source->expected_by = EXPECTED_BY;
	/* These lists have no day: the papers that are new in them are those of today.
	 */
	if (is_list(options, "trending") || is_list(options, "weeks")) {
		source->kind = SOURCE_ROLLING;
		source->expected_by = -1;
		source->poll = source->fetch_day;
		source->fetch_day = NULL;
	}
	return source;
}

GPtrArray *
huggingface_find(struct http *http, const struct source_options *options,
    const GPtrArray *papers, struct source_lookup *lookup, GError **error)
{
	const struct paper *paper = papers->pdata[lookup->at];
	g_autofree char *base = source_format_base(options->url, API_URL);
	g_autofree char *url = g_strdup_printf("%s/api/papers/%s", base, paper->id);
	g_autoptr(GPtrArray) found =
	    g_ptr_array_new_with_free_func((GDestroyNotify)listing_free);
	pb_local(http_response) response = {0};
	json_auto_t *json = NULL;
	struct listing *listing = NULL;
	const char *what;

	lookup->count = 1;
	lookup->is_complete = true;
	lookup->retry_after_s = HTTP_RETRY_AFTER_UNKNOWN;
	if (!http_pause(http, options->request_interval_ms, error) ||
	    !http_get(http, url, NULL, &response, error))
		return NULL;
	lookup->retry_after_s = response.retry_after_s;
	/* The service does not know it. */
	if (response.status == 404)
		return g_steal_pointer(&found);
	if (response.status != 200) {
		source_set_status_error(response.status, NULL, error);
		return NULL;
	}
	json = json_read(response.body, error);
	what = json ? parse_paper(NULL, json, "", &listing) : NULL;
	if (!json || what) {
		if (what)
			pb_fail(error, PB_ERROR_INPUT, "paper %s: %s", paper->id, what);
		return NULL;
	}
	g_ptr_array_add(found, listing);
	return g_steal_pointer(&found);
}
