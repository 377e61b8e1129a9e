/*
 * fuzz_bibliography.c - read any bytes as a file of a reference manager.
 *
 * The reader ends; names are valid UTF-8, and each entry has one at least.
 */
#include <string.h>

#include "fuzz.h"
#include "message/bibliography.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	g_autoptr(GBytes) bytes = fuzz_take_bytes(&input);
	gsize length;
	const char *text = g_bytes_get_data(bytes, &length);
	pb_auto(bibliography) found = bibliography_parse(text ? text : "", length);

	g_assert(found->entries <= BIBLIOGRAPHY_ENTRIES);
	g_assert(found->names->len >= found->entries);
	for (guint i = 0; i < found->names->len; i++) {
		const char *name = found->names->pdata[i];

		g_assert(*name && g_utf8_validate(name, -1, NULL));
	}
	return 0;
}
