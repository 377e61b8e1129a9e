/*
 * letters.c - letters as their reader would have told them, made by hand.
 */
#include "lib/letters.h"

struct letter *
letters_new(const char *from, const char *subject, const char *text)
{
	struct letter *letter = letter_new();

	letters_add(letter->from, from);
	letter->from_fields = 1;
	g_free(letter->subject);
	letter->subject = g_strdup(subject);
	g_free(letter->message_id);
	letter->message_id = g_strdup("made-up@mail.example.com");
	g_free(letter->text);
	letter->text = g_strdup(text);
	g_free(letter->body);
	letter->body = g_strdup(text);
	letter->source = LETTER_SOURCE_PLAIN;
	letter->received = 1;
	return letter;
}

void
letters_mark(struct letter *letter, const char *name, const char *value)
{
	g_ptr_array_add(letter->marks, letter_field_new(name, value));
}

void
letters_add(GPtrArray *list, const char *address)
{
	g_ptr_array_add(list, letter_mailbox_new(address, NULL));
}

void
letters_vouch(struct letter *letter, const char *server, const char *method,
    const char *result, const char *properties)
{
	struct letter_authentication *field = letter_authentication_new("made up");

	g_free(field->server);
	field->server = g_ascii_strdown(server, -1);
	g_ptr_array_add(field->results, letter_result_new(method, result, properties));
	g_ptr_array_add(letter->authentications, field);
}
