/*
 * dialogue.c - one SMTP or LMTP transaction, from MAIL to the answer to its dot.
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
		    {"PIPELINING", &extensions->has_pipelining},
		    {"DSN", &extensions->has_dsn},
		};

		for (size_t k = 0; k < G_N_ELEMENTS(known); k++)
			if (strlen(known[k].keyword) == n &&
			    g_ascii_strncasecmp(line, known[k].keyword, n) == 0)
				*known[k].flag = true;
		if (extensions->has_size && !extensions->most_bytes &&
		    g_ascii_strncasecmp(line, "SIZE ", 5) == 0)
			extensions->most_bytes = g_ascii_strtoull(line + 5, NULL, 10);
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
	dialogue->size_bytes = g_bytes_get_size(envelope->message);
	dialogue->data = g_string_sized_new(dialogue->size_bytes + 1024);
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
dialogue_start(
    struct dialogue *dialogue, const struct extensions *extensions, bool needs_reset)
{
	g_assert(dialogue->data);
	dialogue->extensions = *extensions;
	dialogue->given = SMTP_STAGE_AUTH;
	dialogue->awaited = SMTP_STAGE_MAIL;
	dialogue->begins_with_reset = needs_reset;
	dialogue->is_reset_given = false;
	dialogue->is_refused = false;
	dialogue->is_over = false;
	dialogue->is_last = false;
	if (dialogue->needs_smtputf8 && !extensions->has_smtputf8)
		refuse(dialogue, SMTP_STAGE_MAIL, "5.6.7",
		    "the address or header needs SMTPUTF8, "
		    "which the host does not offer");
	else if (dialogue->is_8bit && !extensions->has_8bitmime)
		refuse(dialogue, SMTP_STAGE_MAIL, "5.6.3",
		    "the message needs 8BITMIME, which the host does not offer");
	else if (extensions->most_bytes &&
	         dialogue->size_bytes > extensions->most_bytes)
		refuse(dialogue, SMTP_STAGE_MAIL, "5.3.4",
		    "the message is larger than the host takes");
}

/* RFC 3461 section 4: printable ASCII but "+" and "=" as it is, the rest in hex. */
static void
append_xtext(GString *out, const char *text)
{
	for (; *text; text++) {
		if (*text > ' ' && *text < 0x7f && *text != '+' && *text != '=')
			g_string_append_c(out, *text);
		else
			g_string_append_printf(out, "+%02X", (unsigned char)*text);
	}
}

static void
append_mail(const struct dialogue *dialogue, GString *out)
{
	g_string_append_printf(out, "MAIL FROM:<%s>", dialogue->envelope->sender);
	if (dialogue->extensions.has_size)
		g_string_append_printf(
		    out, " SIZE=%" G_GSIZE_FORMAT, dialogue->size_bytes);
	if (dialogue->is_8bit)
		g_string_append(out, " BODY=8BITMIME");
	if (dialogue->needs_smtputf8)
		g_string_append(out, " SMTPUTF8");
	/* What comes back names the message and not what is in it. */
	if (dialogue->extensions.has_dsn) {
		g_string_append(out, " RET=HDRS ENVID=");
		append_xtext(out, dialogue->envelope->id);
	}
	g_string_append(out, "\r\n");
}

static void
append_rcpt(const struct dialogue *dialogue, GString *out)
{
	const char *recipient = dialogue->envelope->recipient;

	g_string_append_printf(out, "RCPT TO:<%s>", recipient);
	if (dialogue->extensions.has_dsn) {
		g_string_append(out, " NOTIFY=FAILURE");
		if (g_str_is_ascii(recipient)) {
			g_string_append(out, " ORCPT=rfc822;");
			append_xtext(out, recipient);
		}
	}
	g_string_append(out, "\r\n");
}

static void
append_dot(struct dialogue *dialogue, GString *out)
{
	if (dialogue->is_refused) {
		g_string_append(out, ".\r\n");
		return;
	}
	g_string_append_len(out, dialogue->data->str, (gssize)dialogue->data->len);
	g_string_free(g_steal_pointer(&dialogue->data), TRUE);
}

