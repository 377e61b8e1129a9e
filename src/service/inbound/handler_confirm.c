/*
 * handler_confirm.c - replies to confirmation requests.
 */
#include <string.h>

#include "base/token.h"
#include "service/bounce/bounce.h"
#include "service/command/command.h"
#include "service/inbound/handler_private.h"
#include "service/inbound/rate_limit.h"
#include "store/subscriber/audit.h"
#include "store/subscriber/subscribers.h"

bool
handler_record_request(struct request *request, GError **error)
{
	if (!request->subscriber)
		return true;
	if (!subscribers_save_wrote(
	        request->store, request->subscriber->id, request->now, error))
		return false;
	if (!request->is_proven || request->subscriber->state != SUBSCRIBER_SUSPENDED)
		return true;
	request->report->is_changed = true;
	return bounce_restore(
	    request->store, request->subscriber, request->actor, request->now, error);
}

bool
handler_find_confirmation(struct request *request, const char *token, unsigned purposes,
    struct confirmation **confirmation, GError **error)
{
	g_autofree char *hash = token_hash_random(token);
	g_autofree struct confirmation *found = NULL;

	*confirmation = NULL;
	if (!hash)
		return true;
	if (!confirmations_find(request->store, hash, &found, error))
		return false;
	if (found && found->used_at < 0 && found->expires_at > request->now &&
	    purposes & 1U << found->purpose)
		*confirmation = g_steal_pointer(&found);
	return true;
}

static bool
audit(struct request *request, const char *what,
    const struct confirmation *confirmation, GError **error)
{
	return audit_insert(request->store, request->now, request->actor, what,
	    confirmation->subscriber_id,
	    confirmation_purpose_name(confirmation->purpose), error);
}

/* Record how a new subscriber agreed: request, confirmation text, reply. */
static bool
save_consent(
    struct request *request, const struct confirmation *confirmation, GError **error)
{
	bool is_approval = confirmation->purpose == CONFIRMATION_APPROVAL;
	g_autoptr(GDateTime) at = g_date_time_new_from_unix_utc(request->now);
	g_autofree char *when = g_date_time_format(at, "%Y-%m-%d %H:%M:%S UTC");
	pb_auto(subscriber) subscriber = NULL;

	if (!subscribers_find(
	        request->store, confirmation->address_key, &subscriber, error))
		return false;
	if (!subscriber || subscriber->state != SUBSCRIBER_ACTIVE ||
	    !confirmation->details)
		return true;
	g_free(subscriber->consent_text);
	subscriber->consent_text =
	    g_strdup_printf("%s; %s by %s %s (confirmation %" G_GINT64_FORMAT ")",
	        confirmation->details,
	        is_approval ? "confirmed, and approved" : "confirmed", request->actor,
	        when, confirmation->id);
	subscriber->consent_at = request->now;
	return subscribers_update(request->store, subscriber, error);
}

/* Not rate limited: it reveals an unwanted change of address. */
static bool
notify_old_address(struct request *request, GError **error)
{
	struct system_mailer mailer = handler_get_mailer(request);
	const struct command_reply *reply = &request->reply;
	const struct system_mail mail = {
	    .kind = OUTBOX_NOTICE,
	    .recipient = reply->old_address,
	    .sender = "",
	    .reply_to = request->settings->mail_owner,
	    .subject = reply->old_subject,
	    .text = reply->old_text,
	    .subscriber_id = request->subscriber_id,
	};
	int64_t id;

	request->report->is_queued = true;
	return system_mail_send(&mailer, &mail, &id, error);
}

/*
 * Reply to the new address, and notify the old one; if the address was not changed,
 * reply to the address that confirmed last.
 */
static bool
finish_address_change(
    struct request *request, const struct confirmation *confirmation, GError **error)
{
	bool is_moved = request->reply.old_text && request->subscriber;
	g_autofree char *address =
	    g_strdup(is_moved ? request->subscriber->address : confirmation->recipient);

	return (!is_moved || notify_old_address(request, error)) &&
	       request_set_requester(request, address, error);
}

/* The owner decides about somebody who has confirmed. */
static bool
await_approval(
    struct request *request, const struct confirmation *confirmation, GError **error)
{
	const char *reason;

	if (!handler_ask_owner(request, confirmation, &reason, error))
		return false;
	return command_reply_with(request,
	           reason
	               ? N_("Thank you. {owner} decides who can subscribe here, and "
	                    "has too many requests today: please ask again "
	                    "tomorrow.")
	               : N_("Thank you. {owner}, a person, decides who can subscribe "
	                    "here, and has your request. A mail tells you the "
	                    "result."),
	           NULL, error) &&
	       handler_reply(request, error);
}

/* Run the confirmed commands, as the requester that they were saved for. */
static bool
run_confirmed(
    struct request *request, const struct confirmation *confirmation, GError **error)
{
	bool is_invited = confirmation->purpose == CONFIRMATION_INVITATION ||
	                  confirmation->purpose == CONFIRMATION_APPROVAL;
	enum policy_verdict verdict = POLICY_ALLOWED;
	bool was_subscribed;

