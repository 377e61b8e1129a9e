/*
 * handler_reply.c - send a reply or a request to confirm, within the rate limits.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/token.h"
#include "message/address.h"
#include "render/wrap.h"
#include "service/command/command.h"
#include "service/delivery/mail_token.h"
#include "service/inbound/handler_private.h"
#include "service/inbound/rate_limit.h"
#include "service/log/event.h"
#include "service/people/policy.h"
#include "service/people/subscribe.h"
#include "store/mail/rate_log.h"
#include "store/subscriber/audit.h"
#include "store/subscriber/erasure.h"
#include "store/subscriber/proposals.h"
#include "store/subscriber/subscribers.h"
#include "store/subscriber/suppression.h"

/* Hexadecimal digits of a token's hash in the Message-ID. */
#define CONFIRM_ID_DIGITS 32

void
handler_drop(struct request *request, enum handler_outcome outcome, const char *reason)
{
	request->report->outcome = outcome;
	request->report->reason = reason;
	if (request->envelope)
		event_log_committed(request->store, EVENT_REPLY_SUPPRESSED,
		    EVENT_INT("inbox", request->envelope->id),
		    EVENT_WORD("reason", reason));
	else
		event_log_committed(request->store, EVENT_REPLY_SUPPRESSED,
		    EVENT_WORD("actor", request->actor), EVENT_WORD("reason", reason));
}

struct system_mailer
handler_get_mailer(const struct request *request)
{
	return (struct system_mailer){request->store, request->settings,
	    request->own_addresses, request->random, request->now};
}

/* ---- confirmations ---- */

/* A confirmation about to be stored, with its token. */
struct draft {
	struct confirmation confirmation;
	char *hash;
	char *token;
};

static void
draft_clear(struct draft *draft)
{
	g_clear_pointer(&draft->hash, g_free);
	g_clear_pointer(&draft->token, g_free);
}

static const enum confirmation_purpose purposes[] = {
    [COMMAND_CONFIRM_SUBSCRIBE] = CONFIRMATION_CONFIRM,
    [COMMAND_CONFIRM_CHANGE] = CONFIRMATION_CONFIRM,
    [COMMAND_CONFIRM_EXPORT] = CONFIRMATION_CONFIRM,
    [COMMAND_CONFIRM_ADDRESS] = CONFIRMATION_ADDRESS,
    [COMMAND_CONFIRM_ERASE] = CONFIRMATION_FORGET,
};

static const int64_t validities_s[] = {
    [CONFIRMATION_CONFIRM] = HANDLER_CONFIRM_S,
    [CONFIRMATION_ADDRESS] = HANDLER_CONFIRM_S,
    [CONFIRMATION_UNDO] = HANDLER_UNDO_S,
    [CONFIRMATION_FORGET] = HANDLER_ERASE_S,
    [CONFIRMATION_APPROVAL] = HANDLER_OTHERS_S,
    [CONFIRMATION_INVITATION] = HANDLER_OTHERS_S,
};

/*
 * Store a confirmation for the requester, unless the draft names another address.
 *
 * @param draft  else zeroed by the caller; draft_clear() it
 */
static bool
insert_confirmation(struct request *request, enum confirmation_purpose purpose,
    const char *recipient, const char *action, struct draft *draft, GError **error)
{
	struct system_mailer mailer = handler_get_mailer(request);

	draft->token = system_mail_new_token(&mailer);
	draft->confirmation.hash = draft->hash = token_hash_random(draft->token);
	draft->confirmation.purpose = purpose;
	if (!draft->confirmation.address) {
		draft->confirmation.address = request->address;
		draft->confirmation.address_key = request->address_key;
		draft->confirmation.subscriber_id = request->subscriber_id;
	}
	draft->confirmation.recipient = recipient;
	draft->confirmation.action = action;
	draft->confirmation.made_at = request->now;
	draft->confirmation.expires_at = purpose == CONFIRMATION_UNDO && request->undo
	                                     ? request->undo->expires_at
	                                     : request->now + validities_s[purpose];
	return confirmations_insert(request->store, &draft->confirmation, error);
}

