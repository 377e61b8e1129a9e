/*
 * fuzz_letter_wire.c - anything that a reader of letters may say.
 */
#include "fuzz.h"
#include "mail/letter_parse.h"

static void
parse(const char *data, size_t size)
{
	g_autofree char *copy = g_memdup2(data, size);
	pb_auto(letter) letter = NULL;
	g_autofree char *refusal = NULL;
	g_autoptr(GError) error = NULL;

	if (!letter_parse(copy ? copy : "", size, &letter, &refusal, &error))
		fuzz_check_error(error);
	else
		g_assert(!letter == !!refusal);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(GString) begun = g_string_new("paperboy-letter 1\n");

	parse((const char *)data, size);
	g_string_append_len(begun, (const char *)data, (gssize)size);
	parse(begun->str, begun->len);
	g_string_append(begun, "end 0\n\n");
	parse(begun->str, begun->len);
	return 0;
}
