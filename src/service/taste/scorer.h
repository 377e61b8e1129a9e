/*
 * scorer.h - score papers by the words that a person likes and hides.
 */
#ifndef PAPERBOY_SERVICE_TASTE_SCORER_H
#define PAPERBOY_SERVICE_TASTE_SCORER_H

#include <glib.h>
#include <stdint.h>

#include "base/bounds.h"
#include "model/taste_vector.h"
#include "service/taste/background.h"

/* More than three times as many as there are weights; a power of 2. */
#define SCORER_SLOTS 1024

/* Most words of a paper have no weight: a bit tells that. A power of 2. */
#define SCORER_BITS 8192

/* Weights by hash (open addressing); a weight of 0 is an empty slot. */
struct scorer {
	uint64_t bits[SCORER_BITS / 64]; /* of the hashes that have a weight */
	struct scorer_slot {
		uint32_t hash;
		int32_t weight;
	} slots[SCORER_SLOTS];
};

/** Prepare the score. @param vector  with its weights */
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
