/*
 * huggingface_parse.h - parser for the JSON of Hugging Face Daily Papers.
 *
 * Unknown keys are skipped, and optional ones may be missing or of another type.  Ids
 * and titles must be strings, the list an array, the JSON complete.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * Parse one page of a day's list.
 *
 * Texts are normalised and cut at the limits of bounds.h; hidden authors and those
 * beyond BOUNDS_PAPER_AUTHORS are left out; versions are removed from arXiv ids.
 *
 * @param day       the requested day, for the listings
 * @param elements  set on success: number of elements, repeated papers included
 * @return of struct listing *, distinct papers; NULL with PB_ERROR_INPUT (with line and
 *         column, or the index of the element), or PB_ERROR_LIMIT beyond
 *         BOUNDS_PAPERS_BATCH or BOUNDS_JSON_VALUES
 */
GPtrArray *huggingface_parse_page(
    GBytes *bytes, const char *day, size_t *elements, GError **error);

/**
 * Parse an error message, `{"error": "..."}`.
 *
 * @return one line of at most BOUNDS_SOURCE_ERROR_BYTES, owned by the caller; NULL if
 * it is something else
 */
char *huggingface_parse_error(GBytes *bytes);

/**
 * Whether an error message means that the day does not exist yet: it calls a date "too
 * big" or "invalid".
 */
bool huggingface_is_not_yet(const char *text);
