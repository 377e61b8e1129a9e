/*
 * batch_eval.h - bit-parallel evaluation of filters for a batch of papers.
 *
 * Gives the same verdicts as query_evaluate().  Each clause is evaluated once for each
 * paper, however many filters contain it; AND, OR and NOT are operations on sets of
 * papers.  Clauses are cached up to a limit that does not grow with the number of
 * filters.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "query/query.h"

/* Maximum number of papers in a batch. */
#define BATCH_EVAL_PAPERS 128

/* A set of papers, by their number in the batch. */
struct bitset {
	uint64_t bits[BATCH_EVAL_PAPERS / 64];
};

struct batch_result {
	struct bitset yes;     /* true as reported */
	struct bitset waiting; /* not true, but may become so */
};

struct batch_eval;

/** @param tokenizer  borrowed for the life of the batch */
struct batch_eval *batch_eval_new(const struct tokenizer *tokenizer);
void batch_eval_free(struct batch_eval *batch);
PB_DEFINE_AUTO(batch_eval, batch_eval_free);

/** Add a paper, numbered from 0. @param document  borrowed, finalized before */
void batch_eval_add(struct batch_eval *batch, const struct query_document *document);

/**
 * Evaluate a filter for some of the papers.
 *
 * @param canonical  text from query_format()
 * @return false with PB_ERROR_INPUT when it cannot be parsed
 */
bool batch_eval_run(struct batch_eval *batch, const char *canonical,
    const struct bitset *papers, struct batch_result *result, GError **error);

static inline void
bitset_add(struct bitset *set, unsigned paper)
{
	set->bits[paper / 64] |= UINT64_C(1) << paper % 64;
}

bool bitset_is_empty(const struct bitset *set);
unsigned bitset_count(const struct bitset *set);

/** Find the first paper from `paper` on. @return BATCH_EVAL_PAPERS at the end */
unsigned bitset_find(const struct bitset *set, unsigned paper);
