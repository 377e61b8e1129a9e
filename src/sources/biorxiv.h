/*
 * biorxiv.h - source: preprints that bioRxiv or medRxiv posted on a day.
 *
 * https://api.biorxiv.org/details/SERVER/DAY/DAY/CURSOR/json, in pages of 30 or 100
 * records.  Each version of a preprint is a record of its own.  The cursor is a
 * position, so that records which arrive meanwhile shift the others; at times `total`
 * is larger than the number of records, and the last page says "no posts found".
 */
#pragma once

#include "sources/json_pages.h"

/**
 * Create the source.
 *
 * @param options  kind "biorxiv" or "medrxiv"; categories as of
 *                 json_pages_format_category(): "cell-biology"; url as of
 *                 json_pages_new()
 */
struct source *biorxiv_new(const struct source_options *options);

/**
 * Parse a page.
 *
 * A new version is LISTING_REPLACE, but LISTING_NEW if version 1 is on the page, too.
 *
 * @return of struct listing *, the newest version of each paper, of all categories;
 * NULL with PB_ERROR_TEMPORARY if the service answered without a list, PB_ERROR_INPUT
 * or PB_ERROR_LIMIT
 */
GPtrArray *biorxiv_parse(GBytes *json, const struct source_options *options,
    const char *day, struct json_page *page, GError **error);
