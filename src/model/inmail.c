/*
 * inmail.c - a parsed inbound message.
 */
#include "model/inmail.h"

struct inmail_address *
inmail_address_new(const char *address, const char *name)
{
	struct inmail_address *mailbox = g_new0(struct inmail_address, 1);

	mailbox->address = g_strdup(address);
	mailbox->name = g_strdup(name);
	return mailbox;
}

static void
inmail_address_free(struct inmail_address *mailbox)
{
	g_free(mailbox->address);
	g_free(mailbox->name);
	g_free(mailbox);
}

struct inmail_field *
inmail_field_new(const char *name, const char *value)
{
	struct inmail_field *field = g_new0(struct inmail_field, 1);

	field->name = g_strdup(name);
	field->value = g_strdup(value);
	return field;
}

static void
inmail_field_free(struct inmail_field *field)
{
	g_free(field->name);
	g_free(field->value);
	g_free(field);
}

struct auth_result *
auth_result_new(const char *method, const char *result, const char *properties)
{
	struct auth_result *made = g_new0(struct auth_result, 1);

	made->method = g_strdup(method);
	made->result = g_strdup(result);
	made->properties = g_strdup(properties);
	return made;
}

static void
auth_result_free(struct auth_result *result)
{
	g_free(result->method);
	g_free(result->result);
	g_free(result->properties);
	g_free(result);
}

struct auth_results *
auth_results_new(const char *raw)
{
	struct auth_results *made = g_new0(struct auth_results, 1);

	made->raw = g_strdup(raw);
	made->server = g_strdup("");
	made->results =
	    g_ptr_array_new_with_free_func((GDestroyNotify)auth_result_free);
	return made;
}

static void
auth_results_free(struct auth_results *authentication)
{
	g_free(authentication->raw);
	g_free(authentication->server);
	g_ptr_array_unref(authentication->results);
	g_free(authentication);
}

static GPtrArray *
new_mailboxes(void)
{
	return g_ptr_array_new_with_free_func((GDestroyNotify)inmail_address_free);
}

static GPtrArray *
new_fields(void)
{
	return g_ptr_array_new_with_free_func((GDestroyNotify)inmail_field_free);
}

struct inmail *
inmail_new(void)
{
	struct inmail *mail = g_new0(struct inmail, 1);

	mail->from = new_mailboxes();
	mail->sender = new_mailboxes();
	mail->reply_to = new_mailboxes();
	mail->to = new_mailboxes();
	mail->cc = new_mailboxes();
	mail->subject = g_strdup("");
	mail->in_reply_to = g_ptr_array_new_with_free_func(g_free);
	mail->references = g_ptr_array_new_with_free_func(g_free);
	mail->sent_at = -1;
	mail->marks = new_fields();
	mail->authentications =
	    g_ptr_array_new_with_free_func((GDestroyNotify)auth_results_free);
	mail->text = g_strdup("");
	mail->body = g_strdup("");
	mail->groups =
	    g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
	mail->returned = new_fields();
	mail->works = g_ptr_array_new_with_free_func(g_free);
	return mail;
}

void
inmail_free(struct inmail *mail)
{
	if (!mail)
		return;
	g_ptr_array_unref(mail->from);
	g_ptr_array_unref(mail->sender);
	g_ptr_array_unref(mail->reply_to);
	g_ptr_array_unref(mail->to);
	g_ptr_array_unref(mail->cc);
	g_free(mail->subject);
	g_free(mail->message_id);
	g_ptr_array_unref(mail->in_reply_to);
	g_ptr_array_unref(mail->references);
	g_free(mail->return_path);
	g_free(mail->delivered_to);
	g_free(mail->original_to);
	g_ptr_array_unref(mail->marks);
	g_ptr_array_unref(mail->authentications);
	g_free(mail->text);
	g_free(mail->body);
	g_ptr_array_unref(mail->groups);
	g_ptr_array_unref(mail->returned);
	g_ptr_array_unref(mail->works);
	g_free(mail);
}

GPtrArray *
inmail_add_group(struct inmail *mail)
{
	GPtrArray *group = new_fields();

	g_ptr_array_add(mail->groups, group);
	return group;
}

const char *
inmail_find_field(const GPtrArray *fields, const char *name)
{
	for (guint i = 0; i < fields->len; i++) {
		const struct inmail_field *field = fields->pdata[i];

		if (!g_ascii_strcasecmp(field->name, name))
			return field->value;
	}
	return NULL;
}
