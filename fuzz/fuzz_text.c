/*
 * fuzz_text.c - normalise any bytes as a title, a name or an abstract.
 */
#include <string.h>

#include "base/tex.h"
#include "base/text.h"
#include "fuzz.h"

/* Maximum growth by a TeX command, bytes. */
#define COMMAND_BYTES 8

static bool
has_tex(const char *text)
{
	return strpbrk(text, "\\${}") != NULL;
}

static void
check_tex(const char *text)
{
	g_autofree char *decoded = tex_decode(text);
	size_t commands = 0;

	g_assert(g_utf8_validate(decoded, -1, NULL));
	for (const char *p = text; *p; p++)
		commands += *p == '\\' || *p == '$';
	g_assert(strlen(decoded) <= strlen(text) + COMMAND_BYTES * commands);
	if (!has_tex(text))
		g_assert_cmpstr(decoded, ==, text);
}

/* A formula that is left has its delimiters; outside of it no backslash shows. */
static void
check_display(const char *text)
{
	g_autofree char *shown = tex_display(text);
	const char *command = strchr(shown, '\\');

	g_assert(g_utf8_validate(shown, -1, NULL));
	g_assert(!command || command[1] == '(' || command[1] == '[' ||
	         memchr(shown, '$', (size_t)(command - shown)));
	/* A letter of \mathbb{AAA} grows most, from one byte to four. */
	g_assert(strlen(shown) <= 4 * strlen(text));
	if (!tex_display_is_needed(text))
		g_assert_cmpstr(shown, ==, text);
}

/* Nothing that does not show, and no heap of marks (UAX #15 section 13). */
static void
check_visible(const char *text)
{
	unsigned marks = 0;

	for (const char *p = text; *p; p = g_utf8_next_char(p)) {
		gunichar c = g_utf8_get_char(p);

		g_assert(
		    !(c >= 0x200B && c <= 0x200F) && !(c >= 0x2060 && c <= 0x206F));
		g_assert(!(c >= 0xE0000 && c <= 0xE0FFF) && c != 0xFEFF && c != 0xAD);
		g_assert((c & 0xFFFE) != 0xFFFE);
		marks = g_unichar_combining_class(c) ? marks + 1 : 0;
		g_assert(marks <= 30);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	/* Mostly roomy; the limits of real texts are beyond what a fuzzer types. */
	size_t limit = 1 + 16 * (size_t)fuzz_take_byte(&input);
	g_autoptr(GBytes) bytes = fuzz_take_bytes(&input);
	gsize length;
	const char *contents = g_bytes_get_data(bytes, &length);
	const char *text = length > 0 ? contents : "";
	g_autofree char *valid = g_utf8_make_valid(text, (gssize)length);
	g_autofree char *once = text_normalize(text, length, limit);
	g_autofree char *composed = NULL;

	check_tex(valid);
	check_display(valid);
	check_display(once);
	fuzz_check_line(once, limit);
	check_visible(once);
	composed = g_utf8_normalize(once, -1, G_NORMALIZE_NFC);
	g_assert_cmpstr(once, ==, composed);
	/* TeX that was cut, or that other TeX made, is excepted in text.h. */
	if (!has_tex(valid)) {
		g_autofree char *twice = text_normalize(once, strlen(once), limit);

		g_assert_cmpstr(once, ==, twice);
	}
	return 0;
}