static void
append_stage(struct dialogue *dialogue, enum smtp_stage stage, GString *out)
{
	switch (stage) {
	case SMTP_STAGE_MAIL:
		append_mail(dialogue, out);
		return;
	case SMTP_STAGE_RCPT:
		append_rcpt(dialogue, out);
		return;
	case SMTP_STAGE_DATA:
		g_string_append(out, "DATA\r\n");
		return;
	case SMTP_STAGE_DOT:
		append_dot(dialogue, out);
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

/* How far the commands may run ahead of the replies. */
static enum smtp_stage
get_horizon(const struct dialogue *dialogue)
{
	if (dialogue->extensions.has_pipelining &&
	    dialogue->awaited < SMTP_STAGE_DATA && !dialogue->is_refused)
		return SMTP_STAGE_DATA;
	return dialogue->awaited;
}

bool
dialogue_give_bytes(struct dialogue *dialogue, GString *out)
{
	bool has_given = false;

	if (!dialogue->is_over && dialogue->begins_with_reset) {
		has_given = !dialogue->is_reset_given;
		if (has_given)
			g_string_append(out, "RSET\r\n");
		dialogue->is_reset_given = true;
		if (!dialogue->extensions.has_pipelining)
			return has_given;
	}
	while (!dialogue->is_over && dialogue->given < get_horizon(dialogue)) {
		dialogue->given = (enum smtp_stage)(dialogue->given + 1);
		append_stage(dialogue, dialogue->given, out);
		has_given = true;
	}
	return has_given;
}

/* The transaction is refused: the replies to what was given out with it come yet. */
static void
go_on_refused(struct dialogue *dialogue, const struct reply *reply)
{
	enum smtp_stage stage = dialogue->awaited;

	dialogue->is_refused = true;
	if (reply->code == 421)
		dialogue->is_last = true;
	if (stage < dialogue->given) {
		dialogue->awaited = (enum smtp_stage)(stage + 1);
	} else if (stage == SMTP_STAGE_DATA && reply->code == 354) {
		/* An LMTP host answers once for each recipient: not at all. */
		dialogue->is_last |= dialogue->extensions.is_lmtp;
		dialogue->awaited = SMTP_STAGE_DOT;
	} else {
		dialogue->is_over = true;
	}
	dialogue->is_over |= dialogue->is_last;
}

void
dialogue_take_reply(struct dialogue *dialogue, const struct reply *reply)
{
	enum smtp_stage stage = dialogue->awaited;

	g_assert(!dialogue->is_over);
	if (dialogue->begins_with_reset) {
		dialogue->begins_with_reset = false;
		if (reply->code / 100 != 2)
			dialogue_break(dialogue, true, "RSET was refused");
		return;
	}
	g_assert(dialogue->given >= stage);
	if (dialogue->is_refused) {
		go_on_refused(dialogue, reply);
		return;
	}
	if (stage < SMTP_STAGE_DOT && meaning_is_positive(stage, reply)) {
		dialogue->awaited = (enum smtp_stage)(stage + 1);
		return;
	}
	dialogue_set_result(dialogue->result, stage, reply);
	dialogue->is_last = meaning_find(stage, reply).is_last;
	if (stage < dialogue->given && !dialogue->is_last)
		go_on_refused(dialogue, reply);
	else
		dialogue->is_over = true;
}

void
dialogue_break(struct dialogue *dialogue, bool is_written, const char *why)
{
	enum smtp_stage stage = dialogue->awaited;

	/* The dot is the last thing given out, so it is not at the host yet. */
	if (stage == SMTP_STAGE_DOT && !is_written)
		stage = SMTP_STAGE_DATA;
	if (!dialogue->is_refused)
		dialogue_set_silence(dialogue->result, stage, why);
	dialogue->is_last = true;
	dialogue->is_over = true;
}
