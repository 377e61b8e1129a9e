/*
 * handler_report.c - bounces, complaints and other reports about our mail.
 */
#include <string.h>

#include "service/bounce/bounce.h"
#include "service/delivery/mail_token.h"
#include "service/inbound/autoreply_policy.h"
#include "service/inbound/handler_private.h"
#include "store/mail/digests.h"

/* DKIM domains of feedback loops whose reports need not contain our message. */
static const char *const feedback_domains[] = {"arf.mail.yahoo.com", "microsoft.com",
    "comcastfbl.senderscore.net", "fbl.validity.com", "feedbackloop.yandex.net", NULL};

/* Microsoft signs its users' mail by the same domains: From of JMRP has to match. */
static const char *const jmrp_domains[] = {"hotmail.com", "outlook.com", NULL};
static const char jmrp_from[] = "staff@hotmail.com";

static const char without_token[] = "without a valid token";

/*
 * Find the token of a message that was sent without subaddresses: in the header that a
 * report returns, or in the text of a bounce that is not a report.
 *
 * @return NULL: none; owned by the caller
 */
static char *
find_bounce_token(const struct inmail *mail)
{
	static const char field[] = SUBADDRESS_BOUNCE_FIELD ": ";
	const char *value = inmail_find_field(mail->returned, SUBADDRESS_BOUNCE_FIELD);
	const char *at =
	    value || mail->report || !mail->body ? NULL : strstr(mail->body, field);

	if (at)
		value = at + strlen(field);
	return value ? g_strndup(value, strcspn(value, " \t\r\n")) : NULL;
}

bool
handler_is_report(
    const struct request *request, const struct autoreply_verdict *verdict)
{
	g_autofree char *token =
	    verdict->reason ? find_bounce_token(request->mail) : NULL;

	return token || verdict->kind == SUBADDRESS_BOUNCE ||
	       verdict->kind == SUBADDRESS_FEEDBACK ||
	       request->mail->report == INMAIL_REPORT_DELIVERY ||
	       request->mail->report == INMAIL_REPORT_FEEDBACK;
}

static bool
is_feedback_domain(const struct inmail *mail, const char *domain)
{
	const struct inmail_address *from =
	    mail->from->len == 1 ? mail->from->pdata[0] : NULL;

	return g_strv_contains(feedback_domains, domain) ||
	       (g_strv_contains(jmrp_domains, domain) && from &&
	           g_ascii_strcasecmp(from->address, jmrp_from) == 0);
}

/* Whether our own server vouches for a signature of a known feedback loop. */
static bool
is_from_feedback_loop(const struct request *request)
{
	const GPtrArray *fields = request->mail->authentications;
	const char *id = request->settings->commands_authserv_id;
	const struct auth_results *top = fields->len > 0 ? fields->pdata[0] : NULL;

	if (!*id || !top || g_ascii_strcasecmp(top->server, id) != 0)
		return false;
	for (unsigned i = 0; i < top->results->len; i++) {
		const struct auth_result *result = top->results->pdata[i];
		g_auto(GStrv) words = g_strsplit_set(result->properties, " \t", -1);

		if (strcmp(result->method, "dkim") != 0 ||
		    strcmp(result->result, "pass") != 0)
			continue;
		for (size_t k = 0; words[k]; k++) {
			g_autofree char *word = g_ascii_strdown(words[k], -1);

			if (g_str_has_prefix(word, "header.d=") &&
			    is_feedback_domain(
			        request->mail, word + strlen("header.d=")))
				return true;
		}
	}
	return false;
}

/* Tokens that prove who has sent a report. */
enum report_tokens {
	/* Bounce tokens: only the recipient's server has seen them. */
	TOKENS_SECRET,
	/* All tokens, for feedback loops.  Those in the text of a digest are also known
	 * to everybody to whom it was forwarded, and a Message-ID to all who read a
	 * public reply to it. */
	TOKENS_ANY,
};

/* Find the message or the subscriber of an address with a token. */
static bool
find_by_address(struct request *request, const char *address, enum report_tokens tokens,
    struct mail_token_message *message, GError **error)
{
	const struct mail_token mail_token = {
	    request->store, request->key, request->now};
	const struct own_addresses *own = request->own_addresses;
	pb_auto(subscriber) subscriber = NULL;
	g_autofree char *token = NULL;
	enum subaddress_kind kind;

