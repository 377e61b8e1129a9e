/*
 * enrich.h - ask arXiv what it knows of papers that others told of.
 */
#ifndef PAPERBOY_SERVICE_COLLECT_ENRICH_H
#define PAPERBOY_SERVICE_COLLECT_ENRICH_H

#include "service/collect/collect.h"

/**
 * Ask about papers without categories: about those that came since the last time, and
 * about all others a few times a day, since what arXiv does not know yet it may know
 * tomorrow.  One that fails is left alone for a while, as a source is.
 *
 * @param collect  with arxiv
 * @param report   what changed is added
 * @return false only when the store fails
 */
bool enrich_run(const struct collect *collect, int64_t now,
    struct collect_report *report, GError **error);

#endif
