/*
 * handler_reply.c - what the commands came to goes out, with tickets where it waits.
 */
#include "base/bounds.h"
#include "base/error.h"
#include "base/token.h"
#include "render/wrap.h"
#include "service/inbound/request.h"
#include "service/people/subscribe.h"
#include "store/core/audit.h"
#include "store/mail/rate_log.h"
#include "store/subscriber/erasure.h"
#include "store/subscriber/subscribers.h"

/* Hexadecimal digits of a ticket's hash in the Message-ID of its mail. */
#define CONFIRM_ID_DIGITS 32

/* A ticket that is about to be made, and where its token goes. */
struct skeleton {
	struct confirmation ticket;
	char *token;
};

static void
draft_clear(struct skeleton *skeleton)
{
	g_clear_pointer(&skeleton->ticket.hash, g_free);
	g_clear_pointer(&skeleton->token, g_free);
}

static enum confirmation_purpose
get_purpose(enum command_mode purpose)
{
	switch (purpose) {
	case COMMAND_CONFIRM_NOTHING:
	case COMMAND_CONFIRM_SUBSCRIBE:
	case COMMAND_CONFIRM_CHANGE:
	case COMMAND_CONFIRM_EXPORT:
		break;
	case COMMAND_CONFIRM_ADDRESS:
		return CONFIRMATION_ADDRESS;
	case COMMAND_CONFIRM_FORGET:
		return CONFIRMATION_FORGET;
	}
	return CONFIRMATION_CONFIRM;
}

static int64_t
get_life(enum confirmation_purpose purpose)
{
	switch (purpose) {
	case CONFIRMATION_CONFIRM:
	case CONFIRMATION_ADDRESS:
		break;
	case CONFIRMATION_UNDO:
		return HANDLER_UNDO_S;
	case CONFIRMATION_FORGET:
		return HANDLER_FORGET_S;
	}
	return HANDLER_CONFIRM_S;
}

/* @param draft  zeroed by the caller; draft_clear() it */
static bool
make_ticket(struct request *work, const struct requester *requester,
    enum confirmation_purpose purpose, const char *recipient, const char *action,
    const char *details, struct skeleton *skeleton, GError **error)
{
	skeleton->token = system_mail_new_token(&work->system_mailer);
	skeleton->ticket = (struct confirmation){
	    .hash = token_hash_random(skeleton->token),
	    .purpose = purpose,
	    .address = requester->address,
	    .address_key = requester->key,
	    .recipient = (char *)recipient,
	    .subscriber_id = requester->subscriber ? requester->subscriber->id : 0,
	    .action = (char *)action,
	    .details = (char *)details,
	    .made_at = work->options->now,
	    .expires_at = purpose == CONFIRMATION_UNDO && requester->undo
	                      ? requester->undo->expires_at
	                      : work->options->now + get_life(purpose),
	};
	return confirmations_insert(work->store, &skeleton->ticket, error);
}

/* For the consent: when and how it was asked, and which words were to be confirmed. */
static char *
format_details(const struct request *work, const char *text)
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
find_way(const struct request *work, const struct skeleton *skeleton, struct way *way)
{
	const struct own_addresses *own_addresses = work->options->own_addresses;
	g_autofree char *back =
	    token_sign(work->options->key, SUBADDRESS_TOKEN_BOUNCE_CONFIRMATION,
	        skeleton->ticket.id, skeleton->ticket.made_at);

	way->reply_to = subaddress_format(
	    &own_addresses->commands, SUBADDRESS_CONFIRM, skeleton->token);
	way->sender =
	    subaddress_format(&own_addresses->bounces, SUBADDRESS_BOUNCE, back);
	way->id = handler_format_confirm_id(&skeleton->ticket);
}

char *
handler_format_confirm_subject(const struct request *work, const char *language)
{
	const char *address = work->options->own_addresses->commands.address.text;

	return work->options->phrases
	           ? catalog_format(work->options->phrases, language, "subject.confirm",
	                 "address", address, NULL)
	           : g_strdup_printf("Please confirm your request to %s", address);
}

