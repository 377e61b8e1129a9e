/*
 * narrower.h - narrower filters, for one that finds too many papers.
 *
 * A narrower filter has one clause more: code, a number of votes, a category, or the
 * word that is most typical of its papers.  Clauses with which about NARROWER_TARGET
 * papers a day are left are offered, the closest first, one of each kind; the papers of
 * each are counted.
 */
#ifndef PAPERBOY_SERVICE_EXPLAIN_NARROWER_H
#define PAPERBOY_SERVICE_EXPLAIN_NARROWER_H

#include <glib.h>
#include <stdbool.h>

#include "query/query.h"
#include "service/explain/forecast.h"
#include "store/core/store.h"

/* Papers a day. */
#define NARROWER_TARGET 10

/**
 * Add notes that there are many papers, and with which filters there are fewer.
 *
 * @param text     as typed
 * @param query    parsed from it
 * @param matches  of int64_t: seqs of those since forecast->oldest
 * @param notes    gets struct msg *
 */
bool narrower_add_notes(struct store *store, const struct forecast *forecast,
    const char *text, const struct query *query, const GArray *matches,
    GPtrArray *notes, GError **error);

#endif
