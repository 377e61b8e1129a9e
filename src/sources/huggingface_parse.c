/*
 * huggingface_parse.c - parser for the JSON of Hugging Face Daily Papers.
 */
#include "sources/huggingface_parse.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/text.h"
#include "model/paper.h"
#include "model/paper_id.h"

#define PAPER_PAGE "https://huggingface.co/papers/"

static inline void
json_clear(json_t **json)
{
	json_decref(*json);
}
#define auto_json __attribute__((cleanup(json_clear))) json_t *

/* g_malloc() aborts without memory; with malloc() jansson would report valid JSON as an
 * "invalid token". */
void
huggingface_parse_init(void)
{
	json_set_alloc_funcs(g_malloc, g_free);
}

/* Limit the number of values: in memory each takes up to fifty times its bytes. */
static bool
has_few_values(const char *text, size_t length)
{
	size_t values = 1;
	bool in_string = false;

	for (size_t i = 0; i < length; i++) {
		if (text[i] == '"')
			in_string = !in_string;
		else if (text[i] == '\\' && in_string)
			i++;
		else if (!in_string && strchr(",[{", text[i]) && text[i])
			values++;
	}
	return values <= BOUNDS_JSON_VALUES;
}

static json_t *
load(GBytes *bytes, GError **error)
{
	json_error_t where;
	size_t length;
	const char *text = g_bytes_get_data(bytes, &length);
	g_autofree char *reported = NULL;
	json_t *json;

	if (length > 0 && !has_few_values(text, length)) {
		pb_fail(error, PB_ERROR_LIMIT, "the list has more than %d JSON values",
		    BOUNDS_JSON_VALUES);
		return NULL;
	}
	json = json_loadb(
	    length > 0 ? text : "", length, JSON_DECODE_ANY | JSON_ALLOW_NUL, &where);
	if (json)
		return json;
	/* Line and column are enough; do not quote the input. */
	if (strstr(where.text, " near "))
		*strstr(where.text, " near ") = '\0';
	reported =
	    text_normalize(where.text, strlen(where.text), BOUNDS_SOURCE_ERROR_BYTES);
	pb_fail(error, PB_ERROR_INPUT, "invalid JSON: line %d, column %d: %s",
	    where.line, where.column, reported);
	return NULL;
}

/* Get a normalised string; NULL if it is not a string or blank. */
static char *
get_text(const json_t *object, const char *key, size_t max_bytes)
{
	const json_t *value = json_object_get(object, key);
	char *text;

	if (!json_is_string(value))
		return NULL;
	text = text_normalize(
	    json_string_value(value), json_string_length(value), max_bytes);
	if (!*text)
		g_clear_pointer(&text, g_free);
	return text;
}

static char *
get_url(const json_t *object, const char *key)
{
	return text_normalize_url(
	    json_string_value(json_object_get(object, key)), BOUNDS_PAPER_URL_BYTES);
}

static int64_t
get_number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return PAPER_UNKNOWN;
	return json_integer_value(value);
}

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
		name = get_text(author, "name", BOUNDS_PAPER_AUTHOR_BYTES);
		if (name)
			g_ptr_array_add(paper->authors, name);
	}
}

/* @return NULL for none: the service adds them later */
static GPtrArray *
get_keywords(const json_t *inner)
{
	g_autoptr(GPtrArray) keywords = g_ptr_array_new_with_free_func(g_free);
	const json_t *list = json_object_get(inner, "ai_keywords");
	const json_t *keyword;
	size_t i;

	json_array_foreach(list, i, keyword)
	{
		g_autofree char *text = NULL;

		if (!json_is_string(keyword) || keywords->len == BOUNDS_PAPER_KEYWORDS)
			continue;
		text = text_normalize(json_string_value(keyword),
		    json_string_length(keyword), BOUNDS_PAPER_KEYWORD_BYTES);
		if (*text)
			g_ptr_array_add(keywords, g_steal_pointer(&text));
	}
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
	g_autofree char *only = get_url(object, "mediaUrl");
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
	paper->title = get_text(inner, "title", BOUNDS_PAPER_TITLE_BYTES);
	if (!paper->title)
		paper->title = get_text(outer, "title", BOUNDS_PAPER_TITLE_BYTES);
	if (!paper->title)
		*what = "blank title";
	return !*what;
}

