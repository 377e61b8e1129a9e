/*
 * json.c - read the JSON of services, with limits.
 */
#include "sources/json.h"

#include <stdbool.h>
#include <string.h>

#include "base/bounds.h"
#include "base/day.h"
#include "base/error.h"
#include "base/text.h"

/* g_malloc() aborts without memory; with malloc() jansson would report valid JSON as an
 * "invalid token". */
void
json_init(void)
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

json_t *
json_read(GBytes *bytes, GError **error)
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

GPtrArray *
json_read_listings(const json_t *list, json_parse_fn *parse,
    const struct source_options *options, const char *day, GError **error)
{
	g_autoptr(GPtrArray) listings =
	    g_ptr_array_new_with_free_func((GDestroyNotify)listing_free);

	if (!json_is_array(list)) {
		pb_fail(error, PB_ERROR_INPUT, "the list is not a JSON array");
		return NULL;
	}
	if (json_array_size(list) > BOUNDS_PAPERS_BATCH) {
		pb_fail(error, PB_ERROR_LIMIT, "the list has more than %d papers",
		    BOUNDS_PAPERS_BATCH);
		return NULL;
	}
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct listing *listing = NULL;
		const char *what =
		    parse(json_array_get(list, i), options, day, &listing);

		if (what) {
			pb_fail(error, PB_ERROR_INPUT,
			    "element %zu of the list is malformed: %s", i, what);
			return NULL;
		}
		if (listing)
			g_ptr_array_add(listings, listing);
	}
	return g_steal_pointer(&listings);
}

char *
json_format_line(const json_t *value, enum feed_xml_form form, size_t max_bytes)
{
	const char *text = json_string_value(value);
	char *line;

	if (!text)
		return NULL;
	if (form != FEED_XML_PLAIN)
		return feed_xml_format_line(text, form, max_bytes);
	/* The string may contain NUL. */
	line = text_normalize(text, json_string_length(value), max_bytes);
	if (!*line)
		g_clear_pointer(&line, g_free);
	return line;
}

char *
json_get_text(const json_t *object, const char *key, size_t max_bytes)
{
	return json_format_line(
	    json_object_get(object, key), FEED_XML_PLAIN, max_bytes);
}

char *
json_get_url(const json_t *object, const char *key)
{
	return text_normalize_url(
	    json_string_value(json_object_get(object, key)), BOUNDS_PAPER_URL_BYTES);
}

int64_t
json_get_number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return PAPER_UNKNOWN;
	return json_integer_value(value);
}

int64_t
json_get_count(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	size_t digits = text ? strspn(text, "0123456789") : 0;

	if (!text)
		return json_get_number(object, key);
	if (digits == 0 || digits > 9 || text[digits])
		return PAPER_UNKNOWN;
	return g_ascii_strtoll(text, NULL, 10);
}

int64_t
json_get_day(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	int64_t at = text && day_is_valid(text) ? day_start(text) : PAPER_UNKNOWN;

	return at >= 0 ? at : PAPER_UNKNOWN;
}

void
json_add_keywords(GPtrArray *keywords, const json_t *list, const char *key)
{
	const json_t *element;
	size_t i;

	json_array_foreach(list, i, element)
	{
		char *text;

		if (keywords->len == BOUNDS_PAPER_KEYWORDS)
			return;
		text = json_format_line(key ? json_object_get(element, key) : element,
		    FEED_XML_PLAIN, BOUNDS_PAPER_KEYWORD_BYTES);
		if (text)
			g_ptr_array_add(keywords, text);
	}
}
