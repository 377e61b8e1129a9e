/*
 * bulk.h - a filter's answer for many papers at once.
 *
 * What query_evaluate() says of a filter and each of the papers, for readers of many
 * filters: the clauses are asked one by one, each once for each paper, however many
 * filters have it, and AND, OR and NOT are operations on sets of papers.  Only clauses
 * met of late are kept, so that memory does not grow with the number of filters.
 */
#ifndef PAPERBOY_QUERY_BULK_H
#define PAPERBOY_QUERY_BULK_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/auto.h"
#include "query/query.h"

#define BULK_PAPERS 128

/* A set of the papers, a bit each: the first one added is paper 0. */
struct bulk_mask {
	uint64_t bits[BULK_PAPERS / 64];
};

struct bulk_answer {
	struct bulk_mask yes;     /* true as told */
	struct bulk_mask waiting; /* not, but may become so */
};

struct bulk;

/** @param tokenizer  borrowed as long as the bulk lives */
struct bulk *bulk_new(const struct tokenizer *tokenizer);
void bulk_free(struct bulk *bulk);
PB_DEFINE_AUTO(bulk, bulk_free);

/** Add a paper, at most BULK_PAPERS. @param document  borrowed, settled already */
void bulk_add(struct bulk *bulk, const struct query_document *document);

/**
 * Ask a filter about some of the papers.
 *
 * @param canonical  as query_format() made it
 * @return false with PB_ERROR_INPUT when it cannot be read
 */
bool bulk_ask(struct bulk *bulk, const char *canonical, const struct bulk_mask *papers,
    struct bulk_answer *answer, GError **error);

static inline bool
bulk_mask_has(const struct bulk_mask *mask, unsigned paper)
{
	return mask->bits[paper / 64] >> paper % 64 & 1;
}

static inline void
bulk_mask_add(struct bulk_mask *mask, unsigned paper)
{
	mask->bits[paper / 64] |= UINT64_C(1) << paper % 64;
}

bool bulk_mask_is_empty(const struct bulk_mask *mask);
unsigned bulk_mask_count(const struct bulk_mask *mask);

/** The next paper of the set. @param paper  from where to look @return BULK_PAPERS at
 * the end */
unsigned bulk_mask_find(const struct bulk_mask *mask, unsigned paper);

#endif
