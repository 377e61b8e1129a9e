/*
 * fuzz_taste_vector.c - unpack any bytes as the words that raise and lower papers.
 */
#include <string.h>

#include "base/bounds.h"
#include "fuzz.h"
#include "model/taste_vector.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* In memory of its exact size. */
	g_autofree uint8_t *copy = g_memdup2(data, size);
	pb_local(taste_vector) vector = {0};
	g_autoptr(GByteArray) packed = NULL;
	g_autoptr(GError) error = NULL;

	taste_vector_init(&vector);
	if (!taste_vector_unpack(&vector, copy, size, &error)) {
		fuzz_check_error(error);
		return 0;
	}
	g_assert(vector.weights->len <= BOUNDS_TASTE_TERMS);
	/* There is only one packed form. */
	packed = taste_vector_pack(&vector);
	g_assert(packed->len == size && memcmp(packed->data, data, size) == 0);
	return 0;
}
