/*
 * taste_vector.c - words that raise and lower papers for a person, and their packed
 * form.
 */
#include "model/taste_vector.h"

#include "base/bounds.h"
#include "base/error.h"
#include "base/fnv1a.h"
#include "base/packing.h"

G_STATIC_ASSERT(TASTE_VECTOR_SCALE <= INT16_MAX);

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

static const char *
keep_text(struct taste_vector *vector, const char *text)
{
	if (!vector->texts)
		vector->texts = g_string_chunk_new(4096);
	return g_string_chunk_insert(vector->texts, text);
}

void
taste_vector_add(struct taste_vector *vector, const char *word, int32_t weight)
{
	struct taste_weight added = {.hash = taste_vector_hash(word),
	    .weight = CLAMP(weight, -TASTE_VECTOR_SCALE, TASTE_VECTOR_SCALE)};

	if (!weight)
		return;
	added.word = keep_text(vector, word);
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

/* A packed weight: its hash and itself, least significant byte first. */
#define WEIGHT_BYTES 6

GByteArray *
taste_vector_pack_weights(const struct taste_vector *vector)
{
	GByteArray *out = g_byte_array_sized_new(2048);

	packing_put_number(out, TASTE_VECTOR_VERSION);
	packing_put_number(out, vector->answers);
	packing_put_number(out, vector->weights->len);
	for (unsigned i = 0; i < vector->weights->len; i++) {
		const struct taste_weight *weight = taste_vector_get(vector, i);
		uint32_t hash = GUINT32_TO_LE(weight->hash);
		int16_t value = GINT16_TO_LE((int16_t)weight->weight);

		g_byte_array_append(out, (const uint8_t *)&hash, sizeof(hash));
		g_byte_array_append(out, (const uint8_t *)&value, sizeof(value));
	}
	return out;
}

GByteArray *
taste_vector_pack_words(const struct taste_vector *vector)
{
	GByteArray *out = g_byte_array_sized_new(8192);

	for (unsigned i = 0; i < vector->weights->len; i++)
		packing_put_text(out, taste_vector_get(vector, i)->word);
	return out;
}

static bool
check(struct unpacker *in, GError **error)
{
	if (in->at < in->end)
		packing_fail(in);
	return !in->is_bad ||
	       pb_fail(error, PB_ERROR_DAMAGED,
	           "the store is damaged: a taste cannot be read; run paperboyctl "
	           "doctor");
}

static struct taste_weight
take_weight(struct unpacker *in)
{
	uint32_t hash;
	int16_t value;

	memcpy(&hash, in->at, sizeof(hash));
	memcpy(&value, in->at + sizeof(hash), sizeof(value));
	in->at += WEIGHT_BYTES;
	return (struct taste_weight){
	    .hash = GUINT32_FROM_LE(hash), .weight = GINT16_FROM_LE(value)};
}

bool
taste_vector_unpack_weights(
    struct taste_vector *vector, const void *data, size_t size, GError **error)
{
	struct unpacker in = packing_start(data, size);
	int64_t last = -1;
	unsigned count;

	if (packing_take_number(&in, INT64_MAX) != TASTE_VECTOR_VERSION)
		packing_fail(&in);
	vector->answers = (unsigned)packing_take_number(&in, BOUNDS_TASTE_ANSWERS);
	count = packing_take_count(&in, WEIGHT_BYTES);
	if (count > BOUNDS_TASTE_TERMS)
		packing_fail(&in);
	if (!in.is_bad)
		g_array_set_size(vector->weights, count);
	for (unsigned i = 0; i < count && !in.is_bad; i++) {
		struct taste_weight weight = take_weight(&in);

		if (weight.hash <= last || weight.weight == 0 ||
		    ABS(weight.weight) > TASTE_VECTOR_SCALE)
			packing_fail(&in);
		*taste_vector_get(vector, i) = weight;
		last = weight.hash;
	}
	return check(&in, error);
}

bool
taste_vector_unpack_words(
    struct taste_vector *vector, const void *data, size_t size, GError **error)
{
	struct unpacker in = packing_start(data, size);

	for (unsigned i = 0; i < vector->weights->len && !in.is_bad; i++) {
		struct taste_weight *weight = taste_vector_get(vector, i);
		const char *word = packing_take_text(&in);

		if (taste_vector_hash(word) != weight->hash)
			packing_fail(&in);
		weight->word = keep_text(vector, word);
	}
	return check(&in, error);
}
