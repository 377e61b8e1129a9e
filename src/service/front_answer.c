/*
 * front_answer.c - what the commands came to goes out, with tickets where it waits.
 */
#include "base/bounds.h"
#include "base/error.h"
#include "base/token.h"
#include "render/wrap.h"
#include "service/front_work.h"
#include "service/subscribe.h"
#include "store/allowance.h"
#include "store/audit.h"
#include "store/erasure.h"
#include "store/people.h"

/* Hexadecimal digits of a ticket's hash in the Message-ID of its mail. */
#define CONFIRM_ID_DIGITS 32

/* A ticket that is about to be made, and where its token goes. */
struct draft {
	struct ticket ticket;
	char *token;
};

static void
draft_clear(struct draft *draft)
{
	g_clear_pointer(&draft->ticket.hash, g_free);
	g_clear_pointer(&draft->token, g_free);
}

static enum ticket_purpose
get_purpose(enum command_purpose purpose)
{
	switch (purpose) {
	case COMMAND_CONFIRM_NOTHING:
	case COMMAND_CONFIRM_SUBSCRIBE:
	case COMMAND_CONFIRM_CHANGE:
	case COMMAND_CONFIRM_EXPORT:
		break;
	case COMMAND_CONFIRM_ADDRESS:
		return TICKET_ADDRESS;
	case COMMAND_CONFIRM_FORGET:
		return TICKET_FORGET;
	}
	return TICKET_CONFIRM;
}

static int64_t
get_life(enum ticket_purpose purpose)
{
	switch (purpose) {
	case TICKET_CONFIRM:
	case TICKET_ADDRESS:
		break;
	case TICKET_UNDO:
		return FRONT_UNDO_S;
	case TICKET_FORGET:
		return FRONT_FORGET_S;
	}
	return FRONT_CONFIRM_S;
}

/* @param draft  zeroed by the caller; draft_clear() it */
static bool
make_ticket(struct front_work *work, const struct front_guest *guest,
    enum ticket_purpose purpose, const char *recipient, const char *action,
    const char *details, struct draft *draft, GError **error)
{
	draft->token = dispatch_draw_token(&work->dispatch);
	draft->ticket = (struct ticket){
	    .hash = token_hash_drawn(draft->token),
	    .purpose = purpose,
	    .address = guest->address,
	    .address_key = guest->key,
	    .recipient = (char *)recipient,
	    .subscriber_id = guest->subscriber ? guest->subscriber->id : 0,
	    .action = (char *)action,
	    .details = (char *)details,
	    .made_at = work->options->now,
	    .expires_at = purpose == TICKET_UNDO && guest->undo
	                      ? guest->undo->expires_at
	                      : work->options->now + get_life(purpose),
	};
	return tickets_insert(work->store, &draft->ticket, error);
}

/* For the consent: when and how it was asked, and which words were to be confirmed. */
static char *
format_details(const struct front_work *work, const char *text)
{
	g_autoptr(GDateTime) at = g_date_time_new_from_unix_utc(work->options->now);
	g_autofree char *when = g_date_time_format(at, "%Y-%m-%d %H:%M:%S UTC");
	g_autofree char *hash =
	    g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);

	return g_strdup_printf(
	    "asked by mail %s; text of the confirmation sha256:%s", when, hash);
}

/* Where a confirmation's answers and bounces go. */
struct way {
	char *reply_to;
	char *sender;
	char *id; /* of its Message-ID, by which a reply without text is known */
};

static void
way_clear(struct way *way)
{
	g_clear_pointer(&way->reply_to, g_free);
	g_clear_pointer(&way->sender, g_free);
	g_clear_pointer(&way->id, g_free);
}

static void
find_way(const struct front_work *work, const struct draft *draft, struct way *way)
{
	const struct house *house = work->options->house;
	g_autofree char *back = token_sign(work->options->key,
	    EXTENSION_TOKEN_BOUNCE_TICKET, draft->ticket.id, draft->ticket.made_at);

	way->reply_to =
	    extension_format(&house->commands, EXTENSION_CONFIRM, draft->token);
	way->sender = extension_format(&house->bounces, EXTENSION_BOUNCE, back);
	way->id = front_format_confirm_id(&draft->ticket);
}

