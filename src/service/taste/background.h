/*
 * background.h - papers of the archive against which answers are learned and papers are
 * weighed.
 *
 * A word tells something about a person if it is rarer in other papers, so the papers
 * stored last are the background.  Loading it takes about 0.1 s.
 */
#ifndef PAPERBOY_SERVICE_TASTE_BACKGROUND_H
#define PAPERBOY_SERVICE_TASTE_BACKGROUND_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "query/taste/vectors.h"
#include "store/core/store.h"

/* Maximum number of papers of the background. */
#define BACKGROUND_PAPERS 1000

struct background;

/** @param papers  of int64_t: papers to include, too; or NULL */
struct background *
background_load(struct store *store, const GArray *papers, GError **error);
void background_free(struct background *background);
PB_DEFINE_AUTO(background, background_free);

const struct vectors *background_get_vectors(const struct background *background);

/** Find the number of a paper in the vectors. @return false if it is not in them */
bool
background_find(const struct background *background, int64_t seq, unsigned *number);

/* A word or pair of words of a paper. */
struct weighed_term {
	uint32_t hash; /* taste_vector_hash() */
	float weight;
};

/**
 * Compute the weights of the words of any paper.
 *
 * @return of struct weighed_term; NULL with PB_ERROR_TEMPORARY
 */
GArray *background_list_terms(const struct background *background, const char *title,
    const char *abstract, GError **error);

#endif
