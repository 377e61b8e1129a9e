/*
 * likeness.h - how much papers resemble those that a filter finds.
 *
 * A paper is a vector of its words with (1 + ln t) * idf^1.2, those of the title
 * counted twice, without the words of the filter, which all of its papers have. Its
 * likeness is its product with the sum of the filter's papers, in standard deviations
 * above the mean of all papers, as if their words were independent.
 */
#ifndef PAPERBOY_SERVICE_EXPLAIN_LIKENESS_H
#define PAPERBOY_SERVICE_EXPLAIN_LIKENESS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "query/query.h"
#include "query/taste/matrix.h"
#include "store/core/store.h"

/** @return number of papers of the archive with a word */
typedef int64_t (*likeness_count)(void *data, const char *word);

/* Papers that a filter finds. */
struct likeness_source {
	const struct query *query;
	const struct matrix *matrix; /* with folded plurals */
	int64_t papers;              /* in the archive */
	likeness_count count;
	void *data;
};

struct likeness;

struct likeness *
likeness_new(struct store *store, const struct likeness_source *source);
void likeness_free(struct likeness *likeness);

struct likeness_paper {
	double value;
	bool is_titled; /* the term is in its title */
};

/**
 * Compute the likeness of a paper; a paper is read once.
 *
 * @param term   its words do not count
 * @param paper  set; 0 if the paper is gone
 */
bool likeness_compute(struct likeness *likeness, int64_t seq, const char *term,
    struct likeness_paper *paper, GError **error);

#endif