char *
front_format_confirm_subject(const struct front_work *work, const char *language)
{
	const char *address = work->options->house->commands.address.text;

	return work->options->phrases
	           ? phrases_format(work->options->phrases, language, "subject.confirm",
	                 "address", address, NULL)
	           : g_strdup_printf("Please confirm your request to %s", address);
}

char *
front_format_confirm_id(const struct ticket *ticket)
{
	return g_strndup(ticket->hash, CONFIRM_ID_DIGITS);
}

/* The language of the text; if it has none, the subscriber's. */
static const char *
get_language(const struct front_work *work, const struct front_guest *guest,
    const struct command_reply *reply)
{
	const struct subscriber *subscriber = guest->subscriber;

	if (*reply->language)
		return reply->language;
	return subscriber && work->options->phrases &&
	               phrasebook_has_language(
	                   work->options->phrases, subscriber->language)
	           ? subscriber->language
	           : "en";
}

/* To a stranger nothing of the letter is repeated: it may have been made to be. */
static char *
format_subject(const struct front_work *work, const struct front_guest *guest,
    const struct command_reply *reply)
{
	const struct subscriber *subscriber = guest->subscriber;
	if (reply->pending) {
		return front_format_confirm_subject(
		    work, get_language(work, guest, reply));
	}
	if (reply->subject)
		return g_strdup(reply->subject);
	if (subscriber || guest->has_token)
		return dispatch_format_subject(work->letter);
	return g_strdup_printf(
	    "Your letter to %s", work->options->house->commands.address.text);
}

static bool
send(struct front_work *work, const struct front_guest *guest,
    const struct dispatch_letter *letter, int64_t *id, GError **error)
{
	struct dispatch_letter whole = *letter;

	whole.subscriber_id = guest->subscriber ? guest->subscriber->id : 0;
	whole.answered = work->letter;
	work->report->is_queued = true;
	return dispatch_send(&work->dispatch, &whole, id, error);
}

static enum limits_case
get_confirmation_case(const struct front_guest *guest)
{
	return guest->is_proven ? LIMITS_CONFIRMATION_VOUCHED : LIMITS_CONFIRMATION;
}

/* The second mail of a change of address, to the new one and with its own token. */
static bool
ask_new_address(struct front_work *work, const struct front_guest *guest,
    const struct command_reply *reply, const char *subject, GError **error)
{
	__attribute__((cleanup(draft_clear))) struct draft draft = {0};
	__attribute__((cleanup(way_clear))) struct way way = {0};
	struct command_reply other = {.text = g_strdup(reply->new_text)};
	struct dispatch_letter letter;
	const char *why;
	int64_t id;
	bool is_ok;

	is_ok = limits_check(&work->limits, get_confirmation_case(guest),
	    reply->new_address, &why, error);
	/* Whoever it is gets no more of them; then nothing can come of it. */
	if (is_ok && !why) {
		is_ok = make_ticket(work, guest, TICKET_ADDRESS, reply->new_address,
		    reply->pending, NULL, &draft, error);
		if (is_ok) {
			find_way(work, &draft, &way);
			command_reply_fill(&other, draft.token, NULL);
			letter = (struct dispatch_letter){
			    .kind = OUTBOX_CONFIRMATION,
			    .recipient = reply->new_address,
			    .sender = way.sender,
			    .reply_to = way.reply_to,
			    .id = way.id,
			    .subject = subject,
			    .text = other.text,
			};
			/* A stranger gets it: it answers nothing of theirs. */
			is_ok = dispatch_send(&work->dispatch, &letter, &id, error) &&
			        limits_count(&work->limits, LIMITS_CONFIRMATION,
			            reply->new_address, error);
		}
	}
	command_reply_clear(&other);
	return is_ok;
}

static bool
ask(struct front_work *work, const struct front_guest *guest,
    struct command_reply *reply, GError **error)
{
	enum ticket_purpose purpose = get_purpose(reply->purpose);
	g_autofree char *subject = format_subject(work, guest, reply);
	g_autofree char *details = format_details(work, reply->text);
	__attribute__((cleanup(draft_clear))) struct draft draft = {0};
	__attribute__((cleanup(way_clear))) struct way way = {0};
	struct dispatch_letter letter = {.kind = OUTBOX_CONFIRMATION};
	int64_t id;

