/*
 * fuzz_bibliography.c - read any bytes as a file of a reference manager.
 *
 * The reader ends; the names of a work are valid UTF-8 and fit.
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

	g_assert(found->works->len <= BIBLIOGRAPHY_ENTRIES);
	for (guint i = 0; i < found->works->len; i++) {
		const char *work = found->works->pdata[i];

		g_assert(*work && strlen(work) <= BIBLIOGRAPHY_WORK_BYTES &&
		         g_utf8_validate(work, -1, NULL));
	}
	return 0;
}
