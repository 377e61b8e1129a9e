/*
 * test_taste_vector.c - the packed form of words that raise and lower papers.
 */
#include <glib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/unit.h"
#include "model/taste_vector.h"

static void
make_vector(GRand *rand, unsigned count, struct taste_vector *vector)
{
	taste_vector_init(vector);
	vector->answers = (unsigned)g_rand_int_range(rand, 0, 100);
	for (unsigned i = 0; i < count; i++) {
		g_autofree char *word =
		    g_strdup_printf("%s %u", i % 2 ? "w\xc3\xb6rd" : "", i);

		taste_vector_add(vector, word,
		    i % 7 ? g_rand_int_range(rand, 1, TASTE_VECTOR_SCALE)
		          : -TASTE_VECTOR_SCALE);
	}
	taste_vector_sort(vector);
	g_assert_cmpuint(vector->weights->len, ==, count);
}

static void
assert_same(const struct taste_vector *one, const struct taste_vector *other)
{
	g_assert_cmpuint(one->answers, ==, other->answers);
	g_assert_cmpuint(one->weights->len, ==, other->weights->len);
	for (unsigned i = 0; i < one->weights->len; i++) {
		const struct taste_weight *a = taste_vector_get(one, i);
		const struct taste_weight *b = taste_vector_get(other, i);

		g_assert_cmpuint(a->hash, ==, b->hash);
		g_assert_cmpint(a->weight, ==, b->weight);
		g_assert_cmpstr(a->word, ==, b->word);
	}
}

static void
packed_vectors_are_unpacked_unchanged(void)
{
	GRand *rand = g_rand_new_with_seed(21);

	for (unsigned count = 0; count <= BOUNDS_TASTE_TERMS; count += 50) {
		pb_local(taste_vector) vector = {0}, again = {0};
		g_autoptr(GByteArray) weights = NULL, words = NULL;
		g_autoptr(GError) error = NULL;

		make_vector(rand, count, &vector);
		weights = taste_vector_pack_weights(&vector);
		words = taste_vector_pack_words(&vector);
		taste_vector_init(&again);
		taste_vector_unpack_weights(
		    &again, weights->data, weights->len, &error);
		g_assert_no_error(error);
		taste_vector_unpack_words(&again, words->data, words->len, &error);
		g_assert_no_error(error);
		assert_same(&vector, &again);
		/* Six bytes for each weight. */
		g_assert_cmpuint(weights->len, <=, 4 + 6 * count);
	}
	g_rand_free(rand);
}

static void
too_many_weights_are_damage(void)
{
	GRand *rand = g_rand_new_with_seed(21);
	pb_local(taste_vector) vector = {0}, again = {0};
	g_autoptr(GByteArray) weights = NULL;

	make_vector(rand, BOUNDS_TASTE_TERMS + 1, &vector);
	weights = taste_vector_pack_weights(&vector);
	taste_vector_init(&again);
	g_assert_false(
	    taste_vector_unpack_weights(&again, weights->data, weights->len, NULL));
	g_rand_free(rand);
}

/* Packed: hashes, and a weight. */
#define HASH_1   "\x01\0\0\0"
#define HASH_2   "\x02\0\0\0"
#define WEIGHT_1 "\x01\0"

static void
damaged_values_are_errors(void)
{
	static const struct {
		const char *weights, *words;
		size_t weights_size, words_size;
		bool are_weights_sound;
	} rows[] = {
	    {"", "", 0, 0, false}, {"\x01", "", 1, 0, false},
	    {"\x02\0\0", "", 3, 0, false},                   /* another version */
	    {"\x01\xff\x7f\0", "", 4, 0, false},             /* more answers */
	    {"\x01\0\x01", "", 3, 0, false},                 /* a weight is missing */
	    {"\x01\0\x01" HASH_1 WEIGHT_1, "", 8, 0, false}, /* half a weight */
	    {"\x01\0\x01" HASH_1 "\0\0", "", 9, 0, false},   /* a weight of 0 */
	    {"\x01\0\x01" HASH_1 WEIGHT_1 "\0", "", 10, 0, false}, /* a byte too many */
	    {"\x01\0\x02" HASH_1 WEIGHT_1 HASH_1 WEIGHT_1, "", 15, 0,
	        false}, /* equal hashes */
	    {"\x01\0\x02" HASH_2 WEIGHT_1 HASH_1 WEIGHT_1, "", 15, 0,
	        false},                                        /* unsorted */
	    {"\x01\0\x01" HASH_1 "\x41\x1f", "", 9, 0, false}, /* large weight */
	    {"\x01\0\x01" HASH_1 "\xbf\xe0", "", 9, 0, false}, /* likewise */
	    {"\x01\0\x02" HASH_1 WEIGHT_1 HASH_2 WEIGHT_1, "", 15, 0,
	        true},                                        /* words are missing */
	    {"\x01\0\x01" HASH_1 "\xc0\xe0", "", 9, 0, true}, /* likewise */
	    {"\x01\0\0", "a", 3, 2, true},                    /* a word too many */
	    {"\x01\0\x01" HASH_1 WEIGHT_1, "a", 9, 2, true},  /* another word */
	    {"\x01\0\x01" HASH_1 WEIGHT_1, "", 9, 0, true},   /* a word is missing */
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_local(taste_vector) vector = {0};
		g_autoptr(GError) error = NULL;

		taste_vector_init(&vector);
		g_assert_cmpint(taste_vector_unpack_weights(&vector, rows[i].weights,
		                    rows[i].weights_size, &error),
		    ==, rows[i].are_weights_sound);
		if (rows[i].are_weights_sound)
			g_assert_false(taste_vector_unpack_words(
			    &vector, rows[i].words, rows[i].words_size, &error));
		g_assert_error(error, PB_ERROR, PB_ERROR_DAMAGED);
	}
}

static void
weights_are_limited_and_distinct(void)
{
	pb_local(taste_vector) vector = {0};

	taste_vector_init(&vector);
	taste_vector_add(&vector, "none", 0);
	taste_vector_add(&vector, "first", 2 * TASTE_VECTOR_SCALE);
	taste_vector_add(&vector, "first", 1);
	taste_vector_add(&vector, "low", -2 * TASTE_VECTOR_SCALE);
	taste_vector_sort(&vector);
	g_assert_cmpuint(vector.weights->len, ==, 2);
	for (unsigned i = 0; i < 2; i++)
		g_assert_cmpint(taste_vector_get(&vector, i)->weight, ==,
		    strcmp(taste_vector_get(&vector, i)->word, "low") == 0
		        ? -TASTE_VECTOR_SCALE
		        : TASTE_VECTOR_SCALE);
}

UNIT_MAIN(packed_vectors_are_unpacked_unchanged, too_many_weights_are_damage,
    damaged_values_are_errors, weights_are_limited_and_distinct)
