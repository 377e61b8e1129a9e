/*
 * handler.c - process an inbound message, with one reply at most.
 */
#include "service/inbound/handler.h"

#include <string.h>

#include "base/zone.h"
#include "service/command/command.h"
#include "service/delivery/mail_token.h"
#include "service/inbound/autoreply_policy.h"
#include "service/inbound/check_mail.h"
#include "service/inbound/handler_private.h"
#include "service/inbound/rate_limit.h"
#include "service/people/profile.h"
#include "store/subscriber/proposals.h"

/* Duration of a pause by its address; digests say so. */
#define PAUSE_DAYS 14

/* ---- commands ---- */

/* Whether a mail answers the one that proposed a corrected command. */
static bool
answers_suggestion(struct request *request, const struct confirmation *confirmation,
    bool *answers, GError **error)
{
	g_autofree char *id = handler_format_confirm_id(confirmation);
	g_autofree char *message = g_strconcat("letter.", id, NULL);
	g_autofree char *answered = NULL;

	if (!request_find_answered(request, &answered, error))
		return false;
	*answers = g_strcmp0(answered, message) == 0;
	return answered || !request->subscriber ||
	       proposals_is_last_mail(request->store, request->subscriber->id,
	           confirmation->made_at, answers, error);
}

/* A plain "yes" accepts the suggestion in the message it replies to. */
static bool
accept_suggestion(struct request *request, bool *is_done, GError **error)
{
	g_autofree struct confirmation *confirmation = NULL;

	*is_done = false;
	if (!confirmations_find_pending(request->store, CONFIRMATION_CONFIRM,
	        request->address_key, request->now, &confirmation, error))
		return false;
	if (!confirmation ||
	    handler_match_consent(request, confirmation, "") != CONSENT_YES)
		return true;
	return answers_suggestion(request, confirmation, is_done, error) &&
	       (!*is_done || handler_apply_confirmation(request, confirmation, error));
}

/*
 * Accept the suggestion of a corrected command, or find the answer to proposals.
 *
 * @param answer  set: a command, or NULL
 */
static bool
accept_or_answer(struct request *request, char **answer, bool *is_done, GError **error)
{
	enum consent consent = handler_match_consent(request, NULL, "");
	g_autofree char *found = NULL;
	bool has_numbers, has_open;

	*is_done = false;
	found = command_find_answer(
	    request->mail, consent == CONSENT_NO ? "no" : "yes", &has_numbers);
	if (request->has_token && !has_numbers &&
	    !accept_suggestion(request, is_done, error))
		return false;
	if (*is_done || (consent != CONSENT_YES && consent != CONSENT_NO))
		return true;
	if (!command_has_open_proposal(request, &has_open, error))
		return false;
	if (has_open)
		*answer = g_steal_pointer(&found);
	return true;
}

/*
 * Process as from the address in From, which the MTA's DMARC result or a token proves.
 * A token proves nothing if DMARC failed, nor does the token of a Message-ID alone.
 *
 * @param key  address key that the token belongs to, or NULL
 */
static bool
process_sender(struct request *request, const struct autoreply_verdict *verdict,
    const char *key, GError **error)
{
	g_autofree char *answer = NULL;
	enum handler_mail may_mail;
	bool is_own, is_done;

	if (!handler_set_requester(request, verdict->address, &may_mail, error))
		return false;
	if (may_mail == HANDLER_MAIL_NONE) {
		handler_drop(request, HANDLER_IGNORED, "suppressed");
		return true;
	}
	request->name = verdict->name;
	is_own = key && strcmp(key, request->address_key) == 0;
	request->has_token = is_own && !verdict->is_failed &&
	                     (!verdict->is_message_id || verdict->is_aligned);
	request->is_proven = request->has_token || verdict->is_verified;
	if (!is_own)
		request->digest_id = 0;
	if (!handler_record_request(request, error))
		return false;
	if (is_own && !request->verb) {
		if (!accept_or_answer(request, &answer, &is_done, error))
			return false;
		if (is_done)
			return true;
		request->verb = answer;
	}
	is_done = handler_run_commands(request, error);
	if (answer)
		request->verb = NULL;
	return is_done;
}