	if (!tickets_kill(work->store, purpose, guest->key, error) ||
	    !make_ticket(work, guest, purpose, guest->address, reply->pending, details,
	        &draft, error) ||
	    !audit_insert(work->store, work->options->now, "mail", "confirmation asked",
	        guest->subscriber ? guest->subscriber->id : 0,
	        ticket_purpose_name(purpose), error))
		return false;
	if (reply->new_address && !ask_new_address(work, guest, reply, subject, error))
		return false;
	find_way(work, &draft, &way);
	command_reply_fill(reply, draft.token, NULL);
	letter.recipient = guest->address;
	letter.sender = way.sender;
	letter.reply_to = way.reply_to;
	letter.id = way.id;
	letter.subject = subject;
	letter.text = reply->text;
	work->report->outcome = FRONT_ASKED;
	return send(work, guest, &letter, &id, error);
}

/* An answer that can be answered: by who is a subscriber still, as a proof. */
static bool
load_reply_to(struct front_work *work, const struct front_guest *guest, char **reply_to,
    GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	g_autofree char *token = NULL;
	g_autoptr(GError) problem = NULL;

	*reply_to = g_strdup(guest->reply_to);
	if (*reply_to)
		return true;
	subscriber = people_find(work->store, guest->key, &problem);
	if (!subscriber) {
		if (g_error_matches(problem, PB_ERROR, PB_ERROR_NOT_FOUND))
			return true;
		g_propagate_error(error, g_steal_pointer(&problem));
		return false;
	}
	if (subscriber->state == SUBSCRIBER_GONE ||
	    subscriber->state == SUBSCRIBER_PENDING)
		return true;
	token = proof_format_answer(work->options->key, subscriber, work->options->now);
	*reply_to =
	    extension_format(&work->options->house->commands, EXTENSION_REPLY, token);
	return true;
}

/* Nothing is ever sent again but what is on its way, and then all is erased. */
static bool
say_farewell(struct front_work *work, const struct front_guest *guest,
    int64_t outbox_id, GError **error)
{
	g_autoptr(GError) problem = NULL;
	pb_auto(subscriber) subscriber =
	    subscribe_find_any(work->store, guest->address, &problem);

	if (!subscriber && !g_error_matches(problem, PB_ERROR, PB_ERROR_NOT_FOUND)) {
		g_propagate_error(error, g_steal_pointer(&problem));
		return false;
	}
	return (!subscriber || subscribe_let_go(work->store, subscriber,
	                           work->options->now, error)) &&
	       erasure_insert_farewell(work->store, guest->key, guest->address,
	           outbox_id, work->options->now, error);
}

/* The token of the first use stays valid beside one that is sent later. */
static bool
make_undo(struct front_work *work, const struct front_guest *guest, const char *action,
    struct draft *draft, GError **error)
{
	return (guest->undo ||
	           tickets_kill(work->store, TICKET_UNDO, guest->key, error)) &&
	       make_ticket(work, guest, TICKET_UNDO, guest->address, action, NULL,
	           draft, error);
}

static bool
tell(struct front_work *work, const struct front_guest *guest,
    struct command_reply *reply, GError **error)
{
	g_autofree char *subject = format_subject(work, guest, reply);
	g_autofree char *reply_to = NULL;
	__attribute__((cleanup(draft_clear))) struct draft undo = {0};
	__attribute__((cleanup(draft_clear))) struct draft suggestion = {0};
	struct dispatch_letter letter = {.kind = OUTBOX_ANSWER};
	int64_t id;

	if (reply->undo && !make_undo(work, guest, reply->undo, &undo, error))
		return false;
	if (reply->suggestion && guest->subscriber &&
	    (!tickets_kill(work->store, TICKET_CONFIRM, guest->key, error) ||
	        !make_ticket(work, guest, TICKET_CONFIRM, guest->address,
	            reply->suggestion, NULL, &suggestion, error)))
		return false;
	command_reply_fill(reply, NULL, undo.token);
	if (!load_reply_to(work, guest, &reply_to, error))
		return false;
	letter.recipient = guest->address;
	letter.sender = "";
	letter.reply_to = reply_to;
	letter.subject = subject;
	letter.text = reply->text;
	letter.file_name = reply->attachment_name;
	letter.file_type = reply->attachment_type;
	letter.file_text = reply->attachment;
	work->report->outcome = FRONT_ANSWERED;
	return send(work, guest, &letter, &id, error) &&
	       (!reply->is_forgotten || say_farewell(work, guest, id, error));
}