char *
handler_format_confirm_id(const struct confirmation *ticket)
{
	return g_strndup(ticket->hash, CONFIRM_ID_DIGITS);
}

/* The language of the text; if it has none, the subscriber's. */
static const char *
get_language(const struct request *work, const struct requester *requester,
    const struct command_reply *reply)
{
	const struct subscriber *subscriber = requester->subscriber;

	if (*reply->language)
		return reply->language;
	return subscriber && work->options->phrases &&
	               catalog_has_language(
	                   work->options->phrases, subscriber->language)
	           ? subscriber->language
	           : "en";
}

/* To a stranger nothing of the letter is repeated: it may have been made to be. */
static char *
format_subject(const struct request *work, const struct requester *requester,
    const struct command_reply *reply)
{
	const struct subscriber *subscriber = requester->subscriber;
	if (reply->pending) {
		return handler_format_confirm_subject(
		    work, get_language(work, requester, reply));
	}
	if (reply->subject)
		return g_strdup(reply->subject);
	if (subscriber || requester->has_token)
		return system_mail_format_subject(work->mail);
	return g_strdup_printf(
	    "Your letter to %s", work->options->own_addresses->commands.address.text);
}

static bool
send(struct request *work, const struct requester *requester,
    const struct system_mail *mail, int64_t *id, GError **error)
{
	struct system_mail whole = *mail;

	whole.subscriber_id = requester->subscriber ? requester->subscriber->id : 0;
	whole.answered = work->mail;
	work->report->is_queued = true;
	return system_mail_send(&work->system_mailer, &whole, id, error);
}

static enum rate_case
get_confirmation_case(const struct requester *requester)
{
	return requester->is_proven ? RATE_CASE_CONFIRMATION_VOUCHED
	                            : RATE_CASE_CONFIRMATION;
}

/* The second mail of a change of address, to the new one and with its own token. */
static bool
ask_new_address(struct request *work, const struct requester *requester,
    const struct command_reply *reply, const char *subject, GError **error)
{
	__attribute__((cleanup(draft_clear))) struct skeleton skeleton = {0};
	__attribute__((cleanup(way_clear))) struct way way = {0};
	struct command_reply other = {.text = g_strdup(reply->new_text)};
	struct system_mail mail;
	const char *why;
	int64_t id;
	bool is_ok;

	is_ok = rate_limit_check(&work->limits, get_confirmation_case(requester),
	    reply->new_address, &why, error);
	/* Whoever it is gets no more of them; then nothing can come of it. */
	if (is_ok && !why) {
		is_ok = make_ticket(work, requester, CONFIRMATION_ADDRESS,
		    reply->new_address, reply->pending, NULL, &skeleton, error);
		if (is_ok) {
			find_way(work, &skeleton, &way);
			command_reply_fill(&other, skeleton.token, NULL);
			mail = (struct system_mail){
			    .kind = OUTBOX_CONFIRMATION,
			    .recipient = reply->new_address,
			    .sender = way.sender,
			    .reply_to = way.reply_to,
			    .id = way.id,
			    .subject = subject,
			    .text = other.text,
			};
			/* A stranger gets it: it answers nothing of theirs. */
			is_ok =
			    system_mail_send(&work->system_mailer, &mail, &id, error) &&
			    rate_limit_count(&work->limits, RATE_CASE_CONFIRMATION,
			        reply->new_address, error);
		}
	}
	command_reply_clear(&other);
	return is_ok;
}

static bool
ask(struct request *work, const struct requester *requester,
    struct command_reply *reply, GError **error)
{
	enum confirmation_purpose purpose = get_purpose(reply->purpose);
	g_autofree char *subject = format_subject(work, requester, reply);
	g_autofree char *details = format_details(work, reply->text);
	__attribute__((cleanup(draft_clear))) struct skeleton skeleton = {0};
	__attribute__((cleanup(way_clear))) struct way way = {0};
	struct system_mail mail = {.kind = OUTBOX_CONFIRMATION};
	int64_t id;

