/*
 * handler_run.c - run the commands of a request, and unsubscribe by a token.
 */
#include "base/bounds.h"
#include "service/command/command.h"
#include "service/delivery/mail_token.h"
#include "service/inbound/handler_private.h"
#include "service/inbound/rate_limit.h"
#include "store/subscriber/suppression.h"

bool
handler_set_requester(struct request *request, const char *address,
    enum handler_mail *may_mail, GError **error)
{
	g_autofree struct suppression *found = NULL;

	if (!request_set_requester(request, address, error) ||
	    !suppression_find(
	        request->store, request->key, request->address_key, &found, error))
		return false;
	if (!found)
		*may_mail = HANDLER_MAIL_ANY;
	else
		*may_mail = suppression_can_end(found->reason) ? HANDLER_MAIL_ANSWER
		                                               : HANDLER_MAIL_NONE;
	return true;
}

/* A token in a command confirms, unless the message is a refusal or automatic. */
static bool
apply_typed(struct request *request, const struct confirmation *confirmation,
    const char *token, GError **error)
{
	if (confirmation->purpose != CONFIRMATION_UNDO)
		switch (handler_match_consent(request, confirmation, token)) {
		case CONSENT_NO:
		case CONSENT_AUTOMATIC:
			return handler_process_confirmation(
			    request, confirmation, token, error);
		case CONSENT_YES:
		case CONSENT_UNCLEAR:
			break;
		}
	return handler_apply_confirmation(request, confirmation, error);
}

/* Apply the first valid token among those in `confirm TOKEN` and `undo TOKEN`. */
static bool
apply_typed_tokens(struct request *request, bool *is_done, GError **error)
{
	g_autofree char *confirm = g_strdup(request->reply.confirm_token);
	g_autofree char *undo = g_strdup(request->reply.undo_token);
	const struct {
		const char *token;
		unsigned purposes;
	} typed[] = {
	    {confirm, HANDLER_CONFIRM_PURPOSES}, {undo, HANDLER_UNDO_PURPOSES}};

	*is_done = false;
	for (size_t i = 0; i < G_N_ELEMENTS(typed); i++) {
		g_autofree struct confirmation *confirmation = NULL;

		if (!typed[i].token || !*typed[i].token)
			continue;
		if (!handler_find_confirmation(request, typed[i].token,
		        typed[i].purposes, &confirmation, error))
			return false;
		if (!confirmation)
			continue;
		*is_done = true;
		return apply_typed(request, confirmation, typed[i].token, error);
	}
	return true;
}

/* The body of a message that is too large was not received. */
static bool
run_or_refuse(struct request *request, GError **error)
{
	if (request->envelope && request->envelope->full_size && !request->verb)
		return command_reply_with(request,
		    N_("Your message is too large, so it was not read: the limit is "
		       "{value} MB. Nothing was done. Send the commands again in a "
		       "short message without attachments."),
		    G_STRINGIFY(BOUNDS_MAIL_MB), error);
	return command_run(request, error);
}

bool
handler_decide(struct request *request, const char *pending, bool is_invited,
    enum policy_verdict *verdict, GError **error)
{
	enum policy_standing standing = POLICY_INVITED;

	*verdict = POLICY_ALLOWED;
	if (request->subscriber || !pending || !command_is_subscription(pending))
		return true;
	return (is_invited || policy_find_standing(request->store, request->address_key,
	                          request->now, &standing, error)) &&
	       policy_decide(request->store, request->settings, request->address,
	           standing, verdict, error);
}

bool
handler_refuse(struct request *request, enum policy_verdict verdict, GError **error)
{
	g_autofree char *domains = policy_format_domains(request->settings);

	command_reply_clear(&request->reply);
	return command_reply_with(
	           request, policy_get_refusal(verdict), domains, error) &&
	       handler_reply(request, error);
}

bool
handler_run_commands(struct request *request, GError **error)
{
	enum policy_verdict verdict;
	bool is_done = false;

	if (!run_or_refuse(request, error))
		return false;
	if (request->reply.silence) {
		handler_drop(request, HANDLER_IGNORED, request->reply.silence);
		return true;
	}
	if (!handler_decide(request, request->reply.pending, false, &verdict, error))
		return false;
	/* The page says so itself; anybody can type any address there. */
	if (policy_get_refusal(verdict) && request->lines) {
		handler_drop(request, HANDLER_IGNORED, "policy");
		return true;
	}
	if (policy_get_refusal(verdict))
		return handler_refuse(request, verdict, error);
	request->report->is_changed |= request->reply.is_changed;
	return apply_typed_tokens(request, &is_done, error) &&
	       (is_done || handler_reply(request, error));
}

/* ---- unsubscribe ---- */

/* The subscriber is told by a notice, which does not quote the message of a program. */
static bool
unsubscribe_with_notice(struct request *request, GError **error)
{
	const struct inmail *mail = request->mail;
	bool is_ok;

	request->mail = NULL;
	is_ok = handler_run_commands(request, error);
	request->mail = mail;
	return is_ok;
}

static bool
unsubscribe_without_reply(struct request *request, const char *reason, GError **error)
{
	if (!command_run(request, error) ||
	    (request->reply.undo && !handler_save_undo(request, error)))
		return false;
	request->report->is_changed |= request->reply.is_changed;
	handler_drop(request, HANDLER_UNSUBSCRIBED, reason);
	return true;
}

/* A program may have unsubscribed the address before, without a reply: offer an undo.
 */
static bool
process_removed(struct request *request, GError **error)
{
	g_autofree struct confirmation *undo = NULL;

	if (!confirmations_find_pending(request->store, CONFIRMATION_UNDO,
	        request->address_key, request->now, &undo, error))
		return false;
	request->is_removed = true;
	request->undo = undo;
	if (!undo)
		return handler_run_commands(request, error);
	if (!command_reply_with(request,
	        N_("This address is already unsubscribed, so no digests come. This "
	           "line brings everything back, filters and settings too:\n\n"
	           "undo {undo}"),
	        NULL, error))
		return false;
	/* A second token, since only the hash of the first is stored. */
	request->reply.undo = g_strdup(undo->action);
	return handler_reply(request, error);
}

bool
handler_leave(struct request *request, const char *token, const char *reason,
    bool *is_done, GError **error)
{
	struct mail_token mail_token = {request->store, request->key, request->now};
	pb_auto(subscriber) subscriber = NULL;
	enum handler_mail may_mail;
	const char *limit = NULL;
	bool is_away;

	*is_done = false;
	if (!mail_token_find_unsubscribe(&mail_token, token, &subscriber, error))
		return false;
	if (!subscriber)
		return true;
	*is_done = true;
	if (!handler_set_requester(request, subscriber->address, &may_mail, error))
		return false;
	is_away = may_mail != HANDLER_MAIL_ANY;
	request->is_proven = request->has_token = true;
	request->verb = "unsubscribe";
	/* The page shows the undo token each time. */
	if (!is_away && request->subscriber &&
	    !rate_limit_check(
	        request, RATE_CASE_LEAVING, request->address, &limit, error))
		return false;
	if (is_away || (reason && !request->subscriber)) {
		handler_drop(request, HANDLER_IGNORED, is_away ? "suppressed" : reason);
		return true;
	}
	if (limit)
		return unsubscribe_without_reply(request, limit, error);
	if (reason)
		return unsubscribe_with_notice(request, error);
	return request->subscriber ? handler_run_commands(request, error)
	                           : process_removed(request, error);
}