/* Part of the record of consent: time of the request, and the text to be confirmed. */
static char *
format_details(const struct request *request)
{
	g_autoptr(GDateTime) at = g_date_time_new_from_unix_utc(request->now);
	g_autofree char *when = g_date_time_format(at, "%Y-%m-%d %H:%M:%S UTC");
	g_autofree char *hash =
	    g_compute_checksum_for_string(G_CHECKSUM_SHA256, request->reply.text, -1);

	return g_strdup_printf("asked by %s %s; text of the confirmation sha256:%s",
	    request->actor, when, hash);
}

/* Tokens and Message-ID of a request to confirm. */
struct route {
	char *bounce;
	char *id;
};

static void
route_clear(struct route *route)
{
	g_clear_pointer(&route->bounce, g_free);
	g_clear_pointer(&route->id, g_free);
}

/* @param mail  set: borrows from the route and the draft */
static void
route_init(const struct request *request, const struct draft *draft,
    struct route *route, struct system_mail *mail)
{
	route->bounce = token_sign(request->key, SUBADDRESS_TOKEN_BOUNCE_CONFIRMATION,
	    draft->confirmation.id, draft->confirmation.made_at);
	route->id = handler_format_confirm_id(&draft->confirmation);
	mail->bounce_token = route->bounce;
	mail->reply_kind = SUBADDRESS_CONFIRM;
	mail->reply_token = draft->token;
	mail->id = route->id;
}

char *
handler_format_confirm_subject(
    const struct request *request, const char *language, const char *pending)
{
	return command_format_confirm_subject(
	    request->catalog, language, pending, request->commands_address);
}

char *
handler_format_confirm_id(const struct confirmation *confirmation)
{
	return g_strndup(confirmation->hash, CONFIRM_ID_DIGITS);
}

/* ---- sending ---- */

static const char *
get_language(const struct request *request)
{
	return *request->reply.language ? request->reply.language : "en";
}

/* Nothing of the message is repeated to an unknown sender, who may be forged. */
static char *
format_subject(const struct request *request)
{
	const struct command_reply *reply = &request->reply;
	char *subject = NULL;

	if (reply->pending)
		return handler_format_confirm_subject(
		    request, get_language(request), reply->pending);
	if (reply->subject)
		return g_strdup(reply->subject);
	if (request->mail && (request->subscriber_id || request->has_token))
		subject = system_mail_format_subject(request->mail);
	return subject ? subject
	               : catalog_format(request->catalog, get_language(request),
	                     N_("Your message to {address}"), "address",
	                     request->commands_address, NULL);
}

static bool
send(struct request *request, struct system_mail *mail, int64_t *id, GError **error)
{
	struct system_mailer mailer = handler_get_mailer(request);
	const struct subscriber *subscriber = request->subscriber;
	bool is_text =
	    subscriber &&
	    subscriber->preferences.choice[PREFERENCE_FORMAT] == PREFERENCE_FORMAT_TEXT;
	/* The sender may be forged: a long reply is not made longer. */
	bool is_long =
	    !request->is_proven && strlen(request->reply.text) > BOUNDS_UNKNOWN_HTML;
	g_autofree char *html =
	    is_text || is_long || !request->renderer
	        ? NULL
	        : renderer_format_reply(request->renderer, get_language(request),
	              mail->subject, request->reply.text);

	mail->recipient = request->address;
	mail->text = request->reply.text;
	mail->html = html;
	mail->subscriber_id = request->subscriber_id;
	mail->answered = request->mail;
	request->report->is_queued = true;
	return system_mail_send(&mailer, mail, id, error);
}

static enum rate_case
get_confirmation_case(const struct request *request)
{
	if (request->is_proven)
		return RATE_CASE_CONFIRMATION_VERIFIED;
	return request->lines ? RATE_CASE_CONFIRMATION_PAGE : RATE_CASE_CONFIRMATION;
}

