/*
 * taste.h - learns which words a person wants from papers that they liked and hid.
 *
 * A paper is a vector of its words, of norm 1:
 *
 *   weight = (1 + ln t) * ln((N + 1) / (n + 0.5))
 *
 * t: occurrences, those in the title count twice; n of the N papers of a background
 * (the papers stored last, service/taste/scorer.h) have the word.  A person is a
 * vector, too: the mean of the liked papers.  A word that only hidden papers have gets
 * a negative weight, a part of its mean in these.  The score of a paper is the scalar
 * product of its vector and that of the person.
 *
 * Pairs of words have the weight 0, and the matrices are made without folds_plurals:
 * pairs and folded plurals would improve the order of papers on some subjects and make
 * it worse on others (bench/relevance.py).
 */
#pragma once

#include "query/text/matrix.h"

/**
 * Weigh the terms of a paper.
 *
 * @param background  other papers, with or without this one
 * @return a weight for each of its matrix_get_counts(), owned by the caller
 */
double *taste_weigh(
    const struct matrix *background, const struct matrix *papers, unsigned paper);

struct taste_term {
	uint32_t term; /* its number in the matrix of the answered papers */
	double weight;
	/*
	 * Whether people recognize it: a title of an answered paper has it, and it is
	 * usual in titles, such as "diffusion", but not "remaining". Never a pair of
	 * characters (base/bigram.h), which may be parts of two words.
	 */
	bool is_shown;
};

/**
 * Learn the weights of terms.
 *
 * @param papers   the papers that were answered
 * @param is_like  one for each of them; false: hidden
 * @return of struct taste_term: at most BOUNDS_TASTE_TERMS, by decreasing absolute
 *         weight
 */
GArray *taste_learn(
    const struct matrix *background, const struct matrix *papers, const bool *is_like);
