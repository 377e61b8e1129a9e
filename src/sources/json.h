/*
 * json.h - read the JSON of services, with limits.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "sources/feed_xml.h"
#include "sources/source.h"

/**
 * Make jansson allocate with GLib, which aborts with a message when out of memory.  To
 * be called before threads start.
 */
void json_init(void);

/**
 * Parse a document.
 *
 * @return to be freed by json_decref(); NULL with PB_ERROR_INPUT (with line and column)
 *         or PB_ERROR_LIMIT beyond BOUNDS_JSON_VALUES
 */
json_t *json_read(GBytes *bytes, GError **error);

/**
 * Parse an element of a list of papers.
 *
 * @param options  of the source; NULL for a source without
 * @param day      requested
 * @param listing  set unless the element is malformed or left out
 * @return what is malformed, or NULL
 */
typedef const char *json_parse_fn(const json_t *element,
    const struct source_options *options, const char *day, struct listing **listing);

/**
 * Parse a list of papers.
 *
 * @param list  or NULL, which is an error, as is another type
 * @return of struct listing *, distinct papers; NULL with PB_ERROR_INPUT (with the
 * index of the element), or PB_ERROR_LIMIT beyond BOUNDS_PAPERS_BATCH
 */
GPtrArray *json_read_listings(const json_t *list, json_parse_fn *parse,
    const struct source_options *options, const char *day, GError **error);

/**
 * Format a string as one normalised line.
 *
 * @return owned by the caller; NULL if it is not a string, or blank
 */
char *json_format_line(const json_t *value, enum feed_xml_form form, size_t max_bytes);

/** The same for plain text in an object. */
char *json_get_text(const json_t *object, const char *key, size_t max_bytes);

/** @return NULL if it is not a URL as of text_normalize_url() */
char *json_get_url(const json_t *object, const char *key);

/** @return PAPER_UNKNOWN if it is not an integer of at least 0 */
int64_t json_get_number(const json_t *object, const char *key);

/** The same, or a string of at most nine digits: some services quote numbers. */
int64_t json_get_count(const json_t *object, const char *key);

/** @return the start of a day YYYY-MM-DD, or PAPER_UNKNOWN */
int64_t json_get_day(const json_t *object, const char *key);

/**
 * Add the texts of a list, up to the limits of keywords.
 *
 * @param list  or NULL
 * @param key   of the text, if elements are objects; NULL: they are strings
 */
void json_add_keywords(GPtrArray *keywords, const json_t *list, const char *key);
