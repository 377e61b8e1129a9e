/*
 * test_taste_vector.c - the packed form of words that raise and lower papers.
 */
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
		          : -TASTE_VECTOR_SCALE,
		    i % 3 == 0);
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
		g_assert_cmpint(a->is_shown, ==, b->is_shown);
		g_assert_cmpstr(a->word, ==, b->word);
	}
}

TEST(packed_vectors_are_unpacked_unchanged)
{
	GRand *rand = g_rand_new_with_seed(21);

	for (unsigned count = 0; count <= BOUNDS_TASTE_TERMS; count += 50) {
		pb_local(taste_vector) vector = {0}, again = {0};
		g_autoptr(GByteArray) packed = NULL;

		make_vector(rand, count, &vector);
		packed = taste_vector_pack(&vector);
		taste_vector_init(&again);
		NO_ERROR(
		    taste_vector_unpack(&again, packed->data, packed->len, &error));
		assert_same(&vector, &again);
	}
	g_rand_free(rand);
}

TEST(too_many_weights_are_damage)
{
	GRand *rand = g_rand_new_with_seed(21);
	pb_local(taste_vector) vector = {0}, again = {0};
	g_autoptr(GByteArray) packed = NULL;

	make_vector(rand, BOUNDS_TASTE_TERMS + 1, &vector);
	packed = taste_vector_pack(&vector);
	taste_vector_init(&again);
	g_assert_false(taste_vector_unpack(&again, packed->data, packed->len, NULL));
	g_rand_free(rand);
}

/* Packed weights: +1, 0, the largest one and one that is larger. */
#define ONE    "\xc1\x3e"
#define ZERO   "\xc0\x3e"
#define MOST   "\x80\x7d"
#define LARGER "\x81\x7d"

TEST(damaged_values_are_errors)
{
	static const struct {
		const char *bytes;
		size_t size;
		bool is_sound;
	} rows[] = {
	    {"\x05", 1, true}, {"\x05\0" ONE "a", 6, true},
	    {"\x05\x01" MOST "a", 6, true}, {"", 0, false},
	    {"\xe9\x07", 2, false},                    /* more answers */
	    {"\x05\x02" ONE "a", 6, false},            /* neither shown nor not */
	    {"\x05\0" ZERO "a", 6, false},             /* a weight of 0 */
	    {"\x05\0" LARGER "a", 6, false},           /* a large weight */
	    {"\x05\0" ONE, 4, false},                  /* a word is missing */
	    {"\x05\0" ONE "a", 5, false},              /* it does not end */
	    {"\x05\0" ONE "\xff", 6, false},           /* it is not UTF-8 */
	    {"\x05\0" ONE "a\0\0" ONE "a", 11, false}, /* equal words */
	    {"\x05\0" ONE "a\0", 7, false},            /* a byte too many */
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_local(taste_vector) vector = {0};
		g_autoptr(GError) error = NULL;

		taste_vector_init(&vector);
		g_assert_cmpint(
		    taste_vector_unpack(&vector, rows[i].bytes, rows[i].size, &error),
		    ==, rows[i].is_sound);
		if (!rows[i].is_sound)
			g_assert_error(error, PB_ERROR, PB_ERROR_DAMAGED);
	}
}

/* Words are sorted by their hash, so that one order of two is damaged. */
TEST(unsorted_words_are_damage)
{
	unsigned sound = 0;

	for (int i = 0; i < 2; i++) {
		pb_local(taste_vector) vector = {0};

		taste_vector_init(&vector);
		sound += taste_vector_unpack(&vector,
		    i ? "\x05\0" ONE "a\0\0" ONE "b" : "\x05\0" ONE "b\0\0" ONE "a", 11,
		    NULL);
	}
	g_assert_cmpuint(sound, ==, 1);
}

TEST(weights_are_limited_and_distinct)
{
	pb_local(taste_vector) vector = {0};

	taste_vector_init(&vector);
	taste_vector_add(&vector, "none", 0, true);
	taste_vector_add(&vector, "first", 2 * TASTE_VECTOR_SCALE, true);
	taste_vector_add(&vector, "first", 1, true);
	taste_vector_add(&vector, "low", -2 * TASTE_VECTOR_SCALE, true);
	taste_vector_sort(&vector);
	g_assert_cmpuint(vector.weights->len, ==, 2);
	for (unsigned i = 0; i < 2; i++)
		g_assert_cmpint(taste_vector_get(&vector, i)->weight, ==,
		    strcmp(taste_vector_get(&vector, i)->word, "low") == 0
		        ? -TASTE_VECTOR_SCALE
		        : TASTE_VECTOR_SCALE);
}

UNIT_MAIN
