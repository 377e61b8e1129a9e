/*
 * front_ticket.c - what a letter to a ticket's address makes of the ticket.
 */
#include <string.h>

#include "base/token.h"
#include "service/front_work.h"
#include "store/audit.h"
#include "store/people.h"

bool
front_find_ticket(struct front_work *work, const char *token, unsigned purposes,
    struct ticket **ticket, GError **error)
{
	g_autofree char *hash = token_hash_drawn(token);
	g_autoptr(GError) problem = NULL;
	pb_auto(ticket) found = NULL;

	*ticket = NULL;
	if (!hash)
		return true;
	found = tickets_find(work->store, hash, &problem);
	if (problem) {
		g_propagate_error(error, g_steal_pointer(&problem));
		return false;
	}
	if (found && found->used_at < 0 && found->expires_at > work->options->now &&
	    purposes & 1U << found->purpose)
		*ticket = g_steal_pointer(&found);
	return true;
}

/* How this person agreed: asked, told, confirmed. */
static bool
save_consent(struct front_work *work, const struct ticket *ticket, GError **error)
{
	g_autoptr(GDateTime) at = g_date_time_new_from_unix_utc(work->options->now);
	g_autofree char *when = g_date_time_format(at, "%Y-%m-%d %H:%M:%S UTC");
	g_autoptr(GError) problem = NULL;
	pb_auto(subscriber) subscriber =
	    people_find(work->store, ticket->address_key, &problem);

	if (!subscriber || subscriber->state != SUBSCRIBER_ACTIVE || !ticket->details)
		return true;
	g_free(subscriber->consent_text);
	subscriber->consent_text =
	    g_strdup_printf("%s; confirmed by mail %s (ticket %" G_GINT64_FORMAT ")",
	        ticket->details, when, ticket->id);
	subscriber->consent_at = work->options->now;
	return people_update(work->store, subscriber, error);
}

/* No limit holds this back: it is how a move that nobody wanted is noticed. */
static bool
tell_old_address(struct front_work *work, const struct front_guest *guest,
    const struct command_reply *reply, GError **error)
{
	const struct dispatch_letter letter = {
	    .kind = OUTBOX_NOTICE,
	    .recipient = reply->old_address,
	    .sender = "",
	    .reply_to = work->options->settings->mail_owner,
	    .subject = reply->old_subject,
	    .text = reply->old_text,
	    .subscriber_id = guest->subscriber ? guest->subscriber->id : 0,
	};
	int64_t id;

	work->report->is_queued = true;
	return dispatch_send(&work->dispatch, &letter, &id, error);
}

/*
 * The answer goes to the address that the mail goes to now; where the move was not
 * made, to who has just confirmed it.  The old address is told in any case.
 */
static bool
turn_to_new_address(struct front_work *work, const struct ticket *ticket,
    struct front_guest *guest, const struct command_reply *reply, GError **error)
{
	pb_auto(subscriber) moved = NULL;

	if (reply->old_text && guest->subscriber) {
		if (!tell_old_address(work, guest, reply, error))
			return false;
		moved = people_load(work->store, guest->subscriber->id, error);
		if (!moved)
			return false;
	}
	front_guest_clear(guest);
	return front_find_guest(
	    work, moved ? moved->address : ticket->recipient, guest, error);
}

/* The commands that were fixed, by whoever they were fixed for. */
static bool
run_pending(struct front_work *work, const struct ticket *ticket, GError **error)
{
	__attribute__((cleanup(front_guest_clear))) struct front_guest guest = {0};
	struct command_reply reply = {0};
	struct command_visitor visitor;
	bool was_here, is_ok;

	if (!front_find_guest(work, ticket->address, &guest, error))
		return false;
	was_here = guest.subscriber;
	guest.is_proven = guest.has_token = true;
	visitor = front_get_visitor(&guest);
	visitor.is_proven = true;
	if (work->is_reply)
		visitor.confirmed_by = work->letter->text;
	is_ok = command_run_pending(
	    &work->context, &visitor, ticket->action, &reply, error);
	if (is_ok && reply.is_changed)
		work->report->is_changed = true;
	if (is_ok && !was_here && ticket->purpose == TICKET_CONFIRM)
		is_ok = save_consent(work, ticket, error);
	if (is_ok && ticket->purpose == TICKET_ADDRESS)
		is_ok = turn_to_new_address(work, ticket, &guest, &reply, error);
	is_ok =
	    is_ok &&
	    audit_insert(work->store, work->options->now, "mail", "confirmation used",
	        ticket->subscriber_id, ticket_purpose_name(ticket->purpose), error) &&
	    front_answer(work, &guest, &reply, error);
	command_reply_clear(&reply);
	return is_ok;
}