/* Send a question to the recipient of a confirmation, who is not the requester. */
static bool
send_question(struct request *request, const struct draft *draft, const char *subject,
    const char *text, GError **error)
{
	pb_local(route) route = {0};
	struct system_mailer mailer = handler_get_mailer(request);
	pb_local(command_reply) reply = {.text = g_strdup(text)};
	struct system_mail mail = {.kind = OUTBOX_CONFIRMATION,
	    .recipient = draft->confirmation.recipient,
	    .subject = subject};
	int64_t id;

	route_init(request, draft, &route, &mail);
	command_fill_tokens(&reply, draft->token, NULL);
	mail.text = reply.text;
	request->report->is_queued = true;
	return system_mail_send(&mailer, &mail, &id, error);
}

/* Ask the new address to confirm a change, too; if it is suppressed or rate limited,
 * the change cannot be made. */
static bool
ask_new_address(struct request *request, const char *subject, GError **error)
{
	pb_local(draft) draft = {0};
	const char *address = request->reply.new_address;
	g_autofree struct suppression *suppressed = NULL;
	pb_local(address) parsed = {0};
	g_autofree char *key = NULL;
	const char *reason;

	if (!address_parse(address, &parsed, error))
		return false;
	key = address_format_key(&parsed);
	return suppression_find(
	           request->store, request->key, key, &suppressed, error) &&
	       rate_limit_check(
	           request, get_confirmation_case(request), address, &reason, error) &&
	       (reason || suppressed ||
	           (insert_confirmation(request, CONFIRMATION_ADDRESS, address,
	                request->reply.pending, &draft, error) &&
	               send_question(
	                   request, &draft, subject, request->reply.new_text, error) &&
	               rate_limit_count(
	                   request, get_confirmation_case(request), address, error)));
}

/* ---- questions to others ---- */

/* Format the question to the owner whether somebody may subscribe. */
static char *
format_approval(const struct request *request, const char *address, const char *action)
{
	const char *url = request->settings->web_url;
	g_autofree char *page =
	    *url ? g_strdup_printf("Or open this page and press its button:\n\n"
	                           "%s/c/" COMMAND_CONFIRM_MARK "\n\n",
	               url)
	         : g_strdup("");

	return g_strdup_printf(
	    "%s asks to subscribe, and has confirmed the address.\n"
	    "Reply yes to agree, or no to decline. Without an answer within 14 days\n"
	    "the request ends.\n\n%sWhat was asked for:\n\n%s\n",
	    address, page, action);
}

/* The lines of an action, and those of another one that it does not have. */
static char *
merge_actions(const char *action, const char *other)
{
	g_auto(GStrv) lines = g_strsplit(action, "\n", -1);
	g_auto(GStrv) more = g_strsplit(other, "\n", -1);
	GString *all = g_string_new(action);

	for (char **line = more; *line; line++)
		if (!g_strv_contains((const char *const *)lines, *line))
			g_string_append_printf(all, "\n%s", *line);
	return g_string_free(all, FALSE);
}

bool
handler_ask_owner(struct request *request, const struct confirmation *asked,
    const char **reason, GError **error)
{
	const char *owner = request->settings->mail_owner;
	g_autofree struct confirmation *waiting = NULL;
	g_autofree char *subject = g_strdup_printf("May %s subscribe?", asked->address);
	g_autofree char *action = NULL, *text = NULL;
	pb_local(draft) draft = {.confirmation = {.address = asked->address,
	                             .address_key = asked->address_key,
	                             .details = asked->details}};

	*reason = NULL;
	if (!confirmations_find_pending(request->store, CONFIRMATION_APPROVAL,
	        asked->address_key, request->now, &waiting, error))
		return false;
	action = waiting ? merge_actions(waiting->action, asked->action)
	                 : g_strdup(asked->action);
	if (waiting && strcmp(action, waiting->action) == 0)
		return true;
	text = format_approval(request, asked->address, action);
	/* A second request is asked about together with the first. */
	return rate_limit_check(request, RATE_CASE_OWNER, owner, reason, error) &&
	       (*reason ||
	           (confirmations_revoke(request->store, CONFIRMATION_APPROVAL,
	                asked->address_key, error) &&
	               insert_confirmation(request, CONFIRMATION_APPROVAL, owner,
	                   action, &draft, error) &&
	               send_question(request, &draft, subject, text, error) &&
	               rate_limit_count(request, RATE_CASE_OWNER, owner, error)));
}

