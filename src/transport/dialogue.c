/*
 * dialogue.c - one SMTP transaction, from MAIL to the answer to its dot.
 */
#include "transport/dialogue.h"

#include <string.h>

#include "base/bounds.h"
#include "transport/meaning.h"

void
extensions_parse(const GPtrArray *hello, struct extensions *extensions)
{
	*extensions = (struct extensions){0};
	for (guint i = 1; i < hello->len; i++) {
		const char *line = g_ptr_array_index(hello, i);
		size_t n = strcspn(line, " \t=");
		const struct {
			const char *keyword;
			bool *flag;
		} known[] = {
		    {"SIZE", &extensions->has_size},
		    {"8BITMIME", &extensions->has_8bitmime},
		    {"SMTPUTF8", &extensions->has_smtputf8},
		};

		for (size_t k = 0; k < G_N_ELEMENTS(known); k++)
			if (strlen(known[k].keyword) == n &&
			    g_ascii_strncasecmp(line, known[k].keyword, n) == 0)
				*known[k].flag = true;
	}
}

void
dialogue_set_result(
    struct delivery *result, enum smtp_stage stage, const struct reply *reply)
{
	struct meaning meaning = meaning_find(stage, reply);

	delivery_clear(result);
	result->outcome = meaning.outcome;
	result->scope = meaning.scope;
	result->is_policy = meaning.is_policy;
	result->needs_operator = meaning.scope == DELIVERY_SCOPE_LOGIN;
	result->stage = stage;
	result->code = reply->code;
	memcpy(result->enhanced, reply->enhanced, sizeof(result->enhanced));
	result->text = g_strdup(reply->text);
}

void
dialogue_set_silence(struct delivery *result, enum smtp_stage stage, const char *why)
{
	struct meaning meaning = meaning_find_silence(stage);

	delivery_clear(result);
	result->outcome = meaning.outcome;
	result->scope = meaning.scope;
	result->stage = stage;
	result->text =
	    reply_format_printable(why, strlen(why), BOUNDS_REPLY_TEXT_BYTES);
}

/* We know before asking that this message cannot go. */
static void
refuse(struct dialogue *dialogue, enum smtp_stage stage, const char *enhanced,
    const char *why)
{
	struct delivery *result = dialogue->result;

	delivery_clear(result);
	result->outcome = DELIVERY_FAILED;
	result->scope = DELIVERY_SCOPE_MESSAGE;
	result->stage = stage;
	g_strlcpy(result->enhanced, enhanced, sizeof(result->enhanced));
	result->text = g_strdup_printf("%s %s", enhanced, why);
	dialogue->is_over = true;
}

void
dialogue_init(
    struct dialogue *dialogue, const struct envelope *envelope, struct delivery *result)
{
	g_autoptr(GError) error = NULL;

	*dialogue = (struct dialogue){.envelope = envelope, .result = result};
	dialogue->data = g_string_sized_new(g_bytes_get_size(envelope->message) + 1024);
	dialogue->is_8bit = envelope_is_8bit(envelope);
	dialogue->needs_smtputf8 = envelope_needs_smtputf8(envelope);
	if (!envelope_check_addresses(envelope, &error))
		refuse(dialogue, SMTP_STAGE_NONE, "5.1.3", error->message);
	else if (!envelope_format_data(envelope, dialogue->data, &error))
		refuse(dialogue, SMTP_STAGE_NONE, "5.6.0", error->message);
}

void
dialogue_clear(struct dialogue *dialogue)
{
	if (dialogue->data)
		g_string_free(dialogue->data, TRUE);
	dialogue->data = NULL;
}

void
dialogue_start(struct dialogue *dialogue, const struct extensions *extensions)
{
	dialogue->extensions = *extensions;
	dialogue->given = SMTP_STAGE_AUTH;
	dialogue->awaited = SMTP_STAGE_MAIL;
	dialogue->is_over = false;
	dialogue->is_last = false;
	if (dialogue->needs_smtputf8 && !extensions->has_smtputf8)
		refuse(dialogue, SMTP_STAGE_MAIL, "5.6.7",
		    "the address or header needs SMTPUTF8, "
		    "which the host does not offer");
	else if (dialogue->is_8bit && !extensions->has_8bitmime)
		refuse(dialogue, SMTP_STAGE_MAIL, "5.6.3",
		    "the message needs 8BITMIME, which the host does not offer");
}

static void
append_mail(const struct dialogue *dialogue, GString *out)
{
	g_string_append_printf(out, "MAIL FROM:<%s>", dialogue->envelope->sender);
	if (dialogue->extensions.has_size)
		g_string_append_printf(out, " SIZE=%" G_GSIZE_FORMAT,
		    g_bytes_get_size(dialogue->envelope->message));
	if (dialogue->is_8bit)
		g_string_append(out, " BODY=8BITMIME");
	if (dialogue->needs_smtputf8)
		g_string_append(out, " SMTPUTF8");
	g_string_append(out, "\r\n");
}

static void
append_stage(const struct dialogue *dialogue, enum smtp_stage stage, GString *out)
{
	switch (stage) {
	case SMTP_STAGE_MAIL:
		append_mail(dialogue, out);
		return;
	case SMTP_STAGE_RCPT:
		g_string_append_printf(
		    out, "RCPT TO:<%s>\r\n", dialogue->envelope->recipient);
		return;
	case SMTP_STAGE_DATA:
		g_string_append(out, "DATA\r\n");
		return;
	case SMTP_STAGE_DOT:
		g_string_append_len(
		    out, dialogue->data->str, (gssize)dialogue->data->len);
		return;
	case SMTP_STAGE_NONE:
	case SMTP_STAGE_CONNECT:
	case SMTP_STAGE_EHLO:
	case SMTP_STAGE_STARTTLS:
	case SMTP_STAGE_AUTH:
		break;
	}
	g_assert_not_reached();
}

bool
dialogue_give_bytes(struct dialogue *dialogue, GString *out)
{
	bool has_given = false;

	while (!dialogue->is_over && dialogue->given < dialogue->awaited) {
		dialogue->given = (enum smtp_stage)(dialogue->given + 1);
		append_stage(dialogue, dialogue->given, out);
		has_given = true;
	}
	return has_given;
}

void
dialogue_take_reply(struct dialogue *dialogue, const struct reply *reply)
{
	enum smtp_stage stage = dialogue->awaited;

	g_assert(!dialogue->is_over && dialogue->given >= stage);
	if (stage < SMTP_STAGE_DOT && meaning_is_positive(stage, reply)) {
		dialogue->awaited = (enum smtp_stage)(stage + 1);
		return;
	}
	dialogue_set_result(dialogue->result, stage, reply);
	dialogue->is_last = meaning_find(stage, reply).is_last;
	dialogue->is_over = true;
}

void
dialogue_break(struct dialogue *dialogue, bool is_written, const char *why)
{
	enum smtp_stage stage = dialogue->awaited;

	/* The dot is the last thing given out, so it is not at the host yet. */
	if (stage == SMTP_STAGE_DOT && !is_written)
		stage = SMTP_STAGE_DATA;
	dialogue_set_silence(dialogue->result, stage, why);
	dialogue->is_last = true;
	dialogue->is_over = true;
}
