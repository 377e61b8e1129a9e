/*
 * huggingface_parse.h - the JSON of Hugging Face Daily Papers.
 *
 * Lenient where the service changes: unknown keys are skipped, an optional key that is
 * missing or of another type is unknown.  Strict where guessing would lose or
 * mix up papers: ids and titles are strings, the list is a list, the JSON is whole.
 */
#ifndef PAPERBOY_SOURCES_HUGGINGFACE_PARSE_H
#define PAPERBOY_SOURCES_HUGGINGFACE_PARSE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * Make jansson allocate with GLib: out of memory ends the process with a message that
 * says so.  Call it before threads start.
 */
void huggingface_parse_init(void);

/**
 * Read one page of a day's list.
 *
 * Text is normalised and cut as bounds.h says; hidden authors are left out, and those
 * beyond BOUNDS_PAPER_AUTHORS; a version is stripped from an arXiv id.
 *
 * @param day       written into the listings: the bucket that was asked for
 * @param elements  set on success: elements of the page, repeated papers too
 * @return listings (of struct listing *, owned), without a paper twice; NULL with
 *         PB_ERROR_INPUT, the message says line and column, or the element from 0;
 *         PB_ERROR_LIMIT past BOUNDS_PAPERS_BATCH or BOUNDS_JSON_VALUES
 */
GPtrArray *
huggingface_parse_page(GBytes *json, const char *day, size_t *elements, GError **error);

/**
 * Read the service's own words from `{"error": "..."}`.
 *
 * @return one line, cut at BOUNDS_SOURCE_ERROR_BYTES, newly allocated; NULL when it is
 *         something else
 */
char *huggingface_parse_error(GBytes *json);

/**
 * Whether an error text says that a day does not exist yet: it speaks of a date that is
 * "too big" or "invalid", and not of another parameter.
 */
bool huggingface_is_not_yet(const char *text);

#endif
