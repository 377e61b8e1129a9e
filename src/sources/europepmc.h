/*
 * europepmc.h - source: papers that Europe PMC indexed on a day and that match a query.
 *
 * https://europepmc.org/RestfulWebService.  The day is that of FIRST_IDATE, on which a
 * record appeared: papers are often indexed weeks after their publication, so that the
 * publication date would miss them.  The service reports some errors with status 200.
 */
#pragma once

#include "sources/json_pages.h"

/**
 * Create the source.
 *
 * @param options  query in the syntax of https://europepmc.org/searchsyntax; url as of
 *                 json_pages_new()
 */
struct source *europepmc_new(const struct source_options *options);

/**
 * Parse a page.  Records without a title are left out.
 *
 * @return of struct listing *; NULL with PB_ERROR_INPUT or PB_ERROR_LIMIT, or the error
 *         that the service reports, as of source_set_status_error()
 */
GPtrArray *europepmc_parse(GBytes *json, const struct source_options *options,
    const char *day, struct json_page *page, GError **error);

/** Look up papers by DOI, PMID or PMCID. @param options  url as above, name */
source_find_fn europepmc_find;

/** Find the notices of retractions that were indexed since a day. */
source_find_fn europepmc_find_notices;