/* To the recipient of the confirmation. @param token  when it is still open, else NULL
 */
static bool
say_to_asked(struct front_work *work, const struct ticket *ticket, const char *phrase,
    const char *value, const char *token, GError **error)
{
	__attribute__((cleanup(front_guest_clear))) struct front_guest guest = {0};
	g_autofree char *reply_to = NULL;
	struct command_visitor visitor;
	struct command_reply reply = {0};
	bool is_ok;

	if (!front_find_guest(work, ticket->recipient, &guest, error))
		return false;
	reply_to = token ? extension_format(&work->options->house->commands,
	                       EXTENSION_CONFIRM, token)
	                 : NULL;
	guest.has_token = true;
	guest.reply_to = reply_to;
	visitor = front_get_visitor(&guest);
	is_ok = command_say(&work->context, &visitor, phrase, value, &reply, error);
	if (is_ok) {
		command_reply_fill(&reply, token, NULL);
		is_ok = front_answer(work, &guest, &reply, error);
	}
	command_reply_clear(&reply);
	return is_ok;
}

/* The first of the two confirmations of a change of address came. */
static bool
report_half_confirmed(
    struct front_work *work, const struct ticket *ticket, GError **error)
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
front_redeem(struct front_work *work, const struct ticket *ticket, GError **error)
{
	int64_t used = 0;

	if (!tickets_use(work->store, ticket->id, work->options->now, error) ||
	    !limits_forgive(&work->limits, ticket->recipient, error))
		return false;
	/* Of one unsubscription there may be several. */
	if (ticket->purpose == TICKET_UNDO &&
	    !tickets_kill(work->store, TICKET_UNDO, ticket->address_key, error))
		return false;
	if (ticket->purpose != TICKET_ADDRESS)
		return run_pending(work, ticket, error);
	/* A new request takes the used ones of an old one away, too. */
	if (!tickets_count_used(
	        work->store, TICKET_ADDRESS, ticket->address_key, &used, error))
		return false;
	return used == 2 ? run_pending(work, ticket, error)
	                 : report_half_confirmed(work, ticket, error);
}

/* A refusal ends it, and both halves of a change of address. */
static bool
decline(struct front_work *work, const struct ticket *ticket, GError **error)
{
	bool is_ok =
	    ticket->purpose == TICKET_ADDRESS
	        ? tickets_kill(work->store, TICKET_ADDRESS, ticket->address_key, error)
	        : tickets_delete(work->store, ticket->id, error);

	front_keep_silent(work, FRONT_IGNORED, "declined");
	return is_ok && limits_end_interval(&work->limits, ticket->recipient, error) &&
	       audit_insert(work->store, work->options->now, "mail",
	           "confirmation declined", ticket->subscriber_id,
	           ticket_purpose_name(ticket->purpose), error);
}

/* One question per confirmation: two programs would answer each other for ever. */
static bool
ask_for_yes(struct front_work *work, const struct ticket *ticket, const char *token,
    GError **error)
{
	if (ticket->questioned_at >= 0) {
		front_keep_silent(work, FRONT_IGNORED, "unclear");
		return true;
	}
	return tickets_save_questioned(
	           work->store, ticket->id, work->options->now, error) &&
	       say_to_asked(work, ticket, "unclear", NULL, token, error);
}

enum consent
front_judge_consent(
    const struct front_work *work, const struct ticket *ticket, const char *token)
{
	const struct phrasebook *book = work->options->phrases;
	g_autofree char *list = book ? phrasebook_format_languages(book) : NULL;
	g_auto(GStrv) subjects = g_strsplit(list ? list : "en", ", ", -1);
	g_autofree char *name = ticket ? front_format_confirm_id(ticket) : g_strdup("");
	g_autofree char *id = dispatch_format_message_id(&work->dispatch, name);
	const struct consent_question question = {
	    .token = token,
	    .message_id = id,
	    .subjects = (const char *const *)subjects,
	};

	for (char **at = subjects; *at; at++) {
		g_autofree char *language = *at;

		*at = front_format_confirm_subject(work, language);
	}
	return consent_judge(work->letter, &question);
}

bool
front_weigh(struct front_work *work, const struct ticket *ticket, const char *token,
    GError **error)
{
	switch (front_judge_consent(work, ticket, token)) {
	case CONSENT_YES:
		work->is_reply = true;
		return front_redeem(work, ticket, error);
	case CONSENT_NO:
		return decline(work, ticket, error);
	case CONSENT_AUTOMATIC:
		front_keep_silent(work, FRONT_IGNORED, "automatic");
		return true;
	case CONSENT_UNCLEAR:
		return ask_for_yes(work, ticket, token, error);
	}
	g_assert_not_reached();
}
