/*
 * related.h - words and phrases related to a filter, from the papers that it matches.
 *
 * The papers that match are taken as relevant. A term's score is the log-likelihood
 * ratio (T. Dunning, 1993) of its papers and those of the filter, if they share more
 * than by chance. A term that may be the acronym of a phrase of the filter, or a phrase
 * whose acronym the filter may have, scores RELATED_PRIOR * (1 + ratio).
 */
#pragma once

#include "query/query.h"
#include "query/text/matrix.h"

#define RELATED_PRIOR 10

struct related_term {
	char *text; /* words with folded plurals */
	double score;
	/* It may be the acronym of a phrase of the filter, or a phrase whose acronym is
	 * in the filter. */
	bool is_acronym;
};

/* The papers of a filter, and how to count others. */
struct related_source {
	const struct matrix
	    *matrix;       /* of matching papers, or of some; folded plurals */
	unsigned papers;   /* in the archive */
	unsigned matching; /* of these */
	/** @return number of papers with the term, at least `at_least` */
	unsigned (*count)(
	    void *data, const struct matrix_term *term, unsigned at_least);
	void *data;
};

/**
 * Find related terms. Words of the filter, words contained in a better term, terms in
 * few papers, and terms without further papers are left out; acronyms are not.
 *
 * @param query  the filter; words under a NOT are ignored
 * @param limit  maximum number of terms
 * @return of struct related_term *, the best first
 */
GPtrArray *related_find(
    const struct query *query, const struct related_source *source, unsigned limit);

/**
 * Compute the log-likelihood ratio of two sets of papers.
 *
 * @param all     number of papers
 * @param query   of these, that match the filter
 * @param term    that have the term
 * @param shared  both
 * @return 0 if they share no more than by chance
 */
double related_compute_ratio(double all, double query, double term, double shared);