static bool
process_verb(struct request *request, const struct autoreply_verdict *verdict,
    const char *verb, GError **error)
{
	request->verb = verb;
	return process_sender(request, verdict, NULL, error);
}

/* ---- addresses with a token ---- */

/* Find the subscriber whom the selected target of kind SUBADDRESS_REPLY identifies. */
static bool
find_reply(const struct request *request, const struct autoreply_verdict *verdict,
    struct subscriber **subscriber, int64_t *digest_id, GError **error)
{
	const struct mail_token mail_token = {
	    request->store, request->key, request->now};

	return verdict->is_message_id
	           ? mail_token_find_parent(
	                 &mail_token, verdict->token, subscriber, digest_id, error)
	           : mail_token_find_reply(
	                 &mail_token, verdict->token, subscriber, digest_id, error);
}

static bool
process_reply(
    struct request *request, const struct autoreply_verdict *verdict, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;

	return find_reply(request, verdict, &subscriber, &request->digest_id, error) &&
	       process_sender(request, verdict,
	           subscriber ? subscriber->address_key : NULL, error);
}

static bool
process_confirm(
    struct request *request, const struct autoreply_verdict *verdict, GError **error)
{
	g_autofree struct confirmation *confirmation = NULL;

	if (!handler_find_confirmation(request, verdict->token,
	        HANDLER_CONFIRM_PURPOSES, &confirmation, error))
		return false;
	if (confirmation)
		return handler_process_confirmation(
		    request, confirmation, verdict->token, error);
	switch (handler_match_consent(request, NULL, verdict->token)) {
	case CONSENT_NO:
	case CONSENT_AUTOMATIC:
		handler_drop(request, HANDLER_IGNORED, "declined");
		return true;
	case CONSENT_YES:
	case CONSENT_UNCLEAR:
		break;
	}
	/* `confirm` replies that the token is invalid. */
	return process_verb(request, verdict, "confirm", error);
}

static void
process_check_mail(struct request *request, const char *token)
{
	g_autofree char *found = check_mail_format(
	    request->mail, token, request->settings->commands_authserv_id);

	request->report->outcome = HANDLER_CHECK_MAIL;
	g_strlcpy(request->report->check, found, HANDLER_CHECK_BYTES);
}

/* ---- mail to the owner ---- */

static bool
forward_to_owner(struct request *request, const char *sender, GError **error)
{
	struct system_mailer mailer = handler_get_mailer(request);
	const char *body = request->mail->body ? request->mail->body : "(no text)";
	g_autofree char *subject =
	    g_strdup_printf("For the owner: %s", request->mail->subject);
	g_autofree char *text =
	    g_strdup_printf("%s wrote to the owner of %s.\n"
	                    "A reply to this message goes to the sender.\n\n%s\n",
	        sender, request->commands_address, body);
	const struct system_mail mail = {
	    .kind = OUTBOX_NOTICE,
	    .recipient = request->settings->mail_owner,
	    .sender = "",
	    .reply_to = sender,
	    .subject = subject,
	    .text = text,
	};
	const char *reason;
	int64_t id;

	if (!rate_limit_check(request, RATE_CASE_OWNER, sender, &reason, error))
		return false;
	if (reason) {
		handler_drop(request, HANDLER_LIMITED, reason);
		return true;
	}
	request->report->outcome = HANDLER_FORWARDED;
	request->report->is_queued = true;
	return system_mail_send(&mailer, &mail, &id, error) &&
	       rate_limit_count(request, RATE_CASE_OWNER, sender, error);
}

/* ---- dispatch by address ---- */

