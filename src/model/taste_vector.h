/*
 * taste_vector.h - words and pairs of words that raise and lower papers for a person,
 * and the packed form in which they are stored.
 *
 * Pure and independent of the database, as src/model/digest_contents.h.  There are two
 * packed values: the weights, by the hash of their word, are all that ordering papers
 * needs; the words, in the same order, are for people.
 */
#ifndef PAPERBOY_MODEL_TASTE_VECTOR_H
#define PAPERBOY_MODEL_TASTE_VECTOR_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

#define TASTE_VECTOR_VERSION 1

/* The largest absolute weight of a vector. */
#define TASTE_VECTOR_SCALE 8000

struct taste_weight {
	uint32_t hash;
	int32_t weight;   /* not 0 */
	const char *word; /* NULL if only the weights were unpacked */
};

struct taste_vector {
	unsigned answers; /* number of papers that it was learned from */
	GArray *weights;  /* of struct taste_weight, by hash */
	GStringChunk *texts;
};

/** Initialize an empty vector. */
void taste_vector_init(struct taste_vector *vector);
void taste_vector_clear(struct taste_vector *vector);

#define taste_vector_get(vector, i) \
	(&g_array_index((vector)->weights, struct taste_weight, i))

/** Hash of a word, or of two words with a space between. */
uint32_t taste_vector_hash(const char *word);

/** Add a word, in any order. @param weight  0 is left out */
void taste_vector_add(struct taste_vector *vector, const char *word, int32_t weight);

/** Sort what was added; of two words with one hash, the first stays. */
void taste_vector_sort(struct taste_vector *vector);

/** Pack the weights of a sorted vector. @return owned by the caller */
GByteArray *taste_vector_pack_weights(const struct taste_vector *vector);

/** Pack its words. @return owned by the caller */
GByteArray *taste_vector_pack_words(const struct taste_vector *vector);

/**
 * Unpack weights; any bytes are safe.
 *
 * @param vector  initialized and empty
 * @return false with PB_ERROR_DAMAGED if they cannot be read
 */
bool taste_vector_unpack_weights(
    struct taste_vector *vector, const void *data, size_t size, GError **error);

/** Unpack the words of unpacked weights; likewise. The texts are copied. */
bool taste_vector_unpack_words(
    struct taste_vector *vector, const void *data, size_t size, GError **error);

#endif