/* @param reason  set if the address gets no invitation; static */
static bool
check_invited(struct request *request, const struct address *address, const char *key,
    bool is_operator, const char **reason, GError **error)
{
	enum rate_case rate_case = get_confirmation_case(request);
	g_autofree struct suppression *suppressed = NULL;
	pb_auto(subscriber) subscriber = NULL;
	enum subaddress_kind kind;
	g_autofree char *token = NULL;

	*reason = NULL;
	if (!subscribers_find(request->store, key, &subscriber, error) ||
	    !suppression_find(request->store, request->key, key, &suppressed, error))
		return false;
	if (subaddress_parse(
	        &request->own_addresses->commands, address->text, &kind, &token))
		*reason = "our own address";
	else if (suppressed)
		*reason = "suppressed: it gets no mail";
	else if (subscriber && subscriber_is_subscribed(subscriber))
		*reason = "already subscribed";
	else if (!is_operator && subscriber)
		*reason = "was subscribed";
	else if (!is_operator &&
	         !policy_allows_domain(request->settings, address->text))
		*reason = "other domain";
	if (*reason || is_operator)
		return true;
	return rate_limit_check(request, rate_case, address->text, reason, error) &&
	       (*reason || rate_limit_check(request, RATE_CASE_INVITATION,
	                       request->address, reason, error)) &&
	       (*reason ||
	           (rate_limit_count(request, rate_case, address->text, error) &&
	               rate_limit_count(
	                   request, RATE_CASE_INVITATION, request->address, error)));
}

bool
handler_invite(
    struct request *request, const char *wanted, const char **reason, GError **error)
{
	bool is_operator = !request->address;
	const char *service = request->settings->mail_from_name;
	const char *inviter = !is_operator ? request->address
	                      : *service   ? service
	                                   : request->settings->mail_owner;
	const char *language = get_language(request);
	pb_local(address) address = {0};
	g_autofree char *key = NULL, *subject = NULL, *text = NULL, *details = NULL;
	pb_local(draft) draft = {0};

	if (!address_parse(wanted, &address, error))
		return false;
	key = address_format_key(&address);
	if (!check_invited(request, &address, key, is_operator, reason, error))
		return false;
	if (*reason)
		return true;
	/* Without an address: that of who invites may have to be erased. */
	details = g_strdup_printf(
	    "invited by %s", is_operator ? request->actor : "a subscriber");
	draft.confirmation = (struct confirmation){
	    .address = address.text, .address_key = key, .details = details};
	subject = catalog_format(request->catalog, language,
	    N_("{inviter} invites you: new research papers by mail"), "inviter",
	    inviter, NULL);
	text = command_format_invitation(request, language, inviter);
	return confirmations_revoke(
	           request->store, CONFIRMATION_INVITATION, key, error) &&
	       insert_confirmation(request, CONFIRMATION_INVITATION, address.text,
	           "subscribe", &draft, error) &&
	       send_question(request, &draft, subject, text, error) &&
	       audit_insert(request->store, request->now, request->actor, "invited",
	           request->subscriber_id, NULL, error);
}

/* Invite addresses; the reply does not tell which are subscribed or get no mail. */
static bool
send_invitations(struct request *request, GError **error)
{
	const GPtrArray *invited = request->reply.invited;
	const char *reason;

	for (guint i = 0; invited && i < invited->len; i++)
		if (!handler_invite(request, invited->pdata[i], &reason, error))
			return false;
	return true;
}