static struct paper *
parse_element(const json_t *outer, const char **what)
{
	const json_t *inner = json_object_get(outer, "paper");
	pb_auto(paper) paper = paper_new();

	if (!json_is_object(inner)) {
		*what = "no object named paper";
		return NULL;
	}
	if (!fill_identity(paper, outer, inner, what))
		return NULL;
	paper->abstract = get_text(inner, "summary", BOUNDS_PAPER_ABSTRACT_BYTES);
	if (!paper->abstract)
		paper->abstract =
		    get_text(outer, "summary", BOUNDS_PAPER_ABSTRACT_BYTES);
	if (!paper->abstract)
		paper->abstract = g_strdup("");
	paper->summary = get_text(inner, "ai_summary", BOUNDS_PAPER_SUMMARY_BYTES);
	add_authors(paper, json_object_get(inner, "authors"));
	paper->source_rank = PAPER_SOURCE_RANK_HF;
	paper->url = g_strconcat(PAPER_PAGE, paper->id, NULL);
	/* Since March 2025 the outer publishedAt is Eastern time with a wrong Z. */
	paper->published_at = get_time(inner, "publishedAt");
	paper->upvotes = get_number(inner, "upvotes");
	paper->comments = get_number(outer, "numComments");
	paper->stars = get_number(inner, "githubStars");
	paper->code_url = get_url(inner, "githubRepo");
	paper->project_url = get_url(inner, "projectPage");
	paper->video_url = get_video(inner);
	if (!paper->video_url)
		paper->video_url = get_video(outer);
	paper->keywords = get_keywords(inner);
	paper->organization = get_text(
	    json_object_get(inner, "organization"), "fullname", BOUNDS_PAPER_ORG_BYTES);
	if (!paper->organization)
		paper->organization = get_text(json_object_get(outer, "organization"),
		    "fullname", BOUNDS_PAPER_ORG_BYTES);
	return g_steal_pointer(&paper);
}

GPtrArray *
huggingface_parse_page(GBytes *bytes, const char *day, size_t *elements, GError **error)
{
	auto_json page = load(bytes, error);
	g_autoptr(GPtrArray) listings =
	    g_ptr_array_new_with_free_func((GDestroyNotify)listing_free);
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	const json_t *element;
	size_t i;

	if (!page)
		return NULL;
	if (!json_is_array(page)) {
		pb_fail(error, PB_ERROR_INPUT, "the list is not a JSON array");
		return NULL;
	}
	if (json_array_size(page) > BOUNDS_PAPERS_BATCH) {
		pb_fail(error, PB_ERROR_LIMIT, "the list has more than %d papers",
		    BOUNDS_PAPERS_BATCH);
		return NULL;
	}
	json_array_foreach(page, i, element)
	{
		const char *what = NULL;
		struct paper *paper = parse_element(element, &what);

		if (!paper) {
			pb_fail(error, PB_ERROR_INPUT,
			    "element %zu of the list is malformed: %s", i, what);
			return NULL;
		}
		/* Adding a key again would replace it by one that is freed. */
		if (g_hash_table_contains(seen, paper->id)) {
			paper_free(paper);
			continue;
		}
		g_hash_table_add(seen, paper->id);
		g_ptr_array_add(listings, listing_new(paper, day));
	}
	*elements = json_array_size(page);
	return g_steal_pointer(&listings);
}

char *
huggingface_parse_error(GBytes *bytes)
{
	auto_json json = load(bytes, NULL);

	return get_text(json, "error", BOUNDS_SOURCE_ERROR_BYTES);
}

bool
huggingface_is_not_yet(const char *text)
{
	g_autofree char *lower = g_ascii_strdown(text, -1);

	return (strstr(lower, "too big") || strstr(lower, "invalid")) &&
	       (strstr(lower, "date") ||
	           g_regex_match_simple("[0-9]{4}-[0-9]{2}-[0-9]{2}", lower, 0, 0));
}
