/*
 * fuzz_parser_html.c - convert any HTML to text.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/html.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autofree char *valid = g_utf8_make_valid((const char *)data, (gssize)size);
	size_t length = strlen(valid);
	g_autofree char *exact = g_memdup2(valid, length);
	g_autofree char *text = html_format_text(exact ? exact : "", length);

	g_assert(g_utf8_validate(text, -1, NULL));
	g_assert(text[0] == '\0' || g_str_has_suffix(text, "\n"));
	/* At most the text of a line and its quote marks. */
	g_assert(strlen(text) <= (length + 1) * (BOUNDS_MAIL_QUOTES + 3));
	return 0;
}
