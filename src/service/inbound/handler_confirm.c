/*
 * handler_confirm.c - what a letter to a ticket's address makes of the ticket.
 */
#include <string.h>

#include "base/token.h"
#include "service/inbound/request.h"
#include "store/core/audit.h"
#include "store/subscriber/subscribers.h"

bool
request_find_confirmation(struct request *work, const char *token, unsigned purposes,
    struct confirmation **ticket, GError **error)
{
	g_autofree char *hash = token_hash_random(token);
	pb_auto(confirmation) found = NULL;

	*ticket = NULL;
	if (!hash)
		return true;
	if (!confirmations_find(work->store, hash, &found, error))
		return false;
	if (found && found->used_at < 0 && found->expires_at > work->options->now &&
	    purposes & 1U << found->purpose)
		*ticket = g_steal_pointer(&found);
	return true;
}

/* How this person agreed: asked, told, confirmed. */
static bool
save_consent(struct request *work, const struct confirmation *ticket, GError **error)
{
	g_autoptr(GDateTime) at = g_date_time_new_from_unix_utc(work->options->now);
	g_autofree char *when = g_date_time_format(at, "%Y-%m-%d %H:%M:%S UTC");
	pb_auto(subscriber) subscriber = NULL;

	if (!subscribers_find(work->store, ticket->address_key, &subscriber, error))
		return false;
	if (!subscriber || subscriber->state != SUBSCRIBER_ACTIVE || !ticket->details)
		return true;
	g_free(subscriber->consent_text);
	subscriber->consent_text =
	    g_strdup_printf("%s; confirmed by mail %s (ticket %" G_GINT64_FORMAT ")",
	        ticket->details, when, ticket->id);
	subscriber->consent_at = work->options->now;
	return subscribers_update(work->store, subscriber, error);
}

/* No limit holds this back: it is how a move that nobody wanted is noticed. */
static bool
tell_old_address(struct request *work, const struct requester *requester,
    const struct command_reply *reply, GError **error)
{
	const struct system_mail mail = {
	    .kind = OUTBOX_NOTICE,
	    .recipient = reply->old_address,
	    .sender = "",
	    .reply_to = work->options->settings->mail_owner,
	    .subject = reply->old_subject,
	    .text = reply->old_text,
	    .subscriber_id = requester->subscriber ? requester->subscriber->id : 0,
	};
	int64_t id;

	work->report->is_queued = true;
	return system_mail_send(&work->system_mailer, &mail, &id, error);
}

/*
 * The answer goes to the address that the mail goes to now; where the move was not
 * made, to who has just confirmed it.  The old address is told in any case.
 */
static bool
turn_to_new_address(struct request *work, const struct confirmation *ticket,
    struct requester *requester, const struct command_reply *reply, GError **error)
{
	pb_auto(subscriber) moved = NULL;

	if (reply->old_text && requester->subscriber) {
		if (!tell_old_address(work, requester, reply, error))
			return false;
		moved = subscribers_load(work->store, requester->subscriber->id, error);
		if (!moved)
			return false;
	}
	requester_clear(requester);
	return request_find_requester(
	    work, moved ? moved->address : ticket->recipient, requester, error);
}

/* The commands that were fixed, by whoever they were fixed for. */
static bool
run_pending(struct request *work, const struct confirmation *ticket, GError **error)
{
	__attribute__((cleanup(requester_clear))) struct requester requester = {0};
	struct command_reply reply = {0};
	struct command_user user;
	bool was_here, is_ok;

	if (!request_find_requester(work, ticket->address, &requester, error))
		return false;
	was_here = requester.subscriber;
	requester.is_proven = requester.has_token = true;
	user = requester_get_user(&requester);
	user.is_proven = true;
	if (work->is_reply)
		user.confirmed_by = work->mail->text;
	is_ok =
	    command_run_confirmed(&work->context, &user, ticket->action, &reply, error);
	if (is_ok && reply.is_changed)
		work->report->is_changed = true;
	if (is_ok && !was_here && ticket->purpose == CONFIRMATION_CONFIRM)
		is_ok = save_consent(work, ticket, error);
	if (is_ok && ticket->purpose == CONFIRMATION_ADDRESS)
		is_ok = turn_to_new_address(work, ticket, &requester, &reply, error);
	is_ok = is_ok &&
	        audit_insert(work->store, work->options->now, "mail",
	            "confirmation used", ticket->subscriber_id,
	            confirmation_purpose_name(ticket->purpose), error) &&
	        request_reply(work, &requester, &reply, error);
	command_reply_clear(&reply);
	return is_ok;
}

/* To the recipient of the confirmation. @param token  when it is still open, else NULL
 */
