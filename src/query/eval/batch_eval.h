/*
 * batch_eval.h - a filter's answer for many papers at once.
 *
 * What query_evaluate() says of a filter and each of the papers, for readers of many
 * filters: the clauses are asked one by one, each once for each paper, however many
 * filters have it, and AND, OR and NOT are operations on sets of papers.  Only clauses
 * met of late are kept, so that memory does not grow with the number of filters.
 */
#ifndef PAPERBOY_QUERY_EVAL_BATCH_EVAL_H
#define PAPERBOY_QUERY_EVAL_BATCH_EVAL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "query/query.h"

#define BATCH_EVAL_PAPERS 128

/* A set of the papers, a bit each: the first one added is paper 0. */
struct bitset {
	uint64_t bits[BATCH_EVAL_PAPERS / 64];
};

struct batch_result {
	struct bitset yes;     /* true as told */
	struct bitset waiting; /* not, but may become so */
};

struct batch_eval;

/** @param tokenizer  borrowed as long as the bulk lives */
struct batch_eval *batch_eval_new(const struct tokenizer *tokenizer);
void batch_eval_free(struct batch_eval *bulk);
PB_DEFINE_AUTO(batch_eval, batch_eval_free);

/** Add a paper, at most BATCH_EVAL_PAPERS. @param document  borrowed, settled already
 */
void batch_eval_add(struct batch_eval *bulk, const struct query_document *document);

/**
 * Ask a filter about some of the papers.
 *
 * @param canonical  as query_format() made it
 * @return false with PB_ERROR_INPUT when it cannot be read
 */
bool batch_eval_run(struct batch_eval *bulk, const char *canonical,
    const struct bitset *papers, struct batch_result *answer, GError **error);

static inline bool
bulk_mask_has(const struct bitset *mask, unsigned paper)
{
	return mask->bits[paper / 64] >> paper % 64 & 1;
}

static inline void
bulk_mask_add(struct bitset *mask, unsigned paper)
{
	mask->bits[paper / 64] |= UINT64_C(1) << paper % 64;
}

bool bitset_is_empty(const struct bitset *mask);
unsigned bitset_count(const struct bitset *mask);

/** The next paper of the set. @param paper  from where to look @return
 * BATCH_EVAL_PAPERS at the end */
unsigned bitset_find(const struct bitset *mask, unsigned paper);

#endif
