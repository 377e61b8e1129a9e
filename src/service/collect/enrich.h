/*
 * enrich.h - looks up papers of other sources at arXiv.
 */
#ifndef PAPERBOY_SERVICE_COLLECT_ENRICH_H
#define PAPERBOY_SERVICE_COLLECT_ENRICH_H

#include "service/collect/collect.h"

/**
 * Look up papers whose categories, comment, journal or DOI are unknown: the new ones,
 * and a few times a day all of them, since arXiv may get to know them later.  Errors
 * cause a pause, as for a source.
 *
 * @param collect  with arxiv
 * @param report   increased by the changed papers
 * @return false only if the store fails
 */
bool enrich_run(const struct collect *collect, int64_t now,
    struct collect_report *report, GError **error);

#endif
