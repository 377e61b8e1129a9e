/*
 * narrower.h - narrower filters, for one that finds too many papers.
 *
 * Candidates are the filter in titles only, with code, with a number of votes, in a
 * category, or with the word that is most typical of its papers.  Each is counted among
 * the papers of the forecast, or among some of them if texts have to be read; those
 * that find about NARROWER_TARGET a day are offered, the closest first, one of each
 * kind.
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

/* A match of the filter. */
struct narrower_match {
	int64_t seq;
	int64_t upvotes; /* or PAPER_UNKNOWN */
};

/**
 * Add notes that there are many papers, and with which filters there are fewer.
 *
 * @param text     as typed
 * @param query    parsed from it
 * @param matches  of struct narrower_match: those since forecast->oldest
 * @param notes    gets struct msg *
 */
bool narrower_add_notes(struct store *store, const struct forecast *forecast,
    const char *text, const struct query *query, const GArray *matches,
    GPtrArray *notes, GError **error);

#endif
