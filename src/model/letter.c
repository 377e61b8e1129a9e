/*
 * letter.c - one inbound message, as its reader understood it.
 */
#include "model/letter.h"

struct letter_mailbox *
letter_mailbox_new(const char *address, const char *name)
{
	struct letter_mailbox *mailbox = g_new0(struct letter_mailbox, 1);

	mailbox->address = g_strdup(address);
	mailbox->name = g_strdup(name);
	return mailbox;
}

void
letter_mailbox_free(struct letter_mailbox *mailbox)
{
	if (!mailbox)
		return;
	g_free(mailbox->address);
	g_free(mailbox->name);
	g_free(mailbox);
}

struct letter_field *
letter_field_new(const char *name, const char *value)
{
	struct letter_field *field = g_new0(struct letter_field, 1);

	field->name = g_strdup(name);
	field->value = g_strdup(value);
	return field;
}

void
letter_field_free(struct letter_field *field)
{
	if (!field)
		return;
	g_free(field->name);
	g_free(field->value);
	g_free(field);
}

struct letter_result *
letter_result_new(const char *method, const char *result, const char *properties)
{
	struct letter_result *made = g_new0(struct letter_result, 1);

	made->method = g_strdup(method);
	made->result = g_strdup(result);
	made->properties = g_strdup(properties);
	return made;
}

void
letter_result_free(struct letter_result *result)
{
	if (!result)
		return;
	g_free(result->method);
	g_free(result->result);
	g_free(result->properties);
	g_free(result);
}

struct letter_authentication *
letter_authentication_new(const char *raw)
{
	struct letter_authentication *made = g_new0(struct letter_authentication, 1);

	made->raw = g_strdup(raw);
	made->server = g_strdup("");
	made->results =
	    g_ptr_array_new_with_free_func((GDestroyNotify)letter_result_free);
	return made;
}

void
letter_authentication_free(struct letter_authentication *authentication)
{
	if (!authentication)
		return;
	g_free(authentication->raw);
	g_free(authentication->server);
	g_ptr_array_unref(authentication->results);
	g_free(authentication);
}

static GPtrArray *
new_mailboxes(void)
{
	return g_ptr_array_new_with_free_func((GDestroyNotify)letter_mailbox_free);
}

static GPtrArray *
new_fields(void)
{
	return g_ptr_array_new_with_free_func((GDestroyNotify)letter_field_free);
}

struct letter *
letter_new(void)
{
	struct letter *letter = g_new0(struct letter, 1);

	letter->from = new_mailboxes();
	letter->sender = new_mailboxes();
	letter->reply_to = new_mailboxes();
	letter->to = new_mailboxes();
	letter->cc = new_mailboxes();
	letter->subject = g_strdup("");
	letter->in_reply_to = g_ptr_array_new_with_free_func(g_free);
	letter->references = g_ptr_array_new_with_free_func(g_free);
	letter->sent_at = -1;
	letter->marks = new_fields();
	letter->authentications =
	    g_ptr_array_new_with_free_func((GDestroyNotify)letter_authentication_free);
	letter->text = g_strdup("");
	letter->body = g_strdup("");
	letter->groups =
	    g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
	letter->returned = new_fields();
	return letter;
}

void
letter_free(struct letter *letter)
{
	if (!letter)
		return;
	g_ptr_array_unref(letter->from);
	g_ptr_array_unref(letter->sender);
	g_ptr_array_unref(letter->reply_to);
	g_ptr_array_unref(letter->to);
	g_ptr_array_unref(letter->cc);
	g_free(letter->subject);
	g_free(letter->message_id);
	g_ptr_array_unref(letter->in_reply_to);
	g_ptr_array_unref(letter->references);
	g_free(letter->return_path);
	g_free(letter->delivered_to);
	g_free(letter->original_to);
	g_ptr_array_unref(letter->marks);
	g_ptr_array_unref(letter->authentications);
	g_free(letter->text);
	g_free(letter->body);
	g_ptr_array_unref(letter->groups);
	g_ptr_array_unref(letter->returned);
	g_free(letter);
}

GPtrArray *
letter_add_group(struct letter *letter)
{
	GPtrArray *group = new_fields();

	g_ptr_array_add(letter->groups, group);
	return group;
}

const char *
letter_find_field(const GPtrArray *fields, const char *name)
{
	for (guint i = 0; i < fields->len; i++) {
		const struct letter_field *field = fields->pdata[i];

		if (!g_ascii_strcasecmp(field->name, name))
			return field->value;
	}
	return NULL;
}