/* Kinds whose request is in the address; those of others is in the message. */
static const bool is_in_address[] = {
    [SUBADDRESS_LEAVE] = true,
    [SUBADDRESS_PAUSE] = true,
    [SUBADDRESS_WEEKLY] = true,
    [SUBADDRESS_FEWER] = true,
    [SUBADDRESS_UNSUBSCRIBE] = true,
    [SUBADDRESS_HELP] = true,
    [SUBADDRESS_UNKNOWN] = true,
};

static bool
process_personal(
    struct request *request, const struct autoreply_verdict *verdict, GError **error)
{
	if (request->envelope->full_size && !is_in_address[verdict->kind])
		return process_sender(request, verdict, NULL, error);
	switch (verdict->kind) {
	case SUBADDRESS_CONFIRM:
		return process_confirm(request, verdict, error);
	case SUBADDRESS_REPLY:
		return process_reply(request, verdict, error);
	case SUBADDRESS_PAUSE:
		return handler_reduce(
		    request, verdict->token, HANDLER_REDUCE_PAUSE, PAUSE_DAYS, error);
	case SUBADDRESS_WEEKLY:
		return handler_reduce(
		    request, verdict->token, HANDLER_REDUCE_WEEKLY, 0, error);
	case SUBADDRESS_FEWER:
		return handler_reduce(
		    request, verdict->token, HANDLER_REDUCE_FEWER, 0, error);
	case SUBADDRESS_SUBSCRIBE:
		return process_verb(request, verdict, "subscribe", error);
	case SUBADDRESS_LEAVE: /* with an invalid token */
	case SUBADDRESS_UNSUBSCRIBE:
		return process_verb(request, verdict, "unsubscribe", error);
	case SUBADDRESS_HELP:
		return process_verb(request, verdict, "help", error);
	case SUBADDRESS_OWNER:
		return forward_to_owner(request, verdict->address, error);
	case SUBADDRESS_UNKNOWN:
		/* LMTP rejects it. */
		handler_drop(request, HANDLER_IGNORED, "unknown-address");
		return true;
	case SUBADDRESS_COMMANDS:
	case SUBADDRESS_FEEDBACK:
	case SUBADDRESS_BOUNCE:
	case SUBADDRESS_CHECK:
		break;
	}
	return process_sender(request, verdict, NULL, error);
}

static bool
process_target(
    struct request *request, const struct autoreply_verdict *verdict, GError **error)
{
	bool is_done = false;

	if (handler_is_report(request, verdict))
		return handler_process_report(request, verdict, error);
	if (verdict->kind == SUBADDRESS_CHECK) {
		process_check_mail(request, verdict->token);
		return true;
	}
	if (verdict->kind == SUBADDRESS_LEAVE &&
	    !handler_leave(request, verdict->token, verdict->reason, &is_done, error))
		return false;
	if (is_done)
		return true;
	if (verdict->reason) {
		handler_drop(request, HANDLER_IGNORED, verdict->reason);
		return true;
	}
	return process_personal(request, verdict, error);
}

/* Whether the reply token of the selected target belongs to the sender. */
static bool
is_own_reply(struct request *request, const struct autoreply_verdict *verdict,
    bool *is_own, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	int64_t digest_id;

	if (!find_reply(request, verdict, &subscriber, &digest_id, error))
		return false;
	*is_own = subscriber && g_strcmp0(subscriber->address_key, verdict->key) == 0;
	return true;
}

/*
 * Commands run once for a message: of several reply tokens the sender's counts, and
 * none beside a confirmation.
 *
 * @param reply  set: index of the target of kind SUBADDRESS_REPLY, or -1
 */
