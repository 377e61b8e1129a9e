/*
 * percolator.h - which filters a batch of papers is worth showing to.
 *
 * The papers' terms are looked up among those that filters are filed under: a filter
 * that comes of it, and the papers that brought it, are candidates.  It finds all
 * that the filters find, and others: the evaluator decides.  Memory goes with the
 * papers and with PERCOLATOR_RANGE, not with the filters.
 */
#ifndef PAPERBOY_SERVICE_MATCH_PERCOLATOR_H
#define PAPERBOY_SERVICE_MATCH_PERCOLATOR_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "query/eval/batch_eval.h"
#include "query/query.h"
#include "store/core/store.h"

/* Ids of filters that are looked up at once: 16 MB. */
#define PERCOLATOR_RANGE 1048576

struct percolator;

struct percolator *percolator_new(void);
void percolator_free(struct percolator *percolator);
PB_DEFINE_AUTO(percolator, percolator_free);

/** Add a paper: the first one is paper 0.  At most BATCH_EVAL_PAPERS, none after the
 * first look. */
void
percolator_add(struct percolator *percolator, const struct query_document *document);

/**
 * Look up the filters with ids above one, up to PERCOLATOR_RANGE of them; what was
 * looked up before is forgotten.  A transaction of its own, which only reads.
 *
 * @param last  the highest id to be looked for
 */
bool percolator_look_up(struct percolator *percolator, struct store *store,
    int64_t after, int64_t last, GError **error);

/**
 * Find the next candidate among those looked up.
 *
 * @param id  the one before, or `after`; set to the candidate, or to the end of what
 *            was looked up when there is none
 */
bool percolator_find_next(const struct percolator *percolator, int64_t *id);

/** Get the papers that brought a candidate. */
const struct bitset *
percolator_get_papers(const struct percolator *percolator, int64_t id);

#endif
