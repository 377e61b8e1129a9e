/*
 * scorer.h - score papers by the words that people like and hide.
 *
 * A score is the sum of the products of the weights that a word has for the person and
 * in the paper.  Papers are read when they are first scored, and kept for other people.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "model/taste_vector.h"
#include "query/text/matrix.h"
#include "store/core/store.h"

struct scorer;

/** Loads no papers yet. @param store  borrowed for the life of the scorer */
struct scorer *scorer_new(struct store *store);
void scorer_free(struct scorer *scorer);
PB_DEFINE_AUTO(scorer, scorer_free);

/** Forget the papers, which may have changed. */
void scorer_forget(struct scorer *scorer);

/**
 * Score papers.
 *
 * @param vector  sorted
 * @param papers  their seqs, distinct
 * @param scores  set, one for each; 0: nothing is known
 * @return false with the store's error
 */
bool scorer_run(struct scorer *scorer, const struct taste_vector *vector,
    const int64_t *papers, unsigned count, double *scores, GError **error);

/* Words that raise and lower a paper most, of those that are shown; "" without any. */
struct scorer_reasons {
	char *raised; /* "`reward`, `rlhf`": words, not pairs of characters */
	char *lowered;
};

/** Explain a score. @return false with the store's error */
bool scorer_explain(struct scorer *scorer, const struct taste_vector *vector,
    int64_t paper, struct scorer_reasons *reasons, GError **error);
void scorer_reasons_clear(struct scorer_reasons *reasons);

/* ---- papers against which the words of others are weighed ---- */

/**
 * Load the papers stored last: a word tells something about a paper if it is rarer in
 * these.  Takes about 0.1 s.
 *
 * @return owned by the caller, while the store is open
 */
struct matrix *background_load(struct store *store, GError **error);
