/*
 * handler.c - everything between a letter and its one answer.
 */
#include "service/inbound/handler.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "message/address.h"
#include "service/inbound/probe_mail.h"
#include "service/inbound/request.h"
#include "service/log/event.h"
#include "service/people/subscribe.h"
#include "store/subscriber/subscribers.h"

#define CONFIRMING                                                 \
	(1U << CONFIRMATION_CONFIRM | 1U << CONFIRMATION_ADDRESS | \
	    1U << CONFIRMATION_FORGET)

void
requester_clear(struct requester *requester)
{
	g_clear_pointer(&requester->address, g_free);
	g_clear_pointer(&requester->key, g_free);
	g_clear_pointer(&requester->subscriber, subscriber_free);
}

/* Who has left or has not confirmed is a stranger. */
static bool
is_here(const struct subscriber *subscriber)
{
	switch (subscriber->state) {
	case SUBSCRIBER_ACTIVE:
	case SUBSCRIBER_PAUSED:
	case SUBSCRIBER_SUSPENDED:
		return true;
	case SUBSCRIBER_PENDING:
	case SUBSCRIBER_GONE:
		break;
	}
	return false;
}

bool
request_find_requester(
    struct request *work, const char *text, struct requester *requester, GError **error)
{
	struct address address = {0};
	struct subscriber *subscriber;

	if (!address_parse(text, &address, error))
		return false;
	requester->address = g_strdup(address.text);
	requester->key = address_format_key(&address);
	address_clear(&address);
	if (!subscribers_find(work->store, requester->key, &subscriber, error))
		return false;
	if (subscriber && is_here(subscriber)) {
		requester->subscriber = subscriber;
		/* As it was given once, not as this letter spells it. */
		g_free(requester->address);
		requester->address = g_strdup(subscriber->address);
	} else {
		subscriber_free(subscriber);
	}
	return true;
}

struct command_user
requester_get_user(const struct requester *requester)
{
	return (struct command_user){
	    .address = requester->address,
	    .name = requester->name,
	    .subscriber_id = requester->subscriber ? requester->subscriber->id : 0,
	    .is_proven = requester->is_proven && requester->subscriber,
	    .digest_id = requester->digest_id,
	    .verb = requester->verb,
	};
}

void
request_drop(struct request *work, enum handler_outcome outcome, const char *why)
{
	work->report->outcome = outcome;
	work->report->why = why;
	event_log(EVENT_REPLY_SUPPRESSED, EVENT_INT("letter", work->envelope->id),
	    EVENT_WORD("why", why));
}

/* Nobody there is ever answered. */
static bool
is_suppressed(struct request *work, const char *key, bool *is, GError **error)
{
	g_autoptr(GError) problem = NULL;

	*is = false;
	if (subscribe_check_suppression(work->store, work->options->key, key, &problem))
		return true;
	*is = g_error_matches(problem, PB_ERROR, PB_ERROR_INPUT);
	return *is || pb_error_forward(error, &problem);
}

/* "no" above the line, or a program's subject, counts here as well. */
static bool
redeem_line(struct request *work, const struct confirmation *ticket, const char *token,
    GError **error)
{
	if (ticket->purpose != CONFIRMATION_UNDO)
		switch (handler_judge_consent(work, ticket, token)) {
		case CONSENT_NO:
		case CONSENT_AUTOMATIC:
			return request_authorize(work, ticket, token, error);
		case CONSENT_YES:
		case CONSENT_UNCLEAR:
			break;
		}
	return request_confirm(work, ticket, error);
}

/* A token in the text is as good as one in an address. */
static bool
redeem_typed(struct request *work, const struct command_reply *reply, bool *is_done,
    GError **error)
{
	const struct {
		const char *token;
		unsigned purposes;
	} typed[] = {{reply->confirm_token, CONFIRMING},
	    {reply->undo_token, 1U << CONFIRMATION_UNDO}};

	*is_done = false;
	for (size_t i = 0; i < G_N_ELEMENTS(typed); i++) {
		pb_auto(confirmation) ticket = NULL;

		if (!typed[i].token || !*typed[i].token)
			continue;
		if (!request_find_confirmation(
		        work, typed[i].token, typed[i].purposes, &ticket, error))
			return false;
		if (!ticket)
			continue;
		*is_done = true;
		return redeem_line(work, ticket, typed[i].token, error);
	}
	return true;
}