	if (!confirmations_revoke(work->store, purpose, requester->key, error) ||
	    !make_ticket(work, requester, purpose, requester->address, reply->pending,
	        details, &skeleton, error) ||
	    !audit_insert(work->store, work->options->now, "mail", "confirmation asked",
	        requester->subscriber ? requester->subscriber->id : 0,
	        confirmation_purpose_name(purpose), error))
		return false;
	if (reply->new_address &&
	    !ask_new_address(work, requester, reply, subject, error))
		return false;
	find_way(work, &skeleton, &way);
	command_reply_fill(reply, skeleton.token, NULL);
	mail.recipient = requester->address;
	mail.sender = way.sender;
	mail.reply_to = way.reply_to;
	mail.id = way.id;
	mail.subject = subject;
	mail.text = reply->text;
	work->report->outcome = HANDLER_ASKED;
	return send(work, requester, &mail, &id, error);
}

/* An answer that can be answered: by who is a subscriber still, as a proof. */
static bool
load_reply_to(struct request *work, const struct requester *requester, char **reply_to,
    GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	g_autofree char *token = NULL;

	*reply_to = g_strdup(requester->reply_to);
	if (*reply_to)
		return true;
	if (!subscribers_find(work->store, requester->key, &subscriber, error))
		return false;
	if (!subscriber || subscriber->state == SUBSCRIBER_GONE ||
	    subscriber->state == SUBSCRIBER_PENDING)
		return true;
	token = mail_token_format_answer(
	    work->options->key, subscriber, work->options->now);
	*reply_to = subaddress_format(
	    &work->options->own_addresses->commands, SUBADDRESS_REPLY, token);
	return true;
}

/* Nothing is ever sent again but what is on its way, and then all is erased. */
static bool
say_final(struct request *work, const struct requester *requester, int64_t outbox_id,
    GError **error)
{
	pb_auto(subscriber) subscriber = NULL;

	return subscribers_find(work->store, requester->key, &subscriber, error) &&
	       (!subscriber || subscribe_remove_now(work->store, subscriber,
	                           work->options->now, error)) &&
	       erasure_insert_pending(work->store, requester->key, requester->address,
	           outbox_id, work->options->now, error);
}

/* The token of the first use stays valid beside one that is sent later. */
static bool
make_undo(struct request *work, const struct requester *requester, const char *action,
    struct skeleton *skeleton, GError **error)
{
	return (requester->undo || confirmations_revoke(work->store, CONFIRMATION_UNDO,
	                               requester->key, error)) &&
	       make_ticket(work, requester, CONFIRMATION_UNDO, requester->address,
	           action, NULL, skeleton, error);
}

static bool
tell(struct request *work, const struct requester *requester,
    struct command_reply *reply, GError **error)
{
	g_autofree char *subject = format_subject(work, requester, reply);
	g_autofree char *reply_to = NULL;
	__attribute__((cleanup(draft_clear))) struct skeleton undo = {0};
	__attribute__((cleanup(draft_clear))) struct skeleton suggestion = {0};
	struct system_mail mail = {.kind = OUTBOX_ANSWER};
	int64_t id;

	if (reply->undo && !make_undo(work, requester, reply->undo, &undo, error))
		return false;
	if (reply->suggestion && requester->subscriber &&
	    (!confirmations_revoke(
	         work->store, CONFIRMATION_CONFIRM, requester->key, error) ||
	        !make_ticket(work, requester, CONFIRMATION_CONFIRM, requester->address,
	            reply->suggestion, NULL, &suggestion, error)))
		return false;
	command_reply_fill(reply, NULL, undo.token);
	if (!load_reply_to(work, requester, &reply_to, error))
		return false;
	mail.recipient = requester->address;
	mail.sender = "";
	mail.reply_to = reply_to;
	mail.subject = subject;
	mail.text = reply->text;
	mail.file_name = reply->attachment_name;
	mail.file_type = reply->attachment_type;
	mail.file_text = reply->attachment;
	work->report->outcome = HANDLER_ANSWERED;
	return send(work, requester, &mail, &id, error) &&
	       (!reply->is_forgotten || say_final(work, requester, id, error));
}

