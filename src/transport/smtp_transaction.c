/*
 * smtp_transaction.c - one SMTP or LMTP transaction, from MAIL to the reply to the dot.
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
		if (extensions->has_size && !extensions->max_bytes &&
		    g_ascii_strncasecmp(line, "SIZE ", 5) == 0)
			extensions->max_bytes = g_ascii_strtoull(line + 5, NULL, 10);
	}
}

void
smtp_transaction_set_result(
    struct delivery *result, enum smtp_stage stage, const struct reply *reply)
{
	struct reply_class class = classify_reply(stage, reply);

	delivery_clear(result);
	result->outcome = class.outcome;
	result->scope = class.scope;
	result->is_policy = class.is_policy;
	result->stage = stage;
	result->code = reply->code;
	memcpy(result->enhanced, reply->enhanced, sizeof(result->enhanced));
	result->text = g_strdup(reply->text);
}

void
smtp_transaction_set_timeout(
    struct delivery *result, enum smtp_stage stage, const char *why)
{
	struct reply_class class = classify_timeout(stage);

	delivery_clear(result);
	result->outcome = class.outcome;
	result->scope = class.scope;
	result->stage = stage;
	result->text =
	    reply_format_printable(why, strlen(why), BOUNDS_REPLY_TEXT_BYTES);
}

/* Fail without asking the host. */
static void
refuse(struct smtp_transaction *transaction, enum smtp_stage stage,
    const char *enhanced, const char *why)
{
	struct delivery *result = transaction->result;

	delivery_clear(result);
	result->outcome = DELIVERY_FAILED;
	result->scope = DELIVERY_SCOPE_MESSAGE;
	result->stage = stage;
	g_strlcpy(result->enhanced, enhanced, sizeof(result->enhanced));
	result->text = g_strdup_printf("%s %s", enhanced, why);
	transaction->is_over = true;
}

void
smtp_transaction_init(struct smtp_transaction *transaction,
    const struct envelope *envelope, struct delivery *result)
{
	g_autoptr(GError) error = NULL;

	*transaction =
	    (struct smtp_transaction){.envelope = envelope, .result = result};
	transaction->size_bytes = g_bytes_get_size(envelope->message);
	transaction->needs_smtputf8 = envelope_needs_smtputf8(envelope);
	if (!envelope_check_addresses(envelope, &error))
		refuse(transaction, SMTP_STAGE_NONE, "5.1.3", error->message);
	else if (!envelope_check_message(envelope, &transaction->is_8bit, &error))
		refuse(transaction, SMTP_STAGE_NONE, "5.6.0", error->message);
}

void
smtp_transaction_start(struct smtp_transaction *transaction,
    const struct extensions *extensions, bool needs_reset)
{
	g_assert(transaction->envelope->message);
	transaction->extensions = *extensions;
	transaction->written = SMTP_STAGE_AUTH;
	transaction->awaited = SMTP_STAGE_MAIL;
	transaction->begins_with_reset = needs_reset;
	transaction->is_reset_written = false;
	transaction->is_refused = false;
	transaction->is_over = false;
	transaction->is_last = false;
	if (transaction->needs_smtputf8 && !extensions->has_smtputf8)
		refuse(transaction, SMTP_STAGE_MAIL, "5.6.7",
		    "address or header needs SMTPUTF8, "
		    "which the host does not support");
	else if (transaction->is_8bit && !extensions->has_8bitmime)
		refuse(transaction, SMTP_STAGE_MAIL, "5.6.3",
		    "message needs 8BITMIME, which the host does not support");
	else if (extensions->max_bytes &&
	         transaction->size_bytes > extensions->max_bytes)
		refuse(transaction, SMTP_STAGE_MAIL, "5.3.4",
		    "message exceeds the host's size limit");
}

/* xtext (RFC 3461 section 4). */
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
append_mail(const struct smtp_transaction *transaction, GString *out)
{
	g_string_append(out, "MAIL FROM:<");
	g_string_append(out, transaction->envelope->sender);
	g_string_append(out, ">");
	if (transaction->extensions.has_size)
		g_string_append_printf(
		    out, " SIZE=%" G_GSIZE_FORMAT, transaction->size_bytes);
	if (transaction->is_8bit)
		g_string_append(out, " BODY=8BITMIME");
	if (transaction->needs_smtputf8)
		g_string_append(out, " SMTPUTF8");
	/* DSNs identify the message but do not contain it. */
	if (transaction->extensions.has_dsn) {
		g_string_append(out, " RET=HDRS ENVID=");
		append_xtext(out, transaction->envelope->id);
	}
	g_string_append(out, "\r\n");
}

