/*
 * scorer.h - score papers by the words that a person likes and hides.
 */
#ifndef PAPERBOY_SERVICE_TASTE_SCORER_H
#define PAPERBOY_SERVICE_TASTE_SCORER_H

#include <glib.h>
#include <stdint.h>

#include "model/taste_vector.h"
#include "service/taste/background.h"

/* Most words of a paper have no weight: these bits of their hash tell that. */
#define SCORER_PREFIX_BITS 13

struct scorer {
	const struct taste_vector *vector; /* borrowed */
	/* 1 + index of the first weight, by the first bits of its hash; 0: none */
	uint16_t first[1 << SCORER_PREFIX_BITS];
};

/** Prepare the score. @param vector  sorted, with its weights; borrowed */
void scorer_init(struct scorer *scorer, const struct taste_vector *vector);

/** Score a paper. @param terms  of struct weighed_term @return 0: nothing is known */
double scorer_score(const struct scorer *scorer, const GArray *terms);

/* Maximum number of words of an explanation, of each kind. */
#define SCORER_WORDS 3

/* Words that raise and lower a paper most, "" without any. */
struct scorer_reasons {
	char *raised;  /* "`reward model`, `rlhf`" */
	char *lowered; /* likewise */
};

/** Explain a score. @param vector  with its words */
void scorer_explain(const struct taste_vector *vector, const GArray *terms,
    struct scorer_reasons *reasons);
void scorer_reasons_clear(struct scorer_reasons *reasons);

#endif
