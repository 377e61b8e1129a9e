/*
 * fuzz_quote_strip.c - strip quotes from any flowed text.
 *
 * The remaining lines are lines of the input, in order, and none is quoted.
 */
#include <string.h>

#include "fuzz.h"
#include "parser/flowed.h"
#include "parser/quote_strip.h"

static void
check_cut(const char *text)
{
	g_autofree char *cut = quote_strip(text);
	g_auto(GStrv) lines = g_strsplit(cut, "\n", -1);
	const char *from = text;

	g_assert(g_utf8_validate(cut, -1, NULL));
	g_assert(cut[0] != '\n' && !strstr(cut, "\n\n\n"));
	g_assert(cut[0] == '\0' || g_str_has_suffix(cut, "\n"));
	g_assert(!g_str_has_suffix(cut, "\n\n"));
	for (size_t i = 0; lines[i]; i++) {
		g_assert(lines[i][strspn(lines[i], " ")] != '>');
		from = strstr(from, lines[i]);
		g_assert(from);
		from += strlen(lines[i]);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autofree char *text = g_utf8_make_valid((const char *)data, (gssize)size);
	g_autofree char *stored = flowed_decode(text, false);
	g_autofree char *deleted = flowed_decode(text, true);

	g_assert(g_utf8_validate(stored, -1, NULL));
	g_assert(strlen(deleted) <= strlen(stored));
	check_cut(text);
	check_cut(stored);
	return 0;
}