	if (!subaddress_parse(&own->bounces, address, &kind, &token)) {
		g_clear_pointer(&token, g_free);
		if (!subaddress_parse(&own->commands, address, &kind, &token))
			return true;
	}
	if (kind == SUBADDRESS_BOUNCE)
		return mail_token_find_bounce(&mail_token, token, message, error);
	if (tokens == TOKENS_SECRET)
		return true;
	if (kind == SUBADDRESS_LEAVE &&
	    !mail_token_find_unsubscribe(&mail_token, token, &subscriber, error))
		return false;
	if (kind == SUBADDRESS_REPLY && !mail_token_find_reply(&mail_token, token,
	                                    &subscriber, &message->digest_id, error))
		return false;
	message->subscriber_id = subscriber ? subscriber->id : 0;
	return true;
}

/* A Message-ID contains a MAC and an id: "digest.TOKEN@domain". */
static bool
find_by_message_id(struct request *request, const char *value,
    struct mail_token_message *message, GError **error)
{
	const char *at = strstr(value, "<digest.");
	g_autofree char *token = NULL;

	if (!at)
		return true;
	at += strlen("<digest.");
	token = g_strndup(at, strcspn(at, "@>"));
	return digests_find_by_token(
	    request->store, token, &message->digest_id, &message->subscriber_id, error);
}

static bool
is_found(const struct mail_token_message *message)
{
	return message->subscriber_id || message->digest_id ||
	       message->confirmation_id || message->outbox_id;
}

/* The words of a field that may be addresses. */
static GStrv
split_field(const struct inmail_field *field)
{
	return g_strsplit_set(field->value, " \t<>,;:?\"", -1);
}

/*
 * Find our tokens in the fields of a report or of the message that it returns.  The
 * first one counts: that of a digest shows that it was sent to a former address, the
 * one to unsubscribe does not.
 */
static bool
find_in_fields(struct request *request, const GPtrArray *fields,
    enum report_tokens tokens, struct mail_token_message *message, GError **error)
{
	const struct mail_token mail_token = {
	    request->store, request->key, request->now};

	for (unsigned i = 0; i < fields->len && !is_found(message); i++) {
		const struct inmail_field *field = fields->pdata[i];
		g_auto(GStrv) words = split_field(field);

		if (g_ascii_strcasecmp(field->name, SUBADDRESS_BOUNCE_FIELD) == 0 &&
		    !mail_token_find_bounce(&mail_token, field->value, message, error))
			return false;
		for (size_t k = 0; words[k] && !is_found(message); k++)
			if (strchr(words[k], '@') &&
			    !find_by_address(request, words[k], tokens, message, error))
				return false;
		if (tokens == TOKENS_ANY && !is_found(message) &&
		    g_ascii_strcasecmp(field->name, "Message-ID") == 0 &&
		    !find_by_message_id(request, field->value, message, error))
			return false;
	}
	return true;
}

static bool
find_in_report(struct request *request, enum report_tokens tokens,
    struct mail_token_message *message, GError **error)
{
	const struct inmail *mail = request->mail;

	for (unsigned i = 0; i < mail->groups->len && !is_found(message); i++)
		if (!find_in_fields(
		        request, mail->groups->pdata[i], tokens, message, error))
			return false;
	return is_found(message) ||
	       find_in_fields(request, mail->returned, tokens, message, error);
}

/*
 * Find the message that a report is about, if the report proves that it comes from the
 * recipient's server or from a feedback loop.
 */
static bool
find_message(struct request *request, const struct autoreply_verdict *verdict,
    struct mail_token_message *message, GError **error)
{
	const struct mail_token mail_token = {
	    request->store, request->key, request->now};
	const struct inmail *mail = request->mail;
	const char *envelope =
	    mail->groups->len > 0
	        ? inmail_find_field(mail->groups->pdata[0], "Original-Envelope-Id")
	        : NULL;
	g_autofree char *token = verdict->kind == SUBADDRESS_BOUNCE
	                             ? g_strdup(verdict->token)
	                             : find_bounce_token(mail);