static enum limits_case
get_case(const struct front_guest *guest, const struct command_reply *reply)
{
	if (guest->has_left)
		return LIMITS_LEFT;
	if (guest->has_token || (guest->is_proven && guest->subscriber))
		return reply->is_help ? LIMITS_PROVEN_HELP : LIMITS_PROVEN;
	if (guest->subscriber)
		return reply->is_help ? LIMITS_ANSWER_HELP : LIMITS_ANSWER;
	if (reply->pending)
		return get_confirmation_case(guest);
	return reply->is_help ? LIMITS_STRANGER_HELP : LIMITS_STRANGER;
}

/* Silence that comes without a word would be taken for a fault. */
static bool
announce_silence(struct front_work *work, const struct front_guest *guest,
    enum limits_case what, struct command_reply *reply, GError **error)
{
	const struct phrasebook *book = work->options->phrases;
	g_autofree char *number = NULL, *words = NULL, *wrapped = NULL;
	/* A proof has answers of its own, and so have requests of strangers. */
	const char *phrase = what == LIMITS_ANSWER || what == LIMITS_ANSWER_HELP
	                         ? "last_answer_unproven"
	                     : what == LIMITS_STRANGER || what == LIMITS_STRANGER_HELP
	                         ? "last_answer_stranger"
	                         : "last_answer";
	char *whole;
	unsigned most;

	if (!limits_find_last(&work->limits, what, guest->address, &most, error))
		return false;
	if (!most || !book)
		return true;
	number = g_strdup_printf("%u", most);
	words = phrases_format(
	    book, get_language(work, guest, reply), phrase, "most", number, NULL);
	wrapped = wrap_format_text(words, BOUNDS_TEXT_COLUMNS);
	whole = g_strconcat(reply->text, "\n", wrapped, NULL);
	g_free(reply->text);
	reply->text = whole;
	return true;
}

bool
front_answer(struct front_work *work, const struct front_guest *guest,
    struct command_reply *reply, GError **error)
{
	enum limits_case what = get_case(guest, reply);
	const char *why;

	if (!limits_check(&work->limits, what, guest->address, &why, error))
		return false;
	/* An unsubscription is always reported: somebody else may have asked for it. */
	if (why && (!reply->undo || guest->has_left) && !reply->is_forgotten) {
		front_keep_silent(work, FRONT_LIMITED, why);
		return !limits_is_exhausted(why) ||
		       allowance_save_dropped(work->store, work->options->now, error);
	}
	if (!announce_silence(work, guest, what, reply, error))
		return false;
	return (reply->pending ? ask(work, guest, reply, error)
	                       : tell(work, guest, reply, error)) &&
	       (!reply->undo || what == LIMITS_LEFT ||
	           limits_count(&work->limits, LIMITS_LEFT, guest->address, error)) &&
	       limits_count(&work->limits, what, guest->address, error);
}

bool
front_keep_undo(struct front_work *work, const struct front_guest *guest,
    const struct command_reply *reply, GError **error)
{
	__attribute__((cleanup(draft_clear))) struct draft draft = {0};

	return make_undo(work, guest, reply->undo, &draft, error);
}

bool
front_offer_undo(
    struct front_work *work, const struct front_guest *guest, GError **error)
{
	struct command_visitor visitor = front_get_visitor(guest);
	struct command_reply reply = {0};
	bool is_ok =
	    command_say(&work->context, &visitor, "left_before", NULL, &reply, error);

	if (is_ok) {
		/* Another token for the same: of the first one only the hash is known.
		 */
		reply.undo = g_strdup(guest->undo->action);
		is_ok = front_answer(work, guest, &reply, error);
	}
	command_reply_clear(&reply);
	return is_ok;
}
