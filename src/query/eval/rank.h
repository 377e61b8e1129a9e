/*
 * rank.h - ranks the papers that match a filter.
 *
 * Pure arithmetic on a parsed filter and a paper:
 *
 *   relevance = sum over the clauses that match, none under a NOT, of
 *               boost * idf * 2.2 f / (f + 1.2)
 *   idf       = ln(1 + (N - n + 0.5) / (n + 0.5))
 *               N papers in the archive, n of them with the clause's rarest word
 *   f         = 3 t / (0.25 + 0.75 |title| / mean title)
 *               + a / (0.25 + 0.75 |abstract| / mean abstract)
 *               t, a: occurrences of the clause in title and abstract
 *   score     = relevance * (1 + 0.1 log2(1 + votes)) * (0.5 + 0.5 * 2^(-age / 180))
 *               age in days since the paper was last listed
 *
 * This is BM25F (S. Robertson and others, 2004; k1 = 1.2, b = 0.75). A true clause
 * without words (author, category, number, date) contributes its boost. Boosts multiply
 * along the tree: b has boost 6 in ("a" OR b^2)^3. Clauses of an AND that is false,
 * below an OR, contribute nothing.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "query/query.h"

/* Statistics of the archive. */
struct rank_corpus {
	int64_t papers;
	double title_words; /* mean number of words */
	double abstract_words;
	/* Count the papers with a folded word or prefix. */
	bool (*count)(void *data, const char *word, bool is_prefix, int64_t *papers,
	    GError **error);
	void *data;
};

struct rank;

/* Occurrences of a clause in title and abstract; without words: 1 if true, and 0. */
struct rank_hits {
	unsigned texts[2];
};

/** Look up the words of a query. @param query  borrowed for the life of the rank */
struct rank *
rank_new(const struct query *query, const struct rank_corpus *corpus, GError **error);
void rank_free(struct rank *rank);
PB_DEFINE_AUTO(rank, rank_free);

/** Relevance of a paper that matches. */
double
rank_get_relevance(const struct rank *rank, const struct query_document *document);

/**
 * Compute the relevance of a paper that matches from the occurrences.
 *
 * @param hits   for each clause that is not under a NOT, in the order of the query
 * @param words  in title and abstract
 */
double rank_compute(
    const struct rank *rank, const struct rank_hits *hits, const unsigned words[2]);

/**
 * Combine relevance with votes and age.
 *
 * @param upvotes   PAPER_UNKNOWN counts as 0
 * @param age_days  at least 0
 */
double rank_blend(double relevance, int64_t upvotes, int64_t age_days);
