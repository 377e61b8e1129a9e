/*
 * query_stats.h - suggestions for a filter from statistics of the archive: the closest
 * word for an unknown one, acronyms and their long forms.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "service/match/search.h"

/**
 * Add suggestions for the words of a query:
 *   difusion: in no paper; diffusion is in 214
 *   12 more papers with lora OR "low-rank adaptation", the latest: ...
 * The latter replaces a clause of the query; none is added if it finds no more papers.
 *
 * @param scope  in which further papers are counted; NULL: no acronyms
 * @param found  int64_t: seqs of the papers that the query finds there, newest first
 * @param notes  of struct msg *, added to
 */
bool query_stats_add(struct store *store, const struct query *query,
    const struct search_scope *scope, const GArray *found, GPtrArray *notes,
    GError **error);
