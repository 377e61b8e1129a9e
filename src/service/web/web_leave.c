/*
 * web_leave.c - the unsubscribe page and one-click unsubscription (RFC 8058).
 *
 * A digest may have been forwarded, so its token gives no access to the account, and
 * the page names no address.  It says what has happened to whoever has a token, which
 * cannot be guessed; the reply to one click is always the same.
 */
#include <string.h>

#include "base/bounds.h"
#include "render/wrap.h"
#include "service/delivery/mail_token.h"
#include "service/delivery/system_mail.h"
#include "service/inbound/handler_request.h"
#include "service/inbound/rate_limit.h"
#include "service/web/web_private.h"
#include "store/subscriber/audit.h"

bool
web_run_leave_show(struct web_call *call, GError **error)
{
	(void)error;
	call->page = WEB_PAGE_LEAVE;
	web_add_csrf(call, "leave");
	return true;
}

/* @param is_valid  set: the token is somebody's */
static bool
unsubscribe(struct web_call *call, bool *is_valid, GError **error)
{
	pb_local(request) request = {0};

	/* The notice is in the subscriber's language. */
	web_init_request(call, NULL, &request);
	return handler_leave(&request, call->request->token, NULL, is_valid, error);
}

bool
web_run_one_click(struct web_call *call, GError **error)
{
	const struct handler_options *options = &call->handler->options;
	const struct mail_token mail_token = {
	    call->handler->store, options->key, options->now};
	bool is_check, is_valid;

	call->page = WEB_PAGE_NONE;
	return mail_token_record_check(
	           &mail_token, call->request->token, &is_check, error) &&
	       (is_check || unsubscribe(call, &is_valid, error));
}

/* ---- the other choices of the page ---- */

static bool
refuse_link(struct web_call *call)
{
	call->status = WEB_STATUS_NOT_FOUND;
	web_add_phrase(call, "error",
	    N_("This link is incomplete, or belongs to a subscription that has ended. "
	       "Nothing was done."));
	return true;
}

void
web_add_undo(struct web_call *call)
{
	web_add_csrf(call, "leave");
	web_values_add(call->values, "undo", call->report->undo);
	web_add_phrase(call, "ok",
	    *call->report->undo ? WEB_UNSUBSCRIBED
	                        : N_("You were unsubscribed before: no digests come."));
}

static bool
run_unsubscribe(struct web_call *call, GError **error)
{
	bool is_valid;

	if (!unsubscribe(call, &is_valid, error))
		return false;
	if (!is_valid)
		return refuse_link(call);
	web_add_undo(call);
	return true;
}

/*
 * Reduce the digests of the subscriber of the token, who gets the reply by mail: the
 * page may be used by somebody to whom a digest was forwarded.
 *
 * @param done  says that it is done
 */
static bool
reduce(struct web_call *call, enum handler_reduction reduction, unsigned number,
    const char *done, GError **error)
{
	pb_local(request) request = {0};

	web_init_request(call, NULL, &request);
	if (!handler_reduce(&request, call->request->token, reduction, number, error))
		return false;
	if (!request.subscriber)
		return refuse_link(call);
	if (request.reply.done)
		web_add_message(call, "ok", done, NULL);
	else
		web_add_phrase(call, "ok",
		    N_("Nothing was changed: no more mail than that comes already."));
	return true;
}

static bool
fail_field(struct web_call *call, const char *field, int most)
{
	call->status = WEB_STATUS_BAD_REQUEST;
	call->page = WEB_PAGE_LEAVE;
	web_add_csrf(call, "leave");
	web_add_field_phrase(call, "error", field,
	    N_("{key} is a number from 1 to {most}."), "key", field, "most",
	    MSG_INT(most));
	return true;
}

static bool
run_pause(struct web_call *call, GError **error)
{
	unsigned days = web_get_number(call, "days", BOUNDS_PAUSE_DAYS);
	bool is_open = g_hash_table_contains(call->request->fields, "days") &&
	               !*web_get(call, "days");
	g_autofree char *count = NULL, *text = NULL;

	if (!days && !is_open)
		return fail_field(call, "days", BOUNDS_PAUSE_DAYS);
	count =
	    reply_text_format_count(&call->text, PL_("1 day", "{count} days"), days);
	text = reply_text_format(&call->text,
	    is_open ? N_("Your digests pause until you resume them. A mail says how.")
	            : N_("Your digests pause for {days}. A mail confirms it."),
	    "days", count);
	return reduce(call, HANDLER_REDUCE_PAUSE, days, text, error);
}

static bool
run_weekly(struct web_call *call, GError **error)
{
	g_autofree char *text = reply_text_format(&call->text,
	    N_("Your digest comes once a week from now on. A mail confirms it."));

	return reduce(call, HANDLER_REDUCE_WEEKLY, 0, text, error);
}