static bool
say_to_asked(struct request *work, const struct confirmation *ticket,
    const char *phrase, const char *value, const char *token, GError **error)
{
	__attribute__((cleanup(requester_clear))) struct requester requester = {0};
	g_autofree char *reply_to = NULL;
	struct command_user user;
	struct command_reply reply = {0};
	bool is_ok;

	if (!request_find_requester(work, ticket->recipient, &requester, error))
		return false;
	reply_to = token ? subaddress_format(&work->options->own_addresses->commands,
	                       SUBADDRESS_CONFIRM, token)
	                 : NULL;
	requester.has_token = true;
	requester.reply_to = reply_to;
	user = requester_get_user(&requester);
	is_ok = command_say(&work->context, &user, phrase, value, &reply, error);
	if (is_ok) {
		command_reply_fill(&reply, token, NULL);
		is_ok = request_reply(work, &requester, &reply, error);
	}
	command_reply_clear(&reply);
	return is_ok;
}

/* The first of the two confirmations of a change of address came. */
static bool
report_half_confirmed(
    struct request *work, const struct confirmation *ticket, GError **error)
{
	bool is_new = strcmp(ticket->recipient, ticket->address) != 0;
	g_auto(GStrv) words = g_strsplit_set(ticket->action, " \n", 3);

	/* The new address may be a stranger's: it is not told the old one. */
	return is_new
	           ? say_to_asked(work, ticket, "half_confirmed_new", NULL, NULL, error)
	           : say_to_asked(work, ticket, "half_confirmed_old",
	                 words[0] ? words[1] : NULL, NULL, error);
}

bool
request_confirm(struct request *work, const struct confirmation *ticket, GError **error)
{
	int64_t used = 0;

	if (!confirmations_consume(
	        work->store, ticket->id, work->options->now, error) ||
	    !rate_limit_refund(&work->limits, ticket->recipient, error))
		return false;
	/* Of one unsubscription there may be several. */
	if (ticket->purpose == CONFIRMATION_UNDO &&
	    !confirmations_revoke(
	        work->store, CONFIRMATION_UNDO, ticket->address_key, error))
		return false;
	if (ticket->purpose != CONFIRMATION_ADDRESS)
		return run_pending(work, ticket, error);
	/* A new request takes the used ones of an old one away, too. */
	if (!confirmations_count_used(
	        work->store, CONFIRMATION_ADDRESS, ticket->address_key, &used, error))
		return false;
	return used == 2 ? run_pending(work, ticket, error)
	                 : report_half_confirmed(work, ticket, error);
}

/* A refusal ends it, and both halves of a change of address. */
static bool
decline(struct request *work, const struct confirmation *ticket, GError **error)
{
	bool is_ok = ticket->purpose == CONFIRMATION_ADDRESS
	                 ? confirmations_revoke(work->store, CONFIRMATION_ADDRESS,
	                       ticket->address_key, error)
	                 : confirmations_delete(work->store, ticket->id, error);

	request_drop(work, HANDLER_IGNORED, "declined");
	return is_ok &&
	       rate_limit_end_interval(&work->limits, ticket->recipient, error) &&
	       audit_insert(work->store, work->options->now, "mail",
	           "confirmation declined", ticket->subscriber_id,
	           confirmation_purpose_name(ticket->purpose), error);
}

/* One question per confirmation: two programs would answer each other for ever. */
static bool
ask_for_yes(struct request *work, const struct confirmation *ticket, const char *token,
    GError **error)
{
	if (ticket->questioned_at >= 0) {
		request_drop(work, HANDLER_IGNORED, "unclear");
		return true;
	}
	return confirmations_save_questioned(
	           work->store, ticket->id, work->options->now, error) &&
	       say_to_asked(work, ticket, "unclear", NULL, token, error);
}

enum consent
handler_judge_consent(
    const struct request *work, const struct confirmation *ticket, const char *token)
{
	const struct catalog *book = work->options->phrases;
	g_autofree char *list = book ? catalog_format_languages(book) : NULL;
	g_auto(GStrv) subjects = g_strsplit(list ? list : "en", ", ", -1);
	g_autofree char *name =
	    ticket ? handler_format_confirm_id(ticket) : g_strdup("");
	g_autofree char *id = system_mail_format_message_id(&work->system_mailer, name);
	const struct consent_question question = {
	    .token = token,
	    .message_id = id,
	    .subjects = (const char *const *)subjects,
	};

	for (char **at = subjects; *at; at++) {
		g_autofree char *language = *at;

		*at = handler_format_confirm_subject(work, language);
	}
	return confirm_match(work->mail, &question);
}

bool
request_authorize(struct request *work, const struct confirmation *ticket,
    const char *token, GError **error)
{
	switch (handler_judge_consent(work, ticket, token)) {
	case CONSENT_YES:
		work->is_reply = true;
		return request_confirm(work, ticket, error);
	case CONSENT_NO:
		return decline(work, ticket, error);
	case CONSENT_AUTOMATIC:
		request_drop(work, HANDLER_IGNORED, "automatic");
		return true;
	case CONSENT_UNCLEAR:
		return ask_for_yes(work, ticket, token, error);
	}
	g_assert_not_reached();
}
