/*
 * lookup_clauses.h - collects the papers of a lookup clause by clause.
 *
 * The index is scanned for one phrase after the other (store/core/fts_scan.h), which
 * takes a fraction of the time in which FTS5 joins many of them. The results of all
 * papers are in memory meanwhile: 36 to 40 bytes for each, and the places of the
 * phrases of one NEAR.
 *
 * When each clause alone makes a paper a match, the sum of the shares of the clauses
 * that the index decides is a lower bound of its score, and with those that it does not
 * decide and the caps of the clauses to come an upper bound. The rarest words come
 * first; those that follow are not counted in papers that cannot be among the results
 * any more.
 */
#ifndef PAPERBOY_SERVICE_MATCH_LOOKUP_CLAUSES_H
#define PAPERBOY_SERVICE_MATCH_LOOKUP_CLAUSES_H

#include "service/match/lookup.h"

/** Whether that is possible for a query, and faster. */
bool lookup_is_by_clauses(const struct lookup *lookup);

/** Collect the candidates, as lookup_run(). */
bool lookup_clauses_run(struct lookup *lookup, struct store *store, GError **error);

#endif