	request_clear(request);
	if (!request_set_requester(request, confirmation->address, error))
		return false;
	was_subscribed = request->subscriber;
	request->is_proven = request->has_token = true;
	if (confirmation->purpose != CONFIRMATION_UNDO &&
	    !handler_decide(request, confirmation->action, is_invited, &verdict, error))
		return false;
	if (verdict == POLICY_APPROVAL)
		return await_approval(request, confirmation, error);
	if (policy_get_refusal(verdict))
		return handler_refuse(request, verdict, error);
	if (!handler_record_request(request, error) ||
	    !command_run_confirmed(request, confirmation->action, error))
		return false;
	request->report->is_changed |= request->reply.is_changed;
	if (!was_subscribed && !save_consent(request, confirmation, error))
		return false;
	if (confirmation->purpose == CONFIRMATION_ADDRESS &&
	    !finish_address_change(request, confirmation, error))
		return false;
	return audit(request, "confirmation used", confirmation, error) &&
	       handler_reply(request, error);
}

/*
 * Reply with a phrase to the recipient of the confirmation request.
 *
 * @param token  while it is still valid, else NULL
 */
static bool
reply_to_recipient(struct request *request, const struct confirmation *confirmation,
    const char *phrase, const char *value, const char *token, GError **error)
{
	g_autofree char *language = NULL;
	bool is_ok;

	request_clear(request);
	if (!request_set_requester(request, confirmation->recipient, error))
		return false;
	request->has_token = true;
	request->confirm_token = token;
	request->language = language = command_find_language(confirmation->action);
	is_ok = command_reply_with(request, phrase, value, error);
	request->language = NULL;
	if (!is_ok)
		return false;
	command_fill_tokens(&request->reply, token, NULL);
	return handler_reply(request, error);
}

/* One of the two confirmations of a change of address is still missing. */
static bool
report_half_confirmed(
    struct request *request, const struct confirmation *confirmation, GError **error)
{
	bool is_new = strcmp(confirmation->recipient, confirmation->address) != 0;
	g_auto(GStrv) words = g_strsplit_set(confirmation->action, " \n", 3);

	/* The new address may belong to another person: do not disclose the old one. */
	return is_new ? reply_to_recipient(request, confirmation,
	                    N_("Confirmed here. The address that the mail goes to now "
	                       "has to confirm as well. Until then nothing changes."),
	                    NULL, NULL, error)
	              : reply_to_recipient(request, confirmation,
	                    N_("Confirmed here. The new address, {value}, has to "
	                       "confirm as well: the mail that went there waits for "
	                       "its reply. Until then nothing changes."),
	                    words[0] ? words[1] : NULL, NULL, error);
}

/* Run what the owner agreed to. Who asked does not see the owner's mail, which is not
 * read as a request of theirs either. */
static bool
run_approved(
    struct request *request, const struct confirmation *confirmation, GError **error)
{
	const struct inmail *mail = request->mail;
	bool is_ok;

	request->mail = NULL;
	request->is_reply = false;
	is_ok = run_confirmed(request, confirmation, error);
	request->mail = mail;
	return is_ok;
}

bool
handler_apply_confirmation(
    struct request *request, const struct confirmation *confirmation, GError **error)
{
	struct store *store = request->store;
	const char *key = confirmation->address_key;
	int64_t used = 0;

	if (!confirmations_consume(store, confirmation->id, request->now, error) ||
	    !rate_limit_refund(request, confirmation->recipient, error))
		return false;
	/* There may be several undo tokens for one removal. */
	if (confirmation->purpose == CONFIRMATION_UNDO &&
	    !confirmations_revoke(store, CONFIRMATION_UNDO, key, error))
		return false;
	if (confirmation->purpose == CONFIRMATION_APPROVAL)
		return run_approved(request, confirmation, error);
	if (confirmation->purpose != CONFIRMATION_ADDRESS)
		return run_confirmed(request, confirmation, error);
	/* A new request revokes the used confirmations of earlier ones, too. */
	if (!confirmations_count_used(store, CONFIRMATION_ADDRESS, key, &used, error))
		return false;
	return used == 2 ? run_confirmed(request, confirmation, error)
	                 : report_half_confirmed(request, confirmation, error);
}

/* Declining revokes the request, and both halves of a change of address. */
static bool
decline(
    struct request *request, const struct confirmation *confirmation, GError **error)
{
	bool is_ok =
	    confirmation->purpose == CONFIRMATION_ADDRESS
	        ? confirmations_revoke(request->store, CONFIRMATION_ADDRESS,
	              confirmation->address_key, error)
	        : confirmations_delete(request->store, confirmation->id, error);

	return is_ok &&
	       rate_limit_end_interval(request, confirmation->recipient, error) &&
	       audit(request, "confirmation declined", confirmation, error);
}

static const char still_waiting[] =
    N_("Nothing was done yet. To start it, reply with the one word yes. If you do not "
       "want it, do nothing.");

/*
 * Carry out what was asked beside the answer, for the recipient of the confirmation.
 *
 * @param verb   a line that only answers or is confirmed again
 * @param token  while it is still valid, else NULL
 */