	*message = (struct mail_token_message){0};
	if (token && !mail_token_find_bounce(&mail_token, token, message, error))
		return false;
	if (is_found(message))
		return true;
	if (mail->report == INMAIL_REPORT_DELIVERY)
		return !envelope ||
		       mail_token_find_envelope(&mail_token, envelope, message, error);
	return find_in_report(request, TOKENS_SECRET, message, error) &&
	       (is_found(message) || !is_from_feedback_loop(request) ||
	           find_in_report(request, TOKENS_ANY, message, error));
}

/* Unsubscribe by the first valid token for that in some fields. @param is_done  set */
static bool
leave_by_fields(
    struct request *request, const GPtrArray *fields, bool *is_done, GError **error)
{
	const struct own_addresses *own = request->own_addresses;

	*is_done = false;
	for (unsigned i = 0; i < fields->len && !*is_done; i++) {
		g_auto(GStrv) words = split_field(fields->pdata[i]);

		for (size_t k = 0; words[k] && !*is_done; k++) {
			g_autofree char *token = NULL;
			enum subaddress_kind kind;

			if (subaddress_parse(&own->commands, words[k], &kind, &token) &&
			    kind == SUBADDRESS_LEAVE &&
			    !handler_leave(request, token, "report", is_done, error))
				return false;
		}
	}
	return true;
}

/*
 * Anybody to whom a digest was forwarded can complain about it, as anybody can use its
 * link to unsubscribe: the subscriber gets a notice and can undo it.
 */
static bool
process_unproven(
    struct request *request, const struct bounce_report *report, GError **error)
{
	bool is_done;

	return report->verdict.class != BOUNCE_COMPLAINT ||
	       leave_by_fields(request, request->mail->returned, &is_done, error);
}

/* A confirmation request that cannot be delivered is cancelled. */
static bool
cancel_confirmation(struct request *request, int64_t id,
    const struct bounce_report *report, GError **error)
{
	bool is_final = report->kind == BOUNCE_KIND_BOUNCE &&
	                (report->verdict.class == BOUNCE_DEAD ||
	                    report->verdict.class == BOUNCE_FULL ||
	                    report->verdict.class == BOUNCE_UNKNOWN);

	return !is_final || confirmations_delete(request->store, id, error);
}

static bool
apply_report(struct request *request, const struct mail_token_message *message,
    const struct bounce_report *report, GError **error)
{
	const struct bounce_context context = {
	    .mailer = handler_get_mailer(request),
	    .key = request->key,
	    .catalog = request->catalog,
	};
	const struct bounce_subject subject = {
	    .subscriber_id = message->subscriber_id,
	    .digest_id = message->digest_id,
	    .outbox_id = message->outbox_id,
	};
	enum bounce_effect effect;

	if (!is_found(message)) {
		request->report->reason = without_token;
		return process_unproven(request, report, error);
	}
	if (message->confirmation_id)
		return cancel_confirmation(
		    request, message->confirmation_id, report, error);
	if (!message->subscriber_id)
		return true;
	if (!bounce_record(&context, &subject, report, &effect, error))
		return false;
	request->report->is_changed |= effect != BOUNCE_EFFECT_NONE;
	request->report->is_queued |= effect == BOUNCE_EFFECT_QUEUED;
	return true;
}

bool
handler_process_report(
    struct request *request, const struct autoreply_verdict *verdict, GError **error)
{
	const struct receive_mail *envelope = request->envelope;
	struct inmail mail = *request->mail;
	struct mail_token_message message;
	struct bounce_report *report;
	bool is_ok;

	request->report->outcome = HANDLER_BOUNCED;
	if (!find_message(request, verdict, &message, error))
		return false;
	if (!is_found(&message) && request->mail->report == INMAIL_REPORT_DELIVERY) {
		request->report->reason = without_token;
		return true;
	}
	/* LMTP has the sender in the envelope only. */
	if (!mail.return_path && envelope->sender && !*envelope->sender)
		mail.return_path = (char *)"";
	report = bounce_report_read(&mail);
	request->report->reason =
	    report->kind == BOUNCE_KIND_BOUNCE || report->kind == BOUNCE_KIND_COMPLAINT
	        ? bounce_class_get_name(report->verdict.class)
	        : bounce_kind_get_name(report->kind);
	is_ok = apply_report(request, &message, report, error);
	bounce_report_free(report);
	return is_ok;
}