/* Of a message that is too large the body is not known. */
static bool
run_or_refuse(struct request *work, const struct command_user *user,
    struct command_reply *reply, GError **error)
{
	if (work->envelope->full_size && !user->verb)
		return command_say(&work->context, user, "too_large",
		    G_STRINGIFY(BOUNDS_MAIL_MB), reply, error);
	return command_run(&work->context, user, work->mail, reply, error);
}

static bool
run_commands(struct request *work, const struct requester *requester, GError **error)
{
	struct command_user user = requester_get_user(requester);
	struct command_reply reply = {0};
	bool is_ok, is_redeemed = false;

	is_ok = run_or_refuse(work, &user, &reply, error) &&
	        redeem_typed(work, &reply, &is_redeemed, error);
	if (is_ok && reply.is_changed)
		work->report->is_changed = true;
	if (is_ok && !is_redeemed)
		is_ok = request_reply(work, requester, &reply, error);
	command_reply_clear(&reply);
	return is_ok;
}

/* A plain yes to one of our messages accepts the suggestion in it. */
static bool
redeem_yes(struct request *work, const struct requester *requester, bool *is_done,
    GError **error)
{
	pb_auto(confirmation) ticket = NULL;

	*is_done = false;
	if (!confirmations_find_pending(work->store, CONFIRMATION_CONFIRM,
	        requester->key, work->options->now, &ticket, error))
		return false;
	if (!ticket || handler_judge_consent(work, ticket, "") != CONSENT_YES)
		return true;
	*is_done = true;
	return request_confirm(work, ticket, error);
}

/* As whoever the From says; proven when our mail server vouches, or by a token. */
static bool
serve_sender(struct request *work, const char *verb, const char *key, int64_t digest_id,
    GError **error)
{
	__attribute__((cleanup(requester_clear))) struct requester requester = {0};
	bool is_away, is_done;

	if (!is_suppressed(work, work->autoreply.key, &is_away, error))
		return false;
	if (is_away) {
		request_drop(work, HANDLER_IGNORED, "suppressed");
		return true;
	}
	if (!request_find_requester(work, work->autoreply.address, &requester, error))
		return false;
	requester.has_token = key && strcmp(key, requester.key) == 0;
	requester.is_proven = requester.has_token || work->autoreply.is_vouched;
	requester.digest_id = requester.has_token ? digest_id : 0;
	requester.name = work->autoreply.name;
	requester.verb = verb;
	if (requester.has_token && !verb) {
		if (!redeem_yes(work, &requester, &is_done, error))
			return false;
		if (is_done)
			return true;
	}
	return run_commands(work, &requester, error);
}

static bool
serve_reply(struct request *work, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	int64_t digest_id;

	if (!mail_token_find_reply(&work->mail_token, work->autoreply.token,
	        &subscriber, &digest_id, error))
		return false;
	return serve_sender(
	    work, NULL, subscriber ? subscriber->address_key : NULL, digest_id, error);
}

static bool
serve_confirmation(struct request *work, GError **error)
{
	pb_auto(confirmation) ticket = NULL;

	if (!request_find_confirmation(
	        work, work->autoreply.token, CONFIRMING, &ticket, error))
		return false;
	if (ticket)
		return request_authorize(work, ticket, work->autoreply.token, error);
	switch (handler_judge_consent(work, NULL, work->autoreply.token)) {
	case CONSENT_NO:
	case CONSENT_AUTOMATIC:
		request_drop(work, HANDLER_IGNORED, "declined");
		return true;
	case CONSENT_YES:
	case CONSENT_UNCLEAR:
		break;
	}
	/* The commands have words for a token that is not good. */
	return serve_sender(work, "confirm", NULL, 0, error);
}