static bool
choose_reply(struct request *request, struct autoreply_verdict *verdict, int *reply,
    GError **error)
{
	bool is_own = false;

	*reply = -1;
	for (unsigned i = 0; i < verdict->targets->len && !is_own; i++) {
		autoreply_select(verdict, i);
		if (verdict->kind == SUBADDRESS_CONFIRM) {
			*reply = -1;
			return true;
		}
		if (verdict->kind != SUBADDRESS_REPLY)
			continue;
		if (!is_own_reply(request, verdict, &is_own, error))
			return false;
		if (is_own || *reply < 0)
			*reply = (int)i;
	}
	return true;
}

/* A message may have several of our addresses as recipients. */
static bool
process_targets(
    struct request *request, struct autoreply_verdict *verdict, GError **error)
{
	struct handler_report *report = request->report;
	int reply;

	if (!choose_reply(request, verdict, &reply, error))
		return false;
	for (unsigned i = 0; i < verdict->targets->len; i++) {
		const struct handler_report before = *report;
		bool is_ok;

		autoreply_select(verdict, i);
		if (verdict->kind == SUBADDRESS_REPLY && (int)i != reply)
			continue;
		is_ok = process_target(request, verdict, error);
		request_clear(request);
		if (!is_ok)
			return false;
		/* The outcome is that of commands that ran, not of ignored ones. */
		if (report->outcome <= HANDLER_LIMITED &&
		    before.outcome > HANDLER_LIMITED) {
			report->outcome = before.outcome;
			report->reason = before.reason;
		}
	}
	return true;
}

static void
check_policy(const struct handler_options *options, const struct inmail *mail,
    const struct receive_mail *envelope, struct autoreply_verdict *verdict)
{
	const struct own_addresses *own_addresses = options->own_addresses;
	const struct autoreply_settings settings = {
	    .base = &own_addresses->commands,
	    .bounces = &own_addresses->bounces,
	    .from = options->settings->mail_from,
	    .message_domain = own_addresses->domain,
	    .authserv_id = options->settings->commands_authserv_id,
	};

	autoreply_check(&settings, mail, envelope, verdict);
}

void
handler_request_init(struct request *request, struct store *store,
    const struct handler_options *options, const char *help, const char *actor,
    struct handler_report *report)
{
	g_assert(options->own_addresses->has_commands);
	*request = (struct request){
	    .store = store,
	    .settings = options->settings,
	    .own_addresses = options->own_addresses,
	    .sources = options->sources,
	    .catalog = options->phrases,
	    .renderer = options->renderer,
	    .key = options->key,
	    .random = options->random,
	    .now = options->now,
	    .commands_address = options->own_addresses->commands.address.text,
	    .help_address = help,
	    .run_line = command_run_line,
	    .actor = actor,
	    .report = report,
	};
}

bool
handler_run(struct store *store, const struct handler_options *options,
    const struct inmail *mail, const struct receive_mail *envelope,
    struct handler_report *report, GError **error)
{
	g_autofree char *help =
	    subaddress_format(&options->own_addresses->commands, SUBADDRESS_HELP, NULL);
	struct autoreply_verdict verdict = {0};
	struct handler_report made = {0};
	struct inmail untagged = *mail;
	struct request request;
	bool is_ok;

	handler_request_init(&request, store, options, help, "mail", &made);
	request.envelope = envelope;
	request.mail = mail;
	check_policy(options, mail, envelope, &verdict);
	/* As if the token had been in the address. */
	if (verdict.subject) {
		untagged.subject = verdict.subject;
		request.mail = &untagged;
	}
	is_ok = process_targets(&request, &verdict, error);
	autoreply_clear(&verdict);
	if (is_ok)
		*report = made;
	return is_ok;
}

char *
handler_format_verdict(const struct handler_report *report)
{
	static const char *const words[] = {
	    [HANDLER_IGNORED] = "no reply",
	    [HANDLER_LIMITED] = "rate limited",
	    [HANDLER_REPLIED] = "replied",
	    [HANDLER_CONFIRMING] = "confirmation requested",
	    [HANDLER_UNSUBSCRIBED] = "unsubscribed without a reply",
	    [HANDLER_BOUNCED] = "report",
	    [HANDLER_FORWARDED] = "forwarded to the owner",
	    [HANDLER_CHECK_MAIL] = "check",
	};

	if (report->outcome == HANDLER_CHECK_MAIL)
		return g_strdup(report->check);
	return g_strconcat(
	    words[report->outcome], report->reason ? ": " : NULL, report->reason, NULL);
}

