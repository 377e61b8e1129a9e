/*
 * huggingface.h - source: Hugging Face Daily Papers.
 *
 * https://huggingface.co/api/daily_papers, described in the hub's OpenAPI without
 * guarantee of stability.  The list of a day is sorted by votes, which may change
 * between pages: repeated papers are counted once, missed ones come with the next poll.
 */
#pragma once

#include "sources/json_pages.h"

/**
 * Create the source.
 *
 * @param options  url as of json_pages_new(), where the file of a day is
 *                 daily_papers-YYYY-MM-DD.json
 */
struct source *huggingface_new(const struct source_options *options);

/**
 * Parse a page.
 *
 * Unknown keys are skipped, and optional ones may be missing or of another type.  Ids
 * and titles must be strings.  Texts are normalised and cut at the limits of bounds.h;
 * hidden authors and those beyond BOUNDS_PAPER_AUTHORS are left out; versions are
 * removed from arXiv ids.
 *
 * @param options  not used; may be NULL
 * @return of struct listing *; NULL with PB_ERROR_INPUT or PB_ERROR_LIMIT
 */
GPtrArray *huggingface_parse(GBytes *json, const struct source_options *options,
    const char *day, struct json_page *page, GError **error);

/**
 * Parse an error message, `{"error": "..."}`.
 *
 * @param means_not_yet  set: it says that the day does not exist yet
 * @return one line of at most BOUNDS_SOURCE_ERROR_BYTES, owned by the caller; NULL if
 * it is something else
 */
char *huggingface_parse_error(GBytes *json, bool *means_not_yet);

/** Look up a paper by its arXiv id. @param options  with url and request_interval_ms */
source_find_fn huggingface_find;