/* Unsubscribe, and say nothing. */
static bool
leave_silently(struct request *work, const struct requester *requester, GError **error)
{
	struct command_user user = requester_get_user(requester);
	struct command_reply reply = {0};
	bool is_ok = command_run(&work->context, &user, work->mail, &reply, error);

	if (is_ok && reply.undo)
		is_ok = request_save_undo(work, requester, &reply, error);
	if (is_ok) {
		work->report->is_changed |= reply.is_changed;
		request_drop(work, HANDLER_LEFT, work->autoreply.coverage);
	}
	command_reply_clear(&reply);
	return is_ok;
}

/* Nothing to do; but a program may have done it before, without a reply. */
static bool
serve_left(struct request *work, struct requester *requester, GError **error)
{
	pb_auto(confirmation) undo = NULL;

	if (!confirmations_find_pending(work->store, CONFIRMATION_UNDO, requester->key,
	        work->options->now, &undo, error))
		return false;
	requester->has_left = true;
	requester->undo = undo;
	return undo ? request_offer_undo(work, requester, error)
	            : run_commands(work, requester, error);
}

/*
 * A robot may write it, and whoever the digest was passed on to: it can do no more than
 * this, which its reader can undo.
 */
static bool
serve_leaving(struct request *work, bool *is_done, GError **error)
{
	__attribute__((cleanup(requester_clear))) struct requester requester = {0};
	pb_auto(subscriber) subscriber = NULL;
	bool is_away;

	*is_done = false;
	if (!mail_token_find_unsubscribe(
	        &work->mail_token, work->autoreply.token, &subscriber, error))
		return false;
	if (!subscriber)
		return true;
	*is_done = true;
	if (!request_find_requester(work, subscriber->address, &requester, error) ||
	    !is_suppressed(work, requester.key, &is_away, error))
		return false;
	requester.is_proven = requester.has_token = true;
	requester.verb = "unsubscribe";
	if (is_away || (work->autoreply.coverage && !requester.subscriber)) {
		request_drop(work, HANDLER_IGNORED,
		    is_away ? "suppressed" : work->autoreply.coverage);
		return true;
	}
	if (work->autoreply.coverage)
		return leave_silently(work, &requester, error);
	return requester.subscriber ? run_commands(work, &requester, error)
	                            : serve_left(work, &requester, error);
}

/* Whether a report says that delivery failed for good, rather than is late. */
static bool
is_failure(const struct inmail *mail)
{
	for (unsigned i = 1; i < mail->groups->len; i++) {
		const char *action =
		    inmail_find_field(mail->groups->pdata[i], "Action");

		if (action && g_ascii_strncasecmp(action, "failed", 6) == 0)
			return true;
	}
	return false;
}

/* What came back is never answered; a confirmation that did waits for nobody. */
static bool
take_bounce(struct request *work, GError **error)
{
	struct handler_report *report = work->report;

	if (!mail_token_find_bounce(&work->mail_token, work->autoreply.token,
	        &report->digest_id, &report->ticket_id, error))
		return false;
	report->outcome = HANDLER_CAME_BACK;
	return !report->ticket_id || !is_failure(work->mail) ||
	       confirmations_delete(work->store, report->ticket_id, error);
}

static bool
pass_on(struct request *work, GError **error)
{
	const char *owner = work->options->settings->mail_owner;
	g_autofree char *subject = g_strdup_printf("For you: %s", work->mail->subject);
	g_autofree char *text =
	    g_strdup_printf("%s wrote to %s for a person to read.\n"
	                    "An answer to this mail goes to the writer.\n\n%s\n",
	        work->autoreply.address, work->context.address,
	        work->mail->body ? work->mail->body : "(no text)");
	const struct system_mail mail = {
	    .kind = OUTBOX_NOTICE,
	    .recipient = owner,
	    .sender = "",
	    .reply_to = work->autoreply.address,
	    .subject = subject,
	    .text = text,
	};
	const char *why;
	int64_t id;

	if (!rate_limit_check(
	        &work->limits, RATE_CASE_OWNER, work->autoreply.address, &why, error))
		return false;
	if (why) {
		request_drop(work, HANDLER_LIMITED, why);
		return true;
	}
	work->report->outcome = HANDLER_PASSED_ON;
	work->report->is_queued = true;
	return system_mail_send(&work->system_mailer, &mail, &id, error) &&
	       rate_limit_count(
	           &work->limits, RATE_CASE_OWNER, work->autoreply.address, error);
}

