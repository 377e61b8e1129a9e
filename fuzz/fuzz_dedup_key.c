/*
 * fuzz_dedup_key.c - compute the deduplication key from a mail's header.
 *
 * Headers that receivers add do not change the key.
 */
#include <string.h>

#include "base/bounds.h"
#include "fuzz.h"
#include "message/dedup_key.h"

static void
check_same(const char *contents, size_t size, const char *above, const char *below)
{
	g_autofree char *key = dedup_key_format(contents, size);
	GString *other = g_string_new(above);
	g_autofree char *other_key = NULL;

	g_assert(strlen(key) == DEDUP_KEY_LENGTH);
	g_string_append_len(other, contents, (gssize)size);
	g_string_append(other, below);
	other_key = dedup_key_format(other->str, other->len);
	g_assert_cmpstr(key, ==, other_key);
	g_string_free(other, TRUE);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"From", "Delivered-To", "X"};
	struct fuzz_input input = {data, size};
	g_autoptr(GBytes) bytes = fuzz_take_bytes(&input);
	gsize length;
	const char *contents = g_bytes_get_data(bytes, &length);
	/* A continuation line would continue the header added above it. */
	bool goes_on = length && strchr(" \t", *contents);

	contents = contents ? contents : "";
	if (!goes_on)
		check_same(contents, length, "X-Road: a\r\n\tb\r\n", "");
	/* Behind a body, not behind a header without one. */
	if (g_strstr_len(contents, (gssize)length, "\n\n"))
		check_same(contents, length, "", "\n\r\n\n");
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *value =
		    dedup_key_find_field(contents, length, names[i]);
		g_autofree char *address =
		    dedup_key_find_address(contents, length, names[i]);

		g_assert(!value || strlen(value) <= BOUNDS_MAIL_VALUE_BYTES);
		g_assert(!address || strlen(address) <= BOUNDS_ADDRESS_BYTES);
		g_assert(!address || g_utf8_validate(address, -1, NULL));
	}
	return 0;
}
