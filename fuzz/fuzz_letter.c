/*
 * fuzz_letter.c - any message, past the scan, through the parser and back.
 *
 * Whatever the reader tells is a letter or a refusal to those who read it.
 */
#include <string.h>

#include "fuzz.h"
#include "letter/reader.h"
#include "mail/letter_parse.h"

static void
check_letter(const struct letter *letter)
{
	g_assert(letter->from_fields >= (letter->from->len > 0));
	g_assert((letter->source == LETTER_SOURCE_NONE) <= (letter->text[0] == '\0'));
	g_assert(letter->report != LETTER_REPORT_NONE || letter->groups->len == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* NUL-terminated by nobody: of just this size. */
	g_autofree char *raw = g_memdup2(data, size);
	pb_auto(reader) reader = reader_new(raw ? raw : "", size, true);
	g_autoptr(GString) out = g_string_new(NULL);
	pb_auto(letter) letter = NULL;
	g_autofree char *refusal = NULL;
	g_autoptr(GError) error = NULL;

	reader_append(out, reader, false);
	if (!letter_parse(out->str, out->len, &letter, &refusal, &error))
		g_error("%s", error->message);
	g_assert(!letter == !!refusal);
	if (letter)
		check_letter(letter);
	return 0;
}
