/*
 * test_fnv1a.c - a hash that notices every change of a byte.
 */
#include <string.h>

#include "base/fnv1a.h"
#include "lib/unit.h"

#define SIZE 40

TEST(every_bit_counts)
{
	uint8_t bytes[SIZE];

	for (size_t size = 0; size <= SIZE; size++) {
		g_autoptr(GHashTable) seen =
		    g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
		int64_t hash;

		for (size_t i = 0; i < size; i++)
			bytes[i] = (uint8_t)g_test_rand_int_range(0, 256);
		hash = fnv1a_hash(bytes, size);
		g_assert_cmpint(hash, >=, 0);
		g_hash_table_add(seen, g_memdup2(&hash, sizeof(hash)));
		for (size_t bit = 0; bit < 8 * size; bit++) {
			bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
			hash = fnv1a_hash(bytes, size);
			g_assert_true(
			    g_hash_table_add(seen, g_memdup2(&hash, sizeof(hash))));
			bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
}

/* Two changes in neighbouring words do not cancel each other. */
TEST(pairs_of_bits_count)
{
	uint8_t bytes[SIZE] = {0};
	int64_t before = fnv1a_hash(bytes, SIZE);

	for (size_t one = 0; one < 8 * SIZE; one++)
		for (size_t other = 0; other < one; other++) {
			bytes[one / 8] ^= (uint8_t)(1 << one % 8);
			bytes[other / 8] ^= (uint8_t)(1 << other % 8);
			g_assert_cmpint(fnv1a_hash(bytes, SIZE), !=, before);
			memset(bytes, 0, SIZE);
		}
}

TEST(length_counts)
{
	static const char zeros[SIZE];

	for (size_t size = 0; size < SIZE; size++)
		g_assert_cmpint(
		    fnv1a_hash(zeros, size), !=, fnv1a_hash(zeros, size + 1));
}

UNIT_MAIN
