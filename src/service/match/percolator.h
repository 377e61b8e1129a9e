/*
 * percolator.h - looks up the filters that may match a batch of papers.
 *
 * Terms of the papers are looked up in the filter index. Candidates are filters that
 * require one of these terms, each with the papers that have it: a superset of the
 * matches, which the evaluator decides. Memory depends on the papers and on
 * PERCOLATOR_RANGE, not on the number of filters.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "query/eval/batch_eval.h"
#include "query/query.h"
#include "store/core/store.h"

/* Maximum number of filter ids in one lookup, each of which needs 16 bytes. */
#define PERCOLATOR_RANGE 1048576

struct percolator;

struct percolator *percolator_new(void);
void percolator_free(struct percolator *percolator);
PB_DEFINE_AUTO(percolator, percolator_free);

/**
 * Add a paper, numbered from 0: at most BATCH_EVAL_PAPERS, all before the first lookup.
 */
void
percolator_add(struct percolator *percolator, const struct query_document *document);

/**
 * Look up filters with ids above `after`, up to PERCOLATOR_RANGE of them, and drop the
 * previous lookup.  Opens its own read transaction.
 *
 * @param last  highest id to look up
 */
bool percolator_look_up(struct percolator *percolator, struct store *store,
    int64_t after, int64_t last, GError **error);

/**
 * Find the next candidate of the lookup.
 *
 * @param id  the previous one, or `after`; set to the candidate, or to the end of the
 *            lookup when there is none
 */
bool percolator_find_next(const struct percolator *percolator, int64_t *id);

/** Get the papers for which to evaluate a candidate. */
const struct bitset *
percolator_get_papers(const struct percolator *percolator, int64_t id);
