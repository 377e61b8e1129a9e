/*
 * smtp_transaction.c - one SMTP or LMTP transaction, from MAIL to the answer to its
 * dot.
 */
#include "transport/smtp_transaction.h"

#include <string.h>

#include "base/bounds.h"
#include "transport/classify.h"

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
smtp_transaction_set_result(
    struct delivery *result, enum smtp_stage stage, const struct reply *reply)
{
	struct reply_class meaning = classify_reply(stage, reply);

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
smtp_transaction_set_timeout(
    struct delivery *result, enum smtp_stage stage, const char *why)
{
	struct reply_class meaning = classify_timeout(stage);

	delivery_clear(result);
	result->outcome = meaning.outcome;
	result->scope = meaning.scope;
	result->stage = stage;
	result->text =
	    reply_format_printable(why, strlen(why), BOUNDS_REPLY_TEXT_BYTES);
}

/* We know before asking that this message cannot go. */
static void
refuse(struct smtp_transaction *smtp_transaction, enum smtp_stage stage,
    const char *enhanced, const char *why)
{
	struct delivery *result = smtp_transaction->result;

	delivery_clear(result);
	result->outcome = DELIVERY_FAILED;
	result->scope = DELIVERY_SCOPE_MESSAGE;
	result->stage = stage;
	g_strlcpy(result->enhanced, enhanced, sizeof(result->enhanced));
	result->text = g_strdup_printf("%s %s", enhanced, why);
	smtp_transaction->is_over = true;
}

void
smtp_transaction_init(struct smtp_transaction *smtp_transaction,
    const struct envelope *envelope, struct delivery *result)
{
	g_autoptr(GError) error = NULL;

	*smtp_transaction =
	    (struct smtp_transaction){.envelope = envelope, .result = result};
	smtp_transaction->size_bytes = g_bytes_get_size(envelope->message);
	smtp_transaction->data =
	    g_string_sized_new(smtp_transaction->size_bytes + 1024);
	smtp_transaction->is_8bit = envelope_is_8bit(envelope);
	smtp_transaction->needs_smtputf8 = envelope_needs_smtputf8(envelope);
	if (!envelope_check_addresses(envelope, &error))
		refuse(smtp_transaction, SMTP_STAGE_NONE, "5.1.3", error->message);
	else if (!envelope_format_data(envelope, smtp_transaction->data, &error))
		refuse(smtp_transaction, SMTP_STAGE_NONE, "5.6.0", error->message);
}

void
smtp_transaction_clear(struct smtp_transaction *smtp_transaction)
{
	if (smtp_transaction->data)
		g_string_free(smtp_transaction->data, TRUE);
	smtp_transaction->data = NULL;
}

void
smtp_transaction_start(struct smtp_transaction *smtp_transaction,
    const struct extensions *extensions, bool needs_reset)
{
	g_assert(smtp_transaction->data);
	smtp_transaction->extensions = *extensions;
	smtp_transaction->given = SMTP_STAGE_AUTH;
	smtp_transaction->awaited = SMTP_STAGE_MAIL;
	smtp_transaction->begins_with_reset = needs_reset;
	smtp_transaction->is_reset_given = false;
	smtp_transaction->is_refused = false;
	smtp_transaction->is_over = false;
	smtp_transaction->is_last = false;
	if (smtp_transaction->needs_smtputf8 && !extensions->has_smtputf8)
		refuse(smtp_transaction, SMTP_STAGE_MAIL, "5.6.7",
		    "the address or header needs SMTPUTF8, "
		    "which the host does not offer");
	else if (smtp_transaction->is_8bit && !extensions->has_8bitmime)
		refuse(smtp_transaction, SMTP_STAGE_MAIL, "5.6.3",
		    "the message needs 8BITMIME, which the host does not offer");
	else if (extensions->most_bytes &&
	         smtp_transaction->size_bytes > extensions->most_bytes)
		refuse(smtp_transaction, SMTP_STAGE_MAIL, "5.3.4",
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
append_mail(const struct smtp_transaction *smtp_transaction, GString *out)
{
	g_string_append_printf(
	    out, "MAIL FROM:<%s>", smtp_transaction->envelope->sender);
	if (smtp_transaction->extensions.has_size)
		g_string_append_printf(
		    out, " SIZE=%" G_GSIZE_FORMAT, smtp_transaction->size_bytes);
	if (smtp_transaction->is_8bit)
		g_string_append(out, " BODY=8BITMIME");
	if (smtp_transaction->needs_smtputf8)
		g_string_append(out, " SMTPUTF8");
	/* What comes back names the message and not what is in it. */
	if (smtp_transaction->extensions.has_dsn) {
		g_string_append(out, " RET=HDRS ENVID=");
		append_xtext(out, smtp_transaction->envelope->id);
	}
	g_string_append(out, "\r\n");
}

static void
append_rcpt(const struct smtp_transaction *smtp_transaction, GString *out)
{
	const char *recipient = smtp_transaction->envelope->recipient;

	g_string_append_printf(out, "RCPT TO:<%s>", recipient);
	if (smtp_transaction->extensions.has_dsn) {
		g_string_append(out, " NOTIFY=FAILURE");
		if (g_str_is_ascii(recipient)) {
			g_string_append(out, " ORCPT=rfc822;");
			append_xtext(out, recipient);
		}
	}
	g_string_append(out, "\r\n");
}

static void
append_dot(struct smtp_transaction *smtp_transaction, GString *out)
{
	if (smtp_transaction->is_refused) {
		g_string_append(out, ".\r\n");
		return;
	}
	g_string_append_len(
	    out, smtp_transaction->data->str, (gssize)smtp_transaction->data->len);
	g_string_free(g_steal_pointer(&smtp_transaction->data), TRUE);
}

static void
append_stage(
    struct smtp_transaction *smtp_transaction, enum smtp_stage stage, GString *out)
{
	switch (stage) {
	case SMTP_STAGE_MAIL:
		append_mail(smtp_transaction, out);
		return;
	case SMTP_STAGE_RCPT:
		append_rcpt(smtp_transaction, out);
		return;
	case SMTP_STAGE_DATA:
		g_string_append(out, "DATA\r\n");
		return;
	case SMTP_STAGE_DOT:
		append_dot(smtp_transaction, out);
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
get_horizon(const struct smtp_transaction *smtp_transaction)
{
	if (smtp_transaction->extensions.has_pipelining &&
	    smtp_transaction->awaited < SMTP_STAGE_DATA &&
	    !smtp_transaction->is_refused)
		return SMTP_STAGE_DATA;
	return smtp_transaction->awaited;
}

bool
smtp_transaction_give_bytes(struct smtp_transaction *smtp_transaction, GString *out)
{
	bool has_given = false;

	if (!smtp_transaction->is_over && smtp_transaction->begins_with_reset) {
		has_given = !smtp_transaction->is_reset_given;
		if (has_given)
			g_string_append(out, "RSET\r\n");
		smtp_transaction->is_reset_given = true;
		if (!smtp_transaction->extensions.has_pipelining)
			return has_given;
	}
	while (!smtp_transaction->is_over &&
	       smtp_transaction->given < get_horizon(smtp_transaction)) {
		smtp_transaction->given =
		    (enum smtp_stage)(smtp_transaction->given + 1);
		append_stage(smtp_transaction, smtp_transaction->given, out);
		has_given = true;
	}
	return has_given;
}

/* The transaction is refused: the replies to what was given out with it come yet. */
static void
go_on_refused(struct smtp_transaction *smtp_transaction, const struct reply *reply)
{
	enum smtp_stage stage = smtp_transaction->awaited;

	smtp_transaction->is_refused = true;
	if (reply->code == 421)
		smtp_transaction->is_last = true;
	if (stage < smtp_transaction->given) {
		smtp_transaction->awaited = (enum smtp_stage)(stage + 1);
	} else if (stage == SMTP_STAGE_DATA && reply->code == 354) {
		/* An LMTP host answers once for each recipient: not at all. */
		smtp_transaction->is_last |= smtp_transaction->extensions.is_lmtp;
		smtp_transaction->awaited = SMTP_STAGE_DOT;
	} else {
		smtp_transaction->is_over = true;
	}
	smtp_transaction->is_over |= smtp_transaction->is_last;
}

void
smtp_transaction_take_reply(
    struct smtp_transaction *smtp_transaction, const struct reply *reply)
{
	enum smtp_stage stage = smtp_transaction->awaited;

	g_assert(!smtp_transaction->is_over);
	if (smtp_transaction->begins_with_reset) {
		smtp_transaction->begins_with_reset = false;
		if (reply->code / 100 != 2)
			smtp_transaction_break(
			    smtp_transaction, true, "RSET was refused");
		return;
	}
	g_assert(smtp_transaction->given >= stage);
	if (smtp_transaction->is_refused) {
		go_on_refused(smtp_transaction, reply);
		return;
	}
	if (stage < SMTP_STAGE_DOT && classify_is_positive(stage, reply)) {
		smtp_transaction->awaited = (enum smtp_stage)(stage + 1);
		return;
	}
	smtp_transaction_set_result(smtp_transaction->result, stage, reply);
	smtp_transaction->is_last = classify_reply(stage, reply).is_last;
	if (stage < smtp_transaction->given && !smtp_transaction->is_last)
		go_on_refused(smtp_transaction, reply);
	else
		smtp_transaction->is_over = true;
}

void
smtp_transaction_break(
    struct smtp_transaction *smtp_transaction, bool is_written, const char *why)
{
	enum smtp_stage stage = smtp_transaction->awaited;

	/* The dot is the last thing given out, so it is not at the host yet. */
	if (stage == SMTP_STAGE_DOT && !is_written)
		stage = SMTP_STAGE_DATA;
	if (!smtp_transaction->is_refused)
		smtp_transaction_set_timeout(smtp_transaction->result, stage, why);
	smtp_transaction->is_last = true;
	smtp_transaction->is_over = true;
}
