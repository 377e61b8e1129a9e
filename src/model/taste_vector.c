/*
 * taste_vector.c - words that raise and lower papers for a person, and their packed
 * form.
 */
#include "model/taste_vector.h"

#include "base/bounds.h"
#include "base/error.h"
#include "base/fnv1a.h"
#include "base/packing.h"

void
taste_vector_init(struct taste_vector *vector)
{
	*vector = (struct taste_vector){
	    .weights = g_array_new(FALSE, FALSE, sizeof(struct taste_weight)),
	};
}

void
taste_vector_clear(struct taste_vector *vector)
{
	g_clear_pointer(&vector->weights, g_array_unref);
	g_clear_pointer(&vector->texts, g_string_chunk_free);
}

uint32_t
taste_vector_hash(const char *word)
{
	return (uint32_t)fnv1a_hash(word, strlen(word));
}

void
taste_vector_add(
    struct taste_vector *vector, const char *word, int32_t weight, bool is_shown)
{
	struct taste_weight added = {.hash = taste_vector_hash(word),
	    .weight = CLAMP(weight, -TASTE_VECTOR_SCALE, TASTE_VECTOR_SCALE),
	    .is_shown = is_shown};

	if (!weight)
		return;
	if (!vector->texts)
		vector->texts = g_string_chunk_new(4096);
	added.word = g_string_chunk_insert(vector->texts, word);
	g_array_append_val(vector->weights, added);
}

static int
compare_hashes(const void *a, const void *b)
{
	const struct taste_weight *one = a, *other = b;

	return (one->hash > other->hash) - (one->hash < other->hash);
}

void
taste_vector_sort(struct taste_vector *vector)
{
	unsigned used = 0;

	/* Stable. */
	g_array_sort(vector->weights, compare_hashes);
	for (unsigned i = 0; i < vector->weights->len; i++)
		if (!used || taste_vector_get(vector, used - 1)->hash !=
		                 taste_vector_get(vector, i)->hash)
			*taste_vector_get(vector, used++) =
			    *taste_vector_get(vector, i);
	g_array_set_size(vector->weights, used);
}

static void
move_weight(struct packing *packing, struct taste_weight *weight)
{
	weight->is_shown = packing_number(packing, weight->is_shown, 1);
	weight->weight = (int32_t)packing_number(packing,
	                     (uint64_t)(weight->weight + TASTE_VECTOR_SCALE),
	                     2 * TASTE_VECTOR_SCALE) -
	                 TASTE_VECTOR_SCALE;
	weight->word = packing_text(packing, weight->word);
}

GByteArray *
taste_vector_pack(const struct taste_vector *vector)
{
	struct packing packing = {.out = g_byte_array_sized_new(8192)};

	packing_number(&packing, vector->answers, BOUNDS_TASTE_ANSWERS);
	for (unsigned i = 0; i < vector->weights->len; i++)
		move_weight(&packing, taste_vector_get(vector, i));
	return packing.out;
}

bool
taste_vector_unpack(
    struct taste_vector *vector, const void *data, size_t size, GError **error)
{
	struct packing packing = packing_of(data, size);
	int64_t last = -1;

	vector->answers = (unsigned)packing_number(&packing, 0, BOUNDS_TASTE_ANSWERS);
	while (packing.at < packing.end) {
		struct taste_weight weight = {0};
		uint32_t hash;

		move_weight(&packing, &weight);
		hash = taste_vector_hash(weight.word);
		if (weight.weight == 0 || hash <= last ||
		    vector->weights->len == BOUNDS_TASTE_TERMS)
			packing_fail(&packing);
		last = hash;
		taste_vector_add(vector, weight.word, weight.weight, weight.is_shown);
	}
	return !packing.is_bad ||
	       pb_fail(error, PB_ERROR_DAMAGED,
	           "the store is damaged: a taste cannot be read; run paperboyctl "
	           "doctor");
}
