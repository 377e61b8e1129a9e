/*
 * taste.h - learns what a person wants from liked and hidden papers, to order others.
 *
 * A taste is one vector of at most BOUNDS_TASTE_TERMS words and pairs of words, with
 * positive and negative weights; the score of a paper is its product with the paper's
 * vector (query/taste/vectors.h). Pure arithmetic, the same for the same input.
 *
 * centroid    mean of the liked papers, minus a part of the mean of the hidden ones for
 *             terms that no liked paper has.  A term's weight is multiplied by the
 *             square root of how much papers with the term resemble the centroid,
 *             against the mean of all papers.  Among papers that repeat
 *             their words (vectors.h) weights are flattened by an exponent below 1
 *             instead, and the papers to rank, if they are at least 100, are added,
 *             each multiplied by its score, with 3 / (number of likes) of the norm:
 *             the fewer likes, the more their common subject counts.  A digest has
 *             fewer papers, so that the vector alone orders it.
 * regression  logistic regression of liked papers against hidden ones and others.
 *
 * From TASTE_REGRESSION_ANSWERS answers on it is the better one, by leave-one-out: each
 * of up to 30 answers is compared with papers of the other kind by a taste that was
 * learned without it.
 */
#ifndef PAPERBOY_QUERY_TASTE_TASTE_H
#define PAPERBOY_QUERY_TASTE_TASTE_H

#include "query/taste/vectors.h"

#define TASTE_REGRESSION_ANSWERS 30

struct taste_term {
	uint32_t term; /* of the matrix */
	double weight;
};

struct taste {
	GArray *terms; /* of struct taste_term, by decreasing absolute weight */
	bool is_regression;
	unsigned likes; /* number of liked papers */
};

/* Papers of the matrix that a person has answered, distinct. */
struct taste_answers {
	const unsigned *likes;
	unsigned like_count;
	const unsigned *hides;
	unsigned hide_count;
};

/**
 * Learn a taste.
 *
 * @return empty without answers; NULL with PB_ERROR_LIMIT for more than
 *         BOUNDS_TASTE_ANSWERS
 */
struct taste *taste_learn(
    const struct vectors *vectors, const struct taste_answers *answers, GError **error);
void taste_free(struct taste *taste);
PB_DEFINE_AUTO(taste, taste_free);

/**
 * Score papers of the matrix.
 *
 * @param papers  their numbers
 * @param scores  set, one for each
 */
void taste_score(const struct taste *taste, const struct vectors *vectors,
    const unsigned *papers, size_t count, double *scores);

#endif
