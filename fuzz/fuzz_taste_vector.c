/*
 * fuzz_taste_vector.c - unpack any bytes as the words that raise and lower papers: the
 * weights, and the words after the last byte 255.
 */
#include <string.h>

#include "base/bounds.h"
#include "fuzz.h"
#include "model/taste_vector.h"

/* There is only one packed form. */
static void
check_packed(GByteArray *packed, const uint8_t *data, size_t size)
{
	g_assert(packed->len == size);
	g_assert(size == 0 || memcmp(packed->data, data, size) == 0);
	g_byte_array_unref(packed);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *mark = size ? memrchr(data, 255, size) : NULL;
	size_t weights_size = mark ? (size_t)(mark - data) : size;
	size_t words_size = mark ? size - weights_size - 1 : 0;
	/* In memory of their exact sizes. */
	g_autofree uint8_t *weights = g_memdup2(data, weights_size);
	g_autofree uint8_t *words = mark ? g_memdup2(mark + 1, words_size) : NULL;
	pb_local(taste_vector) vector = {0};
	g_autoptr(GError) error = NULL;

	taste_vector_init(&vector);
	if (!taste_vector_unpack_weights(&vector, weights, weights_size, &error)) {
		fuzz_check_error(error);
		return 0;
	}
	g_assert(vector.weights->len <= BOUNDS_TASTE_TERMS);
	check_packed(taste_vector_pack_weights(&vector), weights, weights_size);
	if (!taste_vector_unpack_words(&vector, words, words_size, &error)) {
		fuzz_check_error(error);
		return 0;
	}
	check_packed(taste_vector_pack_words(&vector), words, words_size);
	return 0;
}
