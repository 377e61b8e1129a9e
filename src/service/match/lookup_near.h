/*
 * lookup_near.h - the places of the phrases of a NEAR in all papers; for
 * lookup_clauses.c.
 *
 * FTS5 scans the phrases one after the other, then each paper that has all of them is
 * decided. Papers come in ascending order, once for each variant of a phrase.
 */
#ifndef PAPERBOY_SERVICE_MATCH_LOOKUP_NEAR_H
#define PAPERBOY_SERVICE_MATCH_LOOKUP_NEAR_H

#include <glib.h>

#include "base/cleanup.h"
#include "query/eval/fts_query.h"

struct lookup_near;

/** @param clause  with near, borrowed. @param papers  their seqs are less */
struct lookup_near *lookup_near_new(const struct fts_clause *clause, guint papers);
void lookup_near_free(struct lookup_near *near);
PB_DEFINE_AUTO(lookup_near, lookup_near_free);

/**
 * Go on with the next variant: of the same phrase, or of the next one.
 *
 * @return its index in the phrases of the expression; -1: all were scanned
 */
int lookup_near_next(struct lookup_near *near);

/** Add the places of the current variant. @param row  it is phrase 0 of that */
void lookup_near_add(struct lookup_near *near, guint seq, void *row);

/** Called for each paper where the clause is true. */
typedef void (*lookup_near_found)(void *data, guint seq, const struct rank_hits *hits);

void lookup_near_foreach(struct lookup_near *near, lookup_near_found found, void *data);

#endif