static void
append_rcpt(const struct smtp_transaction *transaction, GString *out)
{
	const char *recipient = transaction->envelope->recipient;

	g_string_append(out, "RCPT TO:<");
	g_string_append(out, recipient);
	g_string_append(out, ">");
	if (transaction->extensions.has_dsn) {
		g_string_append(out, " NOTIFY=FAILURE");
		if (g_str_is_ascii(recipient)) {
			g_string_append(out, " ORCPT=rfc822;");
			append_xtext(out, recipient);
		}
	}
	g_string_append(out, "\r\n");
}

static void
append_dot(const struct smtp_transaction *transaction, GString *out)
{
	if (transaction->is_refused)
		g_string_append(out, ".\r\n");
	else
		envelope_append_data(transaction->envelope, out);
}

static void
append_stage(struct smtp_transaction *transaction, enum smtp_stage stage, GString *out)
{
	switch (stage) {
	case SMTP_STAGE_MAIL:
		append_mail(transaction, out);
		return;
	case SMTP_STAGE_RCPT:
		append_rcpt(transaction, out);
		return;
	case SMTP_STAGE_DATA:
		g_string_append(out, "DATA\r\n");
		return;
	case SMTP_STAGE_DOT:
		append_dot(transaction, out);
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

/* @return last stage that may be written now */
static enum smtp_stage
get_horizon(const struct smtp_transaction *transaction)
{
	if (transaction->extensions.has_pipelining &&
	    transaction->awaited < SMTP_STAGE_DATA && !transaction->is_refused)
		return SMTP_STAGE_DATA;
	return transaction->awaited;
}

bool
smtp_transaction_write(struct smtp_transaction *transaction, GString *out)
{
	bool has_written = false;

	if (!transaction->is_over && transaction->begins_with_reset) {
		has_written = !transaction->is_reset_written;
		if (has_written)
			g_string_append(out, "RSET\r\n");
		transaction->is_reset_written = true;
		if (!transaction->extensions.has_pipelining)
			return has_written;
	}
	while (
	    !transaction->is_over && transaction->written < get_horizon(transaction)) {
		transaction->written = (enum smtp_stage)(transaction->written + 1);
		append_stage(transaction, transaction->written, out);
		has_written = true;
	}
	return has_written;
}

/* After a rejection, process the remaining replies of the group. */
static void
finish_rejected(struct smtp_transaction *transaction, const struct reply *reply)
{
	enum smtp_stage stage = transaction->awaited;

	transaction->is_refused = true;
	if (reply->code == 421)
		transaction->is_last = true;
	if (stage < transaction->written) {
		transaction->awaited = (enum smtp_stage)(stage + 1);
	} else if (stage == SMTP_STAGE_DATA && reply->code == 354) {
		/* LMTP replies to the dot once per recipient, here not at all. */
		transaction->is_last |= transaction->extensions.is_lmtp;
		transaction->awaited = SMTP_STAGE_DOT;
	} else {
		transaction->is_over = true;
	}
	transaction->is_over |= transaction->is_last;
}

void
smtp_transaction_take_reply(
    struct smtp_transaction *transaction, const struct reply *reply)
{
	enum smtp_stage stage = transaction->awaited;

	g_assert(!transaction->is_over);
	if (transaction->begins_with_reset) {
		transaction->begins_with_reset = false;
		if (reply->code / 100 != 2)
			smtp_transaction_break(transaction, true, "RSET was refused");
		return;
	}
	g_assert(transaction->written >= stage);
	if (transaction->is_refused) {
		finish_rejected(transaction, reply);
		return;
	}
	if (stage < SMTP_STAGE_DOT && classify_is_positive(stage, reply)) {
		transaction->awaited = (enum smtp_stage)(stage + 1);
		return;
	}
	smtp_transaction_set_result(transaction->result, stage, reply);
	transaction->is_last = classify_reply(stage, reply).is_last;
	if (stage < transaction->written && !transaction->is_last)
		finish_rejected(transaction, reply);
	else
		transaction->is_over = true;
}

void
smtp_transaction_break(
    struct smtp_transaction *transaction, bool is_written, const char *why)
{
	enum smtp_stage stage = transaction->awaited;

	/* The dot is written last, so the host has not received it yet. */
	if (stage == SMTP_STAGE_DOT && !is_written)
		stage = SMTP_STAGE_DATA;
	if (!transaction->is_refused)
		smtp_transaction_set_timeout(transaction->result, stage, why);
	transaction->is_last = true;
	transaction->is_over = true;
}

void
smtp_transaction_withdraw(struct smtp_transaction *transaction)
{
	struct delivery *result = transaction->result;

	delivery_clear(result);
	result->outcome = DELIVERY_DEFERRED;
	result->scope = DELIVERY_SCOPE_MESSAGE;
	result->stage = SMTP_STAGE_DATA;
	result->text = g_strdup("withdrawn before its content was written");
	transaction->is_last = true;
	transaction->is_over = true;
}