/* ---- changes that the token of a digest allows ----
 *
 * A digest may have been forwarded, so its reader must not be able to ask for more. */

/* Papers in a digest, for those who want fewer. */
static const int fewer_steps[] = {10, 5, 3};

static int
find_fewer(const struct subscriber *subscriber)
{
	for (size_t i = 0; i < G_N_ELEMENTS(fewer_steps); i++)
		if (fewer_steps[i] < subscriber->max_full)
			return fewer_steps[i];
	return subscriber->max_full;
}

/* @param days  0: until resumed */
static bool
is_longer_pause(
    const struct request *request, const struct subscriber *before, unsigned days)
{
	g_autofree char *text = g_strdup_printf("%ud", days);
	g_autoptr(GTimeZone) zone = zone_load_or_utc(before->zone);
	char until[DAY_BYTES];

	if (before->state != SUBSCRIBER_PAUSED)
		return true;
	return *before->paused_until &&
	       (!days || (profile_parse_until(text, zone, request->now, until, NULL) &&
	                     strcmp(until, before->paused_until) > 0));
}

/* Format the command. @return NULL if it would not reduce mail */
static char *
format_line(
    const struct request *request, enum handler_reduction reduction, unsigned number)
{
	const struct subscriber *subscriber = request->subscriber;

	switch (reduction) {
	case HANDLER_REDUCE_PAUSE:
		if (!is_longer_pause(request, subscriber, number))
			return NULL;
		return number ? g_strdup_printf("pause %ud", number)
		              : g_strdup("pause");
	case HANDLER_REDUCE_WEEKLY:
		return subscriber->schedule.frequency != SCHEDULE_WEEKLY
		           ? g_strdup("set when weekly")
		           : NULL;
	case HANDLER_REDUCE_FEWER:
		if (!number)
			number = (unsigned)find_fewer(subscriber);
		return (int)number < subscriber->max_full
		           ? g_strdup_printf("set max %u", number)
		           : NULL;
	}
	g_assert_not_reached();
}

/* Make the subscriber of the token the requester, if there is one. */
bool
handler_set_token_requester(struct request *request, const char *token, GError **error)
{
	const struct mail_token mail_token = {
	    request->store, request->key, request->now};
	pb_auto(subscriber) found = NULL;
	enum handler_mail may_mail;

	if (!mail_token_find_unsubscribe(&mail_token, token, &found, error))
		return false;
	if (!found)
		return true;
	request->is_proven = request->has_token = true;
	return handler_set_requester(request, found->address, &may_mail, error);
}

bool
handler_reduce(struct request *request, const char *token,
    enum handler_reduction reduction, unsigned number, GError **error)
{
	g_autofree char *line = NULL;
	const char *lines[] = {NULL, NULL};
	bool is_ok;

	if (!handler_set_token_requester(request, token, error))
		return false;
	/* A token does not show that a suspended address works again, as a mailed link
	 * does. */
	if (request->subscriber && request->subscriber->state != SUBSCRIBER_SUSPENDED)
		line = format_line(request, reduction, number);
	/* A mail gets a reply in any case: how things are. */
	if (!line && request->mail && request->subscriber &&
	    request->subscriber->state != SUBSCRIBER_SUSPENDED)
		line = g_strdup("list");
	if (!line) {
		if (request->mail)
			handler_drop(request, HANDLER_IGNORED, "invalid-token");
		return true;
	}
	lines[0] = line;
	request->lines = lines;
	is_ok = handler_run_commands(request, error);
	request->lines = NULL;
	return is_ok;
}
