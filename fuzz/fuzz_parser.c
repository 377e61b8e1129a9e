/*
 * fuzz_parser.c - prescan and parse any message, and decode the result.
 *
 * The result of the parser is a mail or a refusal for its caller.
 */
#include <string.h>

#include "fuzz.h"
#include "message/parser_proto.h"
#include "parser/mime_parser.h"

static void
check_mail(const struct inmail *mail)
{
	g_assert(mail->from_fields >= (mail->from->len > 0));
	g_assert((mail->source == INMAIL_SOURCE_NONE) <= (mail->text[0] == '\0'));
	g_assert(mail->report != INMAIL_REPORT_NONE || mail->groups->len == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Exact size without a NUL, so that sanitizers detect reads beyond it. */
	g_autofree char *raw = g_memdup2(data, size);
	pb_auto(mime_parser) reader = mime_parser_new(raw ? raw : "", size, true);
	g_autoptr(GVariant) out = mime_parser_read(reader, false);
	pb_auto(inmail) mail = NULL;
	g_autofree char *refusal = NULL;
	g_autoptr(GError) error = NULL;

	if (!parser_decode(g_variant_get_data(out), g_variant_get_size(out), &mail,
	        &refusal, &error))
		g_error("%s", error->message);
	g_assert(!mail == !!refusal);
	if (mail)
		check_mail(mail);
	return 0;
}
