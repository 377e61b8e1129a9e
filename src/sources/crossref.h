/*
 * crossref.h - source: journal articles that were registered with Crossref on a day.
 *
 * https://www.crossref.org/documentation/retrieve-metadata/rest-api/.  The articles of
 * one journal (ISSN) or publisher (DOI prefix).  The day is that of registration
 * ("created"): publication dates may lie in the future, or have a month only.
 */
#pragma once

#include "sources/json_pages.h"

/**
 * Create the source.
 *
 * @param options  issn, prefix or both; contact, which gives access to the servers for
 *                 polite clients; url as of json_pages_new()
 */
struct source *crossref_new(const struct source_options *options);

/**
 * Parse a page.
 *
 * Left out are works without a title, corrections of other works (update-to), and works
 * that were issued before the year that precedes the day: they were registered late. A
 * retraction is a notice (struct paper).
 *
 * @return of struct listing *; NULL with PB_ERROR_INPUT or PB_ERROR_LIMIT
 */
GPtrArray *crossref_parse(GBytes *json, const struct source_options *options,
    const char *day, struct json_page *page, GError **error);

/** Look up papers by DOI. @param options  url and contact as above, name */
source_find_fn crossref_find;

/** Find the notices of retractions that were registered since a day. */
source_find_fn crossref_find_notices;