/* Whether the address alone says what is asked for. */
static bool
needs_body(enum subaddress_kind kind)
{
	switch (kind) {
	case SUBADDRESS_LEAVE:
	case SUBADDRESS_UNSUBSCRIBE:
	case SUBADDRESS_HELP:
	case SUBADDRESS_UNKNOWN:
		return false;
	case SUBADDRESS_COMMANDS:
	case SUBADDRESS_CONFIRM:
	case SUBADDRESS_REPLY:
	case SUBADDRESS_SUBSCRIBE:
	case SUBADDRESS_OWNER:
	case SUBADDRESS_BOUNCE:
	case SUBADDRESS_CHECK:
		break;
	}
	return true;
}

static bool
serve(struct request *work, GError **error)
{
	bool is_done;

	if (work->autoreply.kind == SUBADDRESS_BOUNCE)
		return take_bounce(work, error);
	if (work->autoreply.kind == SUBADDRESS_CHECK) {
		/* Never answered, whoever sends it: somebody waits for the verdict. */
		g_autofree char *found =
		    probe_mail_format(work->mail, work->autoreply.token,
		        work->options->settings->commands_authserv_id);

		work->report->outcome = HANDLER_CHECKED;
		g_strlcpy(work->report->found, found, HANDLER_FOUND_BYTES);
		return true;
	}
	if (work->autoreply.kind == SUBADDRESS_LEAVE) {
		if (!serve_leaving(work, &is_done, error))
			return false;
		if (is_done)
			return true;
	}
	if (work->autoreply.coverage) {
		request_drop(work, HANDLER_IGNORED, work->autoreply.coverage);
		return true;
	}
	if (work->envelope->full_size && needs_body(work->autoreply.kind))
		return serve_sender(work, NULL, NULL, 0, error);
	switch (work->autoreply.kind) {
	case SUBADDRESS_CONFIRM:
		return serve_confirmation(work, error);
	case SUBADDRESS_REPLY:
		return serve_reply(work, error);
	case SUBADDRESS_SUBSCRIBE:
		return serve_sender(work, "subscribe", NULL, 0, error);
	case SUBADDRESS_LEAVE: /* with a token that is not good: who writes wants it */
	case SUBADDRESS_UNSUBSCRIBE:
		return serve_sender(work, "unsubscribe", NULL, 0, error);
	case SUBADDRESS_HELP:
		return serve_sender(work, "help", NULL, 0, error);
	case SUBADDRESS_OWNER:
		return pass_on(work, error);
	case SUBADDRESS_UNKNOWN:
		/* LMTP rejects it. */
		request_drop(work, HANDLER_IGNORED, "unknown-address");
		return true;
	case SUBADDRESS_COMMANDS:
	case SUBADDRESS_BOUNCE:
	case SUBADDRESS_CHECK:
		break;
	}
	return serve_sender(work, NULL, NULL, 0, error);
}

/* Whether the reply token selected is one of the sender's. */
static bool
is_own_reply(struct request *work, bool *is_own, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	int64_t digest_id;

	if (!mail_token_find_reply(&work->mail_token, work->autoreply.token,
	        &subscriber, &digest_id, error))
		return false;
	*is_own =
	    subscriber && g_strcmp0(subscriber->address_key, work->autoreply.key) == 0;
	return true;
}

/*
 * The commands of a message run once, with one reply: of several reply tokens that of
 * the sender counts, and none beside a confirmation.
 *
 * @param reply  set: the index of the target whose kind is SUBADDRESS_REPLY; or -1
 */