static enum rate_case
get_case(const struct requester *requester, const struct command_reply *reply)
{
	if (requester->has_left)
		return RATE_CASE_LEFT;
	if (requester->has_token || (requester->is_proven && requester->subscriber))
		return reply->is_help ? RATE_CASE_PROVEN_HELP : RATE_CASE_PROVEN;
	if (requester->subscriber)
		return reply->is_help ? RATE_CASE_ANSWER_HELP : RATE_CASE_ANSWER;
	if (reply->pending)
		return get_confirmation_case(requester);
	return reply->is_help ? RATE_CASE_UNKNOWN_HELP : RATE_CASE_UNKNOWN;
}

/* Silence that comes without a word would be taken for a fault. */
static bool
announce_drop(struct request *work, const struct requester *requester,
    enum rate_case what, struct command_reply *reply, GError **error)
{
	const struct catalog *book = work->options->phrases;
	g_autofree char *number = NULL, *words = NULL, *wrapped = NULL;
	/* A proof has answers of its own, and so have requests of strangers. */
	const char *phrase =
	    what == RATE_CASE_ANSWER || what == RATE_CASE_ANSWER_HELP
	        ? "last_answer_unproven"
	    : what == RATE_CASE_UNKNOWN || what == RATE_CASE_UNKNOWN_HELP
	        ? "last_answer_stranger"
	        : "last_answer";
	char *whole;
	unsigned most;

	if (!rate_limit_find_last(
	        &work->limits, what, requester->address, &most, error))
		return false;
	if (!most || !book)
		return true;
	number = g_strdup_printf("%u", most);
	words = catalog_format(
	    book, get_language(work, requester, reply), phrase, "most", number, NULL);
	wrapped = wrap_format_text(words, BOUNDS_TEXT_COLUMNS);
	whole = g_strconcat(reply->text, "\n", wrapped, NULL);
	g_free(reply->text);
	reply->text = whole;
	return true;
}

bool
request_reply(struct request *work, const struct requester *requester,
    struct command_reply *reply, GError **error)
{
	enum rate_case what = get_case(requester, reply);
	const char *why;

	if (!rate_limit_check(&work->limits, what, requester->address, &why, error))
		return false;
	/* An unsubscription is always reported: somebody else may have asked for it. */
	if (why && (!reply->undo || requester->has_left) && !reply->is_forgotten) {
		request_drop(work, HANDLER_LIMITED, why);
		return !rate_limit_is_exhausted(why) ||
		       rate_log_save_dropped(work->store, work->options->now, error);
	}
	if (!announce_drop(work, requester, what, reply, error))
		return false;
	return (reply->pending ? ask(work, requester, reply, error)
	                       : tell(work, requester, reply, error)) &&
	       (!reply->undo || what == RATE_CASE_LEFT ||
	           rate_limit_count(
	               &work->limits, RATE_CASE_LEFT, requester->address, error)) &&
	       rate_limit_count(&work->limits, what, requester->address, error);
}

bool
request_save_undo(struct request *work, const struct requester *requester,
    const struct command_reply *reply, GError **error)
{
	__attribute__((cleanup(draft_clear))) struct skeleton skeleton = {0};

	return make_undo(work, requester, reply->undo, &skeleton, error);
}

bool
request_offer_undo(
    struct request *work, const struct requester *requester, GError **error)
{
	struct command_user user = requester_get_user(requester);
	struct command_reply reply = {0};
	bool is_ok =
	    command_say(&work->context, &user, "left_before", NULL, &reply, error);

	if (is_ok) {
		/* Another token for the same: of the first one only the hash is known.
		 */
		reply.undo = g_strdup(requester->undo->action);
		is_ok = request_reply(work, requester, &reply, error);
	}
	command_reply_clear(&reply);
	return is_ok;
}