static bool
ask_to_confirm(struct request *request, GError **error)
{
	struct command_reply *reply = &request->reply;
	enum confirmation_purpose purpose = purposes[reply->confirm];
	g_autofree char *subject = format_subject(request);
	g_autofree char *details = format_details(request);
	pb_local(draft) draft = {.confirmation = {.details = details}};
	pb_local(route) route = {0};
	struct system_mail mail = {.kind = OUTBOX_CONFIRMATION, .subject = subject};
	int64_t id;

	if (!confirmations_revoke(
	        request->store, purpose, request->address_key, error) ||
	    !insert_confirmation(
	        request, purpose, request->address, reply->pending, &draft, error) ||
	    !audit_insert(request->store, request->now, request->actor,
	        "confirmation asked", request->subscriber_id,
	        confirmation_purpose_name(purpose), error))
		return false;
	if (reply->new_address && !ask_new_address(request, subject, error))
		return false;
	route_init(request, &draft, &route, &mail);
	command_fill_tokens(reply, draft.token, NULL);
	request->report->outcome = HANDLER_CONFIRMING;
	return send(request, &mail, &id, error);
}

/* Replies of a subscriber to the reply are proven by this token. */
static char *
format_reply_token(const struct request *request)
{
	if (request->confirm_token)
		return g_strdup(request->confirm_token);
	return request->subscriber ? mail_token_format_answer(request->key,
	                                 request->subscriber, request->now)
	                           : NULL;
}

/* End all other mail, and erase the data once this reply is out. */
static bool
schedule_erasure(struct request *request, int64_t outbox_id, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;

	return subscribers_find(
	           request->store, request->address_key, &subscriber, error) &&
	       (!subscriber || subscribe_remove_now(
	                           request->store, subscriber, request->now, error)) &&
	       erasure_insert_pending(request->store, request->address_key,
	           request->address, outbox_id, request->now, error);
}

/* A token sent earlier for the same removal stays valid. */
static bool
insert_undo(struct request *request, struct draft *draft, GError **error)
{
	if ((!request->undo && !confirmations_revoke(request->store, CONFIRMATION_UNDO,
	                           request->address_key, error)) ||
	    !insert_confirmation(request, CONFIRMATION_UNDO, request->address,
	        request->reply.undo, draft, error))
		return false;
	g_strlcpy(request->report->undo, draft->token, sizeof(request->report->undo));
	return true;
}

bool
handler_save_undo(struct request *request, GError **error)
{
	pb_local(draft) draft = {0};

	return insert_undo(request, &draft, error);
}

/* @param id  set: of the Message-ID, by which a plain "yes" finds the suggestion */
static bool
save_suggestion(struct request *request, char **id, GError **error)
{
	pb_local(draft) draft = {0};

	if (!confirmations_revoke(
	        request->store, CONFIRMATION_CONFIRM, request->address_key, error) ||
	    !insert_confirmation(request, CONFIRMATION_CONFIRM, request->address,
	        request->reply.suggestion, &draft, error))
		return false;
	g_free(*id);
	*id = handler_format_confirm_id(&draft.confirmation);
	return true;
}

/* @param id  of the Message-ID of the reply */
static bool
save_shown(struct request *request, const char *id, GError **error)
{
	const GArray *shown = request->reply.shown;
	g_autofree char *message = g_strconcat("letter.", id, NULL);

	for (guint i = 0; shown && request->subscriber && i < shown->len; i++)
		if (!proposals_save_shown(request->store, request->subscriber->id,
		        g_array_index(shown, unsigned, i), message, request->now,
		        error))
			return false;
	return true;
}

static bool
send_reply(struct request *request, GError **error)
{
	struct command_reply *reply = &request->reply;
	g_autofree char *subject = format_subject(request);
	g_autofree char *token = format_reply_token(request);
	struct system_mailer mailer = handler_get_mailer(request);
	g_autofree char *message_id = system_mail_new_token(&mailer);
	pb_local(draft) undo = {0};
	struct system_mail mail = {
	    .kind = OUTBOX_REPLY,
	    .sender = "",
	    .reply_token = token,
	    .reply_kind =
	        request->confirm_token ? SUBADDRESS_CONFIRM : SUBADDRESS_REPLY,
	    .subject = subject,
	    .file_name = reply->attachment_name,
	    .file_type = reply->attachment_type,
	    .file_text = reply->attachment,
	};
	int64_t id;

	if (reply->undo && !insert_undo(request, &undo, error))
		return false;
	if (reply->suggestion && request->subscriber_id &&
	    !save_suggestion(request, &message_id, error))
		return false;
	mail.id = message_id;
	command_fill_tokens(reply, NULL, undo.token);
	request->report->outcome = HANDLER_REPLIED;
	return send(request, &mail, &id, error) &&
	       save_shown(request, message_id, error) &&
	       (!reply->is_erased || schedule_erasure(request, id, error));
}

