/*
 * front.c - everything between a letter and its one answer.
 */
#include "service/front.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "mail/address.h"
#include "service/event.h"
#include "service/front_work.h"
#include "service/selfmail.h"
#include "service/subscribe.h"
#include "store/people.h"

#define CONFIRMING (1U << TICKET_CONFIRM | 1U << TICKET_ADDRESS | 1U << TICKET_FORGET)

void
front_guest_clear(struct front_guest *guest)
{
	g_clear_pointer(&guest->address, g_free);
	g_clear_pointer(&guest->key, g_free);
	g_clear_pointer(&guest->subscriber, subscriber_free);
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
front_find_guest(struct front_work *work, const char *text, struct front_guest *guest,
    GError **error)
{
	struct address address = {0};
	g_autoptr(GError) problem = NULL;
	struct subscriber *subscriber;

	if (!address_parse(text, &address, error))
		return false;
	guest->address = g_strdup(address.text);
	guest->key = address_format_key(&address);
	address_clear(&address);
	subscriber = people_find(work->store, guest->key, &problem);
	if (!subscriber && !g_error_matches(problem, PB_ERROR, PB_ERROR_NOT_FOUND)) {
		g_propagate_error(error, g_steal_pointer(&problem));
		return false;
	}
	if (subscriber && is_here(subscriber)) {
		guest->subscriber = subscriber;
		/* As it was given once, not as this letter spells it. */
		g_free(guest->address);
		guest->address = g_strdup(subscriber->address);
	} else {
		subscriber_free(subscriber);
	}
	return true;
}

struct command_visitor
front_get_visitor(const struct front_guest *guest)
{
	return (struct command_visitor){
	    .address = guest->address,
	    .name = guest->name,
	    .subscriber_id = guest->subscriber ? guest->subscriber->id : 0,
	    .is_proven = guest->is_proven && guest->subscriber,
	    .digest_id = guest->digest_id,
	    .verb = guest->verb,
	};
}

void
front_keep_silent(struct front_work *work, enum front_outcome outcome, const char *why)
{
	work->report->outcome = outcome;
	work->report->why = why;
	event_log(EVENT_LETTER_SILENT, EVENT_INT("letter", work->envelope->id),
	    EVENT_WORD("why", why));
}

/* Nobody there is ever answered. */
static bool
is_suppressed(struct front_work *work, const char *key, bool *is, GError **error)
{
	g_autoptr(GError) problem = NULL;

	*is = false;
	if (subscribe_check_suppression(work->store, work->options->key, key, &problem))
		return true;
	*is = g_error_matches(problem, PB_ERROR, PB_ERROR_INPUT);
	if (!*is)
		g_propagate_error(error, g_steal_pointer(&problem));
	return *is;
}

/* "no" above the line, or a program's subject, counts here as well. */
static bool
redeem_line(struct front_work *work, const struct ticket *ticket, const char *token,
    GError **error)
{
	if (ticket->purpose != TICKET_UNDO)
		switch (front_judge_consent(work, ticket, token)) {
		case CONSENT_NO:
		case CONSENT_AUTOMATIC:
			return front_weigh(work, ticket, token, error);
		case CONSENT_YES:
		case CONSENT_UNCLEAR:
			break;
		}
	return front_redeem(work, ticket, error);
}

/* A token in the text is as good as one in an address. */
static bool
redeem_typed(struct front_work *work, const struct command_reply *reply, bool *is_done,
    GError **error)
{
	const struct {
		const char *token;
		unsigned purposes;
	} typed[] = {
	    {reply->confirm_token, CONFIRMING}, {reply->undo_token, 1U << TICKET_UNDO}};

	*is_done = false;
	for (size_t i = 0; i < G_N_ELEMENTS(typed); i++) {
		pb_auto(ticket) ticket = NULL;

		if (!typed[i].token || !*typed[i].token)
			continue;
		if (!front_find_ticket(
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
run_or_refuse(struct front_work *work, const struct command_visitor *visitor,
    struct command_reply *reply, GError **error)
{
	if (work->envelope->is_too_large && !visitor->verb)
		return command_say(&work->context, visitor, "too_large",
		    G_STRINGIFY(BOUNDS_LETTER_MB), reply, error);
	return command_run(&work->context, visitor, work->letter, reply, error);
}

static bool
run_commands(struct front_work *work, const struct front_guest *guest, GError **error)
{
	struct command_visitor visitor = front_get_visitor(guest);
	struct command_reply reply = {0};
	bool is_ok, is_redeemed = false;

	is_ok = run_or_refuse(work, &visitor, &reply, error) &&
	        redeem_typed(work, &reply, &is_redeemed, error);
	if (is_ok && reply.is_changed)
		work->report->is_changed = true;
	if (is_ok && !is_redeemed)
		is_ok = front_answer(work, guest, &reply, error);
	command_reply_clear(&reply);
	return is_ok;
}

/* A plain yes to one of our messages accepts the suggestion in it. */
static bool
redeem_yes(struct front_work *work, const struct front_guest *guest, bool *is_done,
    GError **error)
{
	g_autoptr(GError) problem = NULL;
	pb_auto(ticket) ticket = tickets_find_waiting(
	    work->store, TICKET_CONFIRM, guest->key, work->options->now, &problem);

	*is_done = false;
	if (problem) {
		g_propagate_error(error, g_steal_pointer(&problem));
		return false;
	}
	if (!ticket || front_judge_consent(work, ticket, "") != CONSENT_YES)
		return true;
	*is_done = true;
	return front_redeem(work, ticket, error);
}

/* As whoever the From says; proven when our mail server vouches, or by a token. */
static bool
serve_sender(struct front_work *work, const char *verb, const char *key,
    int64_t digest_id, GError **error)
{
	__attribute__((cleanup(front_guest_clear))) struct front_guest guest = {0};
	bool is_away, is_done;

	if (!is_suppressed(work, work->door.key, &is_away, error))
		return false;
	if (is_away) {
		front_keep_silent(work, FRONT_IGNORED, "suppressed");
		return true;
	}
	if (!front_find_guest(work, work->door.address, &guest, error))
		return false;
	guest.has_token = key && strcmp(key, guest.key) == 0;
	guest.is_proven = guest.has_token || work->door.is_vouched;
	guest.digest_id = guest.has_token ? digest_id : 0;
	guest.name = work->door.name;
	guest.verb = verb;
	if (guest.has_token && !verb) {
		if (!redeem_yes(work, &guest, &is_done, error))
			return false;
		if (is_done)
			return true;
	}
	return run_commands(work, &guest, error);
}

static bool
serve_reply(struct front_work *work, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	int64_t digest_id;

	if (!proof_find_reply(
	        &work->proof, work->door.token, &subscriber, &digest_id, error))
		return false;
	return serve_sender(
	    work, NULL, subscriber ? subscriber->address_key : NULL, digest_id, error);
}

static bool
serve_confirmation(struct front_work *work, GError **error)
{
	pb_auto(ticket) ticket = NULL;

	if (!front_find_ticket(work, work->door.token, CONFIRMING, &ticket, error))
		return false;
	if (ticket)
		return front_weigh(work, ticket, work->door.token, error);
	switch (front_judge_consent(work, NULL, work->door.token)) {
	case CONSENT_NO:
	case CONSENT_AUTOMATIC:
		front_keep_silent(work, FRONT_IGNORED, "declined");
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
leave_silently(struct front_work *work, const struct front_guest *guest, GError **error)
{
	struct command_visitor visitor = front_get_visitor(guest);
	struct command_reply reply = {0};
	bool is_ok = command_run(&work->context, &visitor, work->letter, &reply, error);

	if (is_ok && reply.undo)
		is_ok = front_keep_undo(work, guest, &reply, error);
	if (is_ok) {
		work->report->is_changed |= reply.is_changed;
		front_keep_silent(work, FRONT_LEFT, work->door.silence);
	}
	command_reply_clear(&reply);
	return is_ok;
}

/* Nothing to do; but a program may have done it before, without a reply. */
static bool
serve_left(struct front_work *work, struct front_guest *guest, GError **error)
{
	g_autoptr(GError) problem = NULL;
	pb_auto(ticket) undo = tickets_find_waiting(
	    work->store, TICKET_UNDO, guest->key, work->options->now, &problem);

	if (problem) {
		g_propagate_error(error, g_steal_pointer(&problem));
		return false;
	}
	guest->has_left = true;
	guest->undo = undo;
	return undo ? front_offer_undo(work, guest, error)
	            : run_commands(work, guest, error);
}

/*
 * A robot may write it, and whoever the digest was passed on to: it can do no more than
 * this, which its reader can undo.
 */
static bool
serve_leaving(struct front_work *work, bool *is_done, GError **error)
{
	__attribute__((cleanup(front_guest_clear))) struct front_guest guest = {0};
	pb_auto(subscriber) subscriber = NULL;
	bool is_away;

	*is_done = false;
	if (!proof_find_leave(&work->proof, work->door.token, &subscriber, error))
		return false;
	if (!subscriber)
		return true;
	*is_done = true;
	if (!front_find_guest(work, subscriber->address, &guest, error) ||
	    !is_suppressed(work, guest.key, &is_away, error))
		return false;
	guest.is_proven = guest.has_token = true;
	guest.verb = "unsubscribe";
	if (is_away || (work->door.silence && !guest.subscriber)) {
		front_keep_silent(
		    work, FRONT_IGNORED, is_away ? "suppressed" : work->door.silence);
		return true;
	}
	if (work->door.silence)
		return leave_silently(work, &guest, error);
	return guest.subscriber ? run_commands(work, &guest, error)
	                        : serve_left(work, &guest, error);
}

/* Whether a report says that delivery failed for good, rather than is late. */
static bool
is_failure(const struct letter *letter)
{
	for (unsigned i = 1; i < letter->groups->len; i++) {
		const char *action =
		    letter_find_field(letter->groups->pdata[i], "Action");

		if (action && g_ascii_strncasecmp(action, "failed", 6) == 0)
			return true;
	}
	return false;
}

/* What came back is never answered; a confirmation that did waits for nobody. */
static bool
take_bounce(struct front_work *work, GError **error)
{
	struct front_report *report = work->report;

	if (!proof_find_bounce(&work->proof, work->door.token, &report->digest_id,
	        &report->ticket_id, error))
		return false;
	report->outcome = FRONT_CAME_BACK;
	return !report->ticket_id || !is_failure(work->letter) ||
	       tickets_delete(work->store, report->ticket_id, error);
}

static bool
pass_on(struct front_work *work, GError **error)
{
	const char *owner = work->options->settings->mail_owner;
	g_autofree char *subject =
	    g_strdup_printf("For you: %s", work->letter->subject);
	g_autofree char *text =
	    g_strdup_printf("%s wrote to %s for a person to read.\n"
	                    "An answer to this mail goes to the writer.\n\n%s\n",
	        work->door.address, work->context.address,
	        work->letter->body ? work->letter->body : "(no text)");
	const struct dispatch_letter letter = {
	    .kind = OUTBOX_NOTICE,
	    .recipient = owner,
	    .sender = "",
	    .reply_to = work->door.address,
	    .subject = subject,
	    .text = text,
	};
	const char *why;
	int64_t id;

	if (!limits_check(&work->limits, LIMITS_OWNER, work->door.address, &why, error))
		return false;
	if (why) {
		front_keep_silent(work, FRONT_LIMITED, why);
		return true;
	}
	work->report->outcome = FRONT_PASSED_ON;
	work->report->is_queued = true;
	return dispatch_send(&work->dispatch, &letter, &id, error) &&
	       limits_count(&work->limits, LIMITS_OWNER, work->door.address, error);
}

/* Whether the address alone says what is asked for. */
static bool
needs_body(enum extension_kind kind)
{
	switch (kind) {
	case EXTENSION_LEAVE:
	case EXTENSION_UNSUBSCRIBE:
	case EXTENSION_HELP:
	case EXTENSION_UNKNOWN:
		return false;
	case EXTENSION_COMMANDS:
	case EXTENSION_CONFIRM:
	case EXTENSION_REPLY:
	case EXTENSION_SUBSCRIBE:
	case EXTENSION_OWNER:
	case EXTENSION_BOUNCE:
	case EXTENSION_CHECK:
		break;
	}
	return true;
}

static bool
serve(struct front_work *work, GError **error)
{
	bool is_done;

	if (work->door.kind == EXTENSION_BOUNCE)
		return take_bounce(work, error);
	if (work->door.kind == EXTENSION_CHECK) {
		/* Never answered, whoever sends it: somebody waits for the verdict. */
		g_autofree char *found = selfmail_format(work->letter, work->door.token,
		    work->options->settings->commands_authserv_id);

		work->report->outcome = FRONT_CHECKED;
		g_strlcpy(work->report->found, found, FRONT_FOUND_BYTES);
		return true;
	}
	if (work->door.kind == EXTENSION_LEAVE) {
		if (!serve_leaving(work, &is_done, error))
			return false;
		if (is_done)
			return true;
	}
	if (work->door.silence) {
		front_keep_silent(work, FRONT_IGNORED, work->door.silence);
		return true;
	}
	if (work->envelope->is_too_large && needs_body(work->door.kind))
		return serve_sender(work, NULL, NULL, 0, error);
	switch (work->door.kind) {
	case EXTENSION_CONFIRM:
		return serve_confirmation(work, error);
	case EXTENSION_REPLY:
		return serve_reply(work, error);
	case EXTENSION_SUBSCRIBE:
		return serve_sender(work, "subscribe", NULL, 0, error);
	case EXTENSION_LEAVE: /* with a token that is not good: who writes wants it */
	case EXTENSION_UNSUBSCRIBE:
		return serve_sender(work, "unsubscribe", NULL, 0, error);
	case EXTENSION_HELP:
		return serve_sender(work, "help", NULL, 0, error);
	case EXTENSION_OWNER:
		return pass_on(work, error);
	case EXTENSION_UNKNOWN:
		/* LMTP rejects it. */
		front_keep_silent(work, FRONT_IGNORED, "unknown-address");
		return true;
	case EXTENSION_COMMANDS:
	case EXTENSION_BOUNCE:
	case EXTENSION_CHECK:
		break;
	}
	return serve_sender(work, NULL, NULL, 0, error);
}

/* Whether the reply token selected is one of the sender's. */
static bool
is_own_reply(struct front_work *work, bool *is_own, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	int64_t digest_id;

	if (!proof_find_reply(
	        &work->proof, work->door.token, &subscriber, &digest_id, error))
		return false;
	*is_own = subscriber && g_strcmp0(subscriber->address_key, work->door.key) == 0;
	return true;
}

/*
 * The commands of a message run once, with one reply: of several reply tokens that of
 * the sender counts, and none beside a confirmation.
 *
 * @param reply  set: the index of the target whose kind is EXTENSION_REPLY; or -1
 */
static bool
choose_reply(struct front_work *work, int *reply, GError **error)
{
	bool is_own = false;

	*reply = -1;
	for (unsigned i = 0; i < work->door.targets->len && !is_own; i++) {
		door_select(&work->door, i);
		if (work->door.kind == EXTENSION_CONFIRM) {
			*reply = -1;
			return true;
		}
		if (work->door.kind != EXTENSION_REPLY)
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
serve_all(struct front_work *work, GError **error)
{
	struct front_report *report = work->report;
	int reply;

	if (!choose_reply(work, &reply, error))
		return false;
	for (unsigned i = 0; i < work->door.targets->len; i++) {
		const struct front_report before = *report;

		door_select(&work->door, i);
		if (work->door.kind == EXTENSION_REPLY && (int)i != reply)
			continue;
		if (!serve(work, error))
			return false;
		/* The verdict reports commands that ran, not ignored ones. */
		if (report->outcome <= FRONT_LIMITED &&
		    before.outcome > FRONT_LIMITED) {
			report->outcome = before.outcome;
			report->why = before.why;
		}
	}
	return true;
}

static void
fill_parts(struct front_work *work, const char *help_address)
{
	const struct front_options *options = work->options;

	work->proof = (struct proof){work->store, options->key, options->now};
	work->limits =
	    (struct limits){work->store, options->settings, options->key, options->now};
	work->dispatch = (struct dispatch){work->store, options->settings,
	    options->house, options->draw, options->data, options->now};
	work->context = (struct command_context){
	    .store = work->store,
	    .settings = options->settings,
	    .phrases = options->phrases,
	    .renderer = options->renderer,
	    .key = options->key,
	    .now = options->now,
	    .address = options->house->commands.address.text,
	    .help_address = help_address,
	    .who = "mail",
	};
}

bool
front_handle(struct store *store, const struct front_options *options,
    const struct letter *letter, const struct front_envelope *envelope,
    struct front_report *report, GError **error)
{
	const struct house *house = options->house;
	g_autofree char *help =
	    extension_format(&house->commands, EXTENSION_HELP, NULL);
	struct front_report made = {0};
	struct front_work work = {
	    .store = store,
	    .options = options,
	    .letter = letter,
	    .envelope = envelope,
	    .report = &made,
	};
	const struct door_settings door = {
	    .base = &house->commands,
	    .bounces = &house->bounces,
	    .from = options->settings->mail_from,
	    .message_domain = house->domain,
	    .authserv_id = options->settings->commands_authserv_id,
	};
	const struct door_envelope told = {envelope->sender, envelope->recipient};
	bool is_ok;

	g_assert(house->has_commands);
	fill_parts(&work, help);
	door_judge(&door, letter, &told, &work.door);
	is_ok = serve_all(&work, error);
	door_clear(&work.door);
	if (is_ok)
		*report = made;
	return is_ok;
}

char *
front_format_verdict(const struct front_report *report)
{
	static const char *const words[] = {
	    [FRONT_IGNORED] = "silent",
	    [FRONT_LIMITED] = "limit",
	    [FRONT_ANSWERED] = "answered",
	    [FRONT_ASKED] = "confirmation asked",
	    [FRONT_LEFT] = "unsubscribed in silence",
	    [FRONT_CAME_BACK] = "came back",
	    [FRONT_PASSED_ON] = "passed on to the owner",
	    [FRONT_CHECKED] = "check",
	};

	if (report->outcome == FRONT_CHECKED)
		return g_strdup(report->found);
	return g_strconcat(
	    words[report->outcome], report->why ? ": " : NULL, report->why, NULL);
}
