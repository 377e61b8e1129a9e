/*
 * rank.h - which of the papers that a filter finds come first.
 *
 * Pure arithmetic on a parsed filter and a paper:
 *
 *   relevance = sum over the clauses that hit, none under a NOT, of
 *               boost * idf * 2.2 f / (f + 1.2)
 *   idf       = ln(1 + (N - n + 0.5) / (n + 0.5))
 *               N papers in the archive, n of them with the clause's rarest word
 *   f         = 3 t / (0.25 + 0.75 |title| / mean title)
 *               + a / (0.25 + 0.75 |abstract| / mean abstract)
 *               t, a: how often the clause is in the title and in the abstract
 *   score     = relevance * (1 + 0.1 log2(1 + votes)) * (0.5 + 0.5 * 2^(-age / 180))
 *               age in days since the paper was last listed
 *
 * This is BM25 with fields (S. Robertson and others, 2004; k1 = 1.2, b = 0.75).  A
 * clause on no word (author, category, number, date) that is true gives its boost.
 * Boosts multiply along the tree: ("a" OR b^2)^3 weighs b six times.
 */
#ifndef PAPERBOY_QUERY_EVAL_RANK_H
#define PAPERBOY_QUERY_EVAL_RANK_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "query/query.h"

/* What the papers are found in. */
struct rank_corpus {
	int64_t papers;
	double title_words; /* on average */
	double abstract_words;
	/* In how many papers a folded word is, or any word with that beginning. */
	bool (*count)(void *data, const char *word, bool is_prefix, int64_t *papers,
	    GError **error);
	void *data;
};

struct rank;

/** Look up a query's words once. @param query  borrowed as long as the rank lives */
struct rank *
rank_new(const struct query *query, const struct rank_corpus *corpus, GError **error);
void rank_free(struct rank *rank);
PB_DEFINE_AUTO(rank, rank_free);

/** How well the words of the query fit: 0 when none hits. */
double
rank_get_relevance(const struct rank *rank, const struct query_document *document);

/**
 * Blend it with votes and age.
 *
 * @param upvotes   or PAPER_UNKNOWN, which counts as none
 * @param age_days  0 and more
 */
double rank_blend(double relevance, int64_t upvotes, int64_t age_days);

#endif