/* ---- rate limits ---- */

static enum rate_case
get_case(const struct request *request)
{
	if (request->is_removed)
		return RATE_CASE_REMOVED;
	if (request->has_token || (request->is_proven && request->subscriber_id))
		return RATE_CASE_PROVEN;
	if (request->subscriber_id)
		return RATE_CASE_UNPROVEN;
	if (request->reply.pending)
		return get_confirmation_case(request);
	return RATE_CASE_UNKNOWN;
}

/* @param has_proven  whether messages that only the person can send still get one */
static const char *
get_last_reply_phrase(enum rate_case rate_case, bool has_proven)
{
	if (rate_case == RATE_CASE_UNPROVEN && has_proven)
		return N_("This is the last reply for now to messages that anybody "
		          "could have sent in your name: the limit is {most} in 24 "
		          "hours. Replies to this message or to a digest still get a "
		          "reply, and \"unsubscribe\" always does.");
	return rate_case == RATE_CASE_UNKNOWN
	           ? N_("This is the last reply for now: the limit is {most} in 24 "
	                "hours. Only \"subscribe\" still gets a reply.")
	           : N_("This is the last reply for now: the limit is {most} in 24 "
	                "hours. Further commands are carried out if they need no "
	                "reply. \"unsubscribe\" always gets a reply.");
}

/* The last reply of a day says so, or further silence would look like a fault. */
static bool
announce_limit(struct request *request, enum rate_case rate_case, GError **error)
{
	struct command_reply *reply = &request->reply;
	g_autofree char *number = NULL, *words = NULL, *wrapped = NULL;
	const char *proven = NULL;
	char *whole;
	unsigned most;

	if (!rate_limit_find_last(request, rate_case, request->address, &most, error) ||
	    (most && !rate_limit_check(
	                 request, RATE_CASE_PROVEN, request->address, &proven, error)))
		return false;
	if (!most || !request->catalog)
		return true;
	number = g_strdup_printf("%u", most);
	words = catalog_format(request->catalog, get_language(request),
	    get_last_reply_phrase(rate_case, !proven), "most", number, NULL);
	wrapped = wrap_format_text(words, BOUNDS_TEXT_COLUMNS);
	whole = g_strconcat(reply->text, "\n", wrapped, NULL);
	g_free(reply->text);
	reply->text = whole;
	return true;
}

bool
handler_reply(struct request *request, GError **error)
{
	const struct command_reply *reply = &request->reply;
	enum rate_case rate_case = get_case(request);
	const char *reason = NULL;

	if (!send_invitations(request, error))
		return false;
	/* The result of a request, once. */
	if (request->is_awaited && request->subscriber && !reply->pending)
		return send_reply(request, error);
	if (!rate_limit_check(request, rate_case, request->address, &reason, error))
		return false;
	/* Unsubscribing and erasure are always reported: the sender may be forged. */
	if (reason && (!reply->undo || request->is_removed) && !reply->is_erased) {
		handler_drop(request, HANDLER_LIMITED, reason);
		return !rate_limit_is_exhausted(reason) ||
		       rate_log_save_dropped(request->store, request->now, error);
	}
	return announce_limit(request, rate_case, error) &&
	       (reply->pending ? ask_to_confirm(request, error)
	                       : send_reply(request, error)) &&
	       (!reply->undo || rate_case == RATE_CASE_REMOVED ||
	           rate_limit_count(
	               request, RATE_CASE_REMOVED, request->address, error)) &&
	       rate_limit_count(request, rate_case, request->address, error);
}
