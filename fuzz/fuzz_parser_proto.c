/*
 * fuzz_parser_proto.c - decode any output of the parser process.
 */
#include "fuzz.h"
#include "message/parser_proto.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autofree char *copy = g_memdup2(data, size);
	pb_auto(inmail) mail = NULL;
	g_autofree char *refusal = NULL;
	g_autoptr(GError) error = NULL;

	if (!parser_decode(copy ? copy : "", size, &mail, &refusal, &error))
		fuzz_check_error(error);
	else
		g_assert(!mail == !!refusal);
	return 0;
}
