/*
 * enrich.h - asks services for what the sources do not report about papers.
 *
 * One queue of all papers: each is asked for once at each service that knows one of its
 * identities (paper_find_lookups()), many in one request.  A service that fails is
 * paused as a source, and papers wait longer for it.
 */
#pragma once

#include "service/collect/collect.h"

/**
 * Look up papers at the services that are on.
 *
 * @param report  increased by the changed papers
 * @return false only if the store fails
 */
bool enrich_run(const struct collect *collect, int64_t now,
    struct collect_report *report, GError **error);
