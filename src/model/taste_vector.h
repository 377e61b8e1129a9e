/*
 * taste_vector.h - words that raise and lower papers for a person, and the packed form
 * in which they are stored.
 *
 * Pure and independent of the database, as src/model/digest_contents.h.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

/* The largest absolute weight of a vector. */
#define TASTE_VECTOR_SCALE 8000

struct taste_weight {
	uint32_t hash;  /* of the word, to compare it with those of papers */
	int32_t weight; /* not 0 */
	bool is_shown;  /* people recognize the word (query/taste/taste.h) */
	const char *word;
};

struct taste_vector {
	unsigned answers; /* number of papers that it was learned from */
	GArray *weights;  /* of struct taste_weight, by hash */
	GStringChunk *texts;
};

void taste_vector_init(struct taste_vector *vector);
void taste_vector_clear(struct taste_vector *vector);

#define taste_vector_get(vector, i) \
	(&g_array_index((vector)->weights, struct taste_weight, i))

/** Hash a term of a paper, to compare it with the words of a vector. */
uint32_t taste_vector_hash(const char *word);

/** Add a word, in any order. @param weight  0 is left out */
void taste_vector_add(
    struct taste_vector *vector, const char *word, int32_t weight, bool is_shown);

/** Sort what was added; of two words with one hash, the first stays. */
void taste_vector_sort(struct taste_vector *vector);

/** Pack a sorted vector. @return owned by the caller */
GByteArray *taste_vector_pack(const struct taste_vector *vector);

/**
 * Unpack a vector; any bytes are safe.
 *
 * @param vector  initialized and empty; may be filled in part on failure
 * @return false with PB_ERROR_DAMAGED if it cannot be read
 */
bool taste_vector_unpack(
    struct taste_vector *vector, const void *data, size_t size, GError **error);