static bool
choose_reply(struct request *work, int *reply, GError **error)
{
	bool is_own = false;

	*reply = -1;
	for (unsigned i = 0; i < work->autoreply.targets->len && !is_own; i++) {
		autoreply_select(&work->autoreply, i);
		if (work->autoreply.kind == SUBADDRESS_CONFIRM) {
			*reply = -1;
			return true;
		}
		if (work->autoreply.kind != SUBADDRESS_REPLY)
			continue;
		if (!is_own_reply(work, &is_own, error))
			return false;
		if (is_own || *reply < 0)
			*reply = (int)i;
	}
	return true;
}

/* A message may have come to several of our addresses with a token. */
static bool
serve_all(struct request *work, GError **error)
{
	struct handler_report *report = work->report;
	int reply;

	if (!choose_reply(work, &reply, error))
		return false;
	for (unsigned i = 0; i < work->autoreply.targets->len; i++) {
		const struct handler_report before = *report;

		autoreply_select(&work->autoreply, i);
		if (work->autoreply.kind == SUBADDRESS_REPLY && (int)i != reply)
			continue;
		if (!serve(work, error))
			return false;
		/* The verdict reports commands that ran, not ignored ones. */
		if (report->outcome <= HANDLER_LIMITED &&
		    before.outcome > HANDLER_LIMITED) {
			report->outcome = before.outcome;
			report->why = before.why;
		}
	}
	return true;
}

static void
fill_parts(struct request *work, const char *help_address)
{
	const struct handler_options *options = work->options;

	work->mail_token = (struct mail_token){work->store, options->key, options->now};
	work->limits = (struct rate_limit){
	    work->store, options->settings, options->key, options->now};
	work->system_mailer = (struct system_mailer){work->store, options->settings,
	    options->own_addresses, options->random, options->now};
	work->context = (struct command_context){
	    .store = work->store,
	    .settings = options->settings,
	    .sources = options->sources,
	    .phrases = options->phrases,
	    .renderer = options->renderer,
	    .key = options->key,
	    .now = options->now,
	    .address = options->own_addresses->commands.address.text,
	    .help_address = help_address,
	    .who = "mail",
	};
}

bool
handler_run(struct store *store, const struct handler_options *options,
    const struct inmail *mail, const struct receive_mail *envelope,
    struct handler_report *report, GError **error)
{
	const struct own_addresses *own_addresses = options->own_addresses;
	g_autofree char *help =
	    subaddress_format(&own_addresses->commands, SUBADDRESS_HELP, NULL);
	struct handler_report made = {0};
	struct request work = {
	    .store = store,
	    .options = options,
	    .mail = mail,
	    .envelope = envelope,
	    .report = &made,
	};
	const struct autoreply_settings autoreply = {
	    .base = &own_addresses->commands,
	    .bounces = &own_addresses->bounces,
	    .from = options->settings->mail_from,
	    .message_domain = own_addresses->domain,
	    .authserv_id = options->settings->commands_authserv_id,
	};
	bool is_ok;

	g_assert(own_addresses->has_commands);
	fill_parts(&work, help);
	autoreply_check(&autoreply, mail, envelope, &work.autoreply);
	is_ok = serve_all(&work, error);
	autoreply_clear(&work.autoreply);
	if (is_ok)
		*report = made;
	return is_ok;
}

char *
handler_format_verdict(const struct handler_report *report)
{
	static const char *const words[] = {
	    [HANDLER_IGNORED] = "silent",
	    [HANDLER_LIMITED] = "limit",
	    [HANDLER_ANSWERED] = "answered",
	    [HANDLER_ASKED] = "confirmation asked",
	    [HANDLER_LEFT] = "unsubscribed in silence",
	    [HANDLER_CAME_BACK] = "came back",
	    [HANDLER_PASSED_ON] = "passed on to the owner",
	    [HANDLER_CHECKED] = "check",
	};

	if (report->outcome == HANDLER_CHECKED)
		return g_strdup(report->found);
	return g_strconcat(
	    words[report->outcome], report->why ? ": " : NULL, report->why, NULL);
}