static bool
run_fewer(struct web_call *call, GError **error)
{
	unsigned max = web_get_number(call, "max", BOUNDS_DIGEST_FULL_MAX);
	g_autofree char *count = NULL, *text = NULL;

	if (!max)
		return fail_field(call, "max", BOUNDS_DIGEST_FULL_MAX);
	count =
	    reply_text_format_count(&call->text, PL_("1 paper", "{count} papers"), max);
	text = reply_text_format(&call->text,
	    N_("From now on a digest has {papers} at most. A mail confirms it."),
	    "papers", count);
	return reduce(call, HANDLER_REDUCE_FEWER, max, text, error);
}

bool
web_run_undo(struct web_call *call, GError **error)
{
	g_autofree struct confirmation *confirmation = NULL;
	pb_local(request) request = {0};

	web_init_request(call, NULL, &request);
	if (!handler_find_confirmation(&request, web_get(call, "undo"),
	        HANDLER_UNDO_PURPOSES, &confirmation, error) ||
	    (confirmation &&
	        !handler_apply_confirmation(&request, confirmation, error)))
		return false;
	call->page = WEB_PAGE_LEFT;
	web_add_phrase(call, confirmation ? "ok" : "error",
	    confirmation ? N_("You are subscribed again, and everything is as it was.")
	                 : N_("This can no longer be undone: subscribe again."));
	return true;
}

/* ---- the link to the preferences ---- */

static bool
send_link(struct web_call *call, struct request *request, enum rate_case rate_case,
    GError **error)
{
	const struct handler_options *options = &call->handler->options;
	const struct system_mailer mailer = {call->handler->store, options->settings,
	    options->own_addresses, options->random, options->now};
	const struct catalog *catalog = options->phrases;
	const char *own = request->subscriber->language;
	const char *language = catalog_has_language(catalog, own) ? own : "en";
	g_autofree char *token = mail_token_format_preferences(
	    options->key, request->subscriber, options->now);
	g_autofree char *subject =
	    catalog_format(catalog, language, N_("Your preferences"), NULL);
	g_autofree char *words = catalog_format(catalog, language,
	    N_("This link opens the page with your filters and settings. It works for "
	       "24 hours, and whoever has it can change them: do not forward it."),
	    NULL);
	g_autofree char *wrapped = wrap_format_text(words, BOUNDS_TEXT_COLUMNS);
	g_autofree char *text = g_strdup_printf(
	    "%s\n%s/p/%s\n", wrapped, options->settings->web_url, token);
	const struct system_mail mail = {
	    .kind = OUTBOX_NOTICE,
	    .subscriber_id = request->subscriber->id,
	    .recipient = request->subscriber->address,
	    .sender = "",
	    .subject = subject,
	    .text = text,
	};
	int64_t id;

	call->report->is_queued = true;
	return system_mail_send(&mailer, &mail, &id, error) &&
	       audit_insert(call->handler->store, options->now, "web",
	           "preferences link mailed", request->subscriber->id, NULL, error) &&
	       rate_limit_count(request, rate_case, mail.recipient, error);
}

bool
web_send_link(struct web_call *call, struct request *request, enum rate_case rate_case,
    GError **error)
{
	const char *reason;

	return rate_limit_check(request, rate_case, request->address, &reason, error) &&
	       (reason || send_link(call, request, rate_case, error));
}

static bool
run_link(struct web_call *call, GError **error)
{
	pb_local(request) request = {0};

	web_init_request(call, NULL, &request);
	if (!handler_set_token_requester(&request, call->request->token, error))
		return false;
	if (!request.subscriber)
		return refuse_link(call);
	if (!web_send_link(call, &request, RATE_CASE_LINK, error))
		return false;
	web_add_phrase(call, call->report->is_queued ? "ok" : "error",
	    call->report->is_queued
	        ? N_("A link to your preferences is on its way by mail. It works for "
	             "24 "
	             "hours.")
	        : N_("Too many mails have gone to this address today. Try again "
	             "tomorrow."));
	return true;
}

static const struct {
	const char *name;
	web_run_fn *run;
} actions[] = {
    {"unsubscribe", run_unsubscribe},
    {"pause", run_pause},
    {"weekly", run_weekly},
    {"fewer", run_fewer},
    {"link", run_link},
    {"undo", web_run_undo},
};

bool
web_run_leave(struct web_call *call, GError **error)
{
	call->page = WEB_PAGE_LEFT;
	for (size_t i = 0; i < G_N_ELEMENTS(actions); i++)
		if (g_str_equal(web_get(call, "action"), actions[i].name))
			return actions[i].run(call, error);
	return web_refuse(call, WEB_STATUS_BAD_REQUEST);
}
