/*
 * inmail_fixture.c - hand-made results of the parser.
 */
#include "lib/inmail_fixture.h"

struct inmail *
inbox_new(const char *from, const char *subject, const char *text)
{
	struct inmail *mail = inmail_new();

	inbox_add(mail->from, from);
	mail->from_fields = 1;
	g_free(mail->subject);
	mail->subject = g_strdup(subject);
	g_free(mail->message_id);
	mail->message_id = g_strdup("made-up@mail.example.com");
	g_free(mail->text);
	mail->text = g_strdup(text);
	g_free(mail->body);
	mail->body = g_strdup(text);
	mail->source = INMAIL_SOURCE_PLAIN;
	mail->received = 1;
	return mail;
}

void
inbox_mark(struct inmail *mail, const char *name, const char *value)
{
	g_ptr_array_add(mail->marks, inmail_field_new(name, value));
}

void
inbox_add(GPtrArray *list, const char *address)
{
	g_ptr_array_add(list, inmail_address_new(address, NULL));
}

void
inbox_vouch(struct inmail *mail, const char *server, const char *method,
    const char *result, const char *properties)
{
	struct auth_results *field = auth_results_new("made up");

	g_free(field->server);
	field->server = g_ascii_strdown(server, -1);
	g_ptr_array_add(field->results, auth_result_new(method, result, properties));
	g_ptr_array_add(mail->authentications, field);
}