static bool
answer(struct request *request, const struct confirmation *confirmation,
    const char *verb, const char *token, GError **error)
{
	g_autofree char *language = command_find_language(confirmation->action);
	pb_local(reply_text) rest = {0};
	bool is_ok;

	request_clear(request);
	if (!request_set_requester(request, confirmation->recipient, error))
		return false;
	reply_text_init(&rest, request->catalog, language ? language : "en", false);
	reply_text_add_paragraph(&rest, still_waiting);
	request->rest = token ? g_strdup(rest.text->str) : NULL;
	request->verb = verb;
	request->is_proven = request->has_token = true;
	request->confirm_token = token;
	request->language = language;
	is_ok = command_run(request, error) && handler_reply(request, error);
	request->verb = request->language = NULL;
	return is_ok;
}

/* Tell who asked that the owner has declined. */
static bool
report_declined(
    struct request *request, const struct confirmation *confirmation, GError **error)
{
	struct confirmation asked = *confirmation;
	const struct inmail *mail = request->mail;
	bool is_ok;

	asked.recipient = asked.address;
	request->mail = NULL;
	is_ok = reply_to_recipient(request, &asked,
	    N_("{owner}, who decides who can subscribe here, has declined your "
	       "request. "
	       "Nothing else is sent to you."),
	    NULL, NULL, error);
	request->mail = mail;
	return is_ok;
}

/* "No, I meant a pause until Friday", of a subscriber. @param has_more  set */
static bool
find_new_request(struct request *request, const struct confirmation *confirmation,
    bool *has_more, GError **error)
{
	*has_more = confirmation->purpose == CONFIRMATION_CONFIRM &&
	            command_has_wish(request, confirmation->action);
	if (!*has_more)
		return true;
	request_clear(request);
	if (!request_set_requester(request, confirmation->recipient, error))
		return false;
	*has_more = request->subscriber;
	return true;
}

/* A plain refusal needs no reply; a question or another wish beside it does. */
static bool
answer_refusal(
    struct request *request, const struct confirmation *confirmation, GError **error)
{
	const char *verb = command_find_question(request);
	bool has_more;

	if (!find_new_request(request, confirmation, &has_more, error))
		return false;
	if ((verb || has_more) &&
	    !answer(request, confirmation, has_more ? NULL : verb, NULL, error))
		return false;
	if (!verb && !has_more)
		handler_drop(request, HANDLER_IGNORED, "declined");
	return decline(request, confirmation, error) &&
	       (confirmation->purpose != CONFIRMATION_APPROVAL ||
	           report_declined(request, confirmation, error));
}

/* Once for each confirmation, or two programs could reply to each other forever; a new
 * request is one of a person. */
static bool
ask_again(struct request *request, const struct confirmation *confirmation,
    const char *token, GError **error)
{
	const char *verb = command_find_question(request);
	bool has_more;

	if (!find_new_request(request, confirmation, &has_more, error))
		return false;
	if (confirmation->questioned_at >= 0 && !has_more) {
		handler_drop(request, HANDLER_IGNORED, "unclear");
		return true;
	}
	if (!confirmations_save_questioned(
	        request->store, confirmation->id, request->now, error))
		return false;
	return verb || has_more ? answer(request, confirmation, has_more ? NULL : verb,
	                              has_more ? NULL : token, error)
	                        : reply_to_recipient(request, confirmation,
	                              still_waiting, NULL, token, error);
}

enum consent
handler_match_consent(const struct request *request,
    const struct confirmation *confirmation, const char *token)
{
	struct system_mailer mailer = handler_get_mailer(request);
	g_autofree char *list = catalog_format_languages(request->catalog);
	g_auto(GStrv) subjects = g_strsplit(list, ", ", -1);
	g_autofree char *name =
	    confirmation ? handler_format_confirm_id(confirmation) : g_strdup("");
	g_autofree char *id = system_mail_format_message_id(&mailer, name);
	const struct consent_question question = {
	    .token = token,
	    .message_id = id,
	    .subjects = (const char *const *)subjects,
	};

	for (char **at = subjects; *at; at++) {
		g_autofree char *language = *at;

		*at = handler_format_confirm_subject(
		    request, language, confirmation ? confirmation->action : "");
	}
	return confirm_match(request->mail, &question);
}

bool
handler_process_confirmation(struct request *request,
    const struct confirmation *confirmation, const char *token, GError **error)
{
	switch (handler_match_consent(request, confirmation, token)) {
	case CONSENT_YES:
		request->is_reply = true;
		request->is_awaited = confirmation->purpose == CONFIRMATION_CONFIRM;
		return handler_apply_confirmation(request, confirmation, error);
	case CONSENT_NO:
		return answer_refusal(request, confirmation, error);
	case CONSENT_AUTOMATIC:
		handler_drop(request, HANDLER_IGNORED, "automatic");
		return true;
	case CONSENT_UNCLEAR:
		return ask_again(request, confirmation, token, error);
	}
	g_assert_not_reached();
}
