/*
 * query_stats.h - what helps to mend a filter: the nearest word for one that no paper
 * has, and what its short forms stand for.  Told, never applied.
 */
#ifndef PAPERBOY_SERVICE_MATCH_QUERY_STATS_H
#define PAPERBOY_SERVICE_MATCH_QUERY_STATS_H

#include <glib.h>
#include <stdbool.h>

#include "service/match/search.h"

/**
 * Add what there is to say about a query's words:
 *   difusion: no paper has it; diffusion is in 214
 *   12 more papers with "low-rank adaptation": add it with OR?
 *
 * @param scope  in which the papers with a long form are counted
 * @param notes  of struct msg *, added to
 */
bool query_stats_add(struct store *store, const struct query *query,
    const struct search_scope *scope, GPtrArray *notes, GError **error);

#endif
