/*
 * web_leave.c - the unsubscribe page and one-click unsubscription (RFC 8058).
 *
 * A digest may have been forwarded, so its token gives no access to the account, and no
 * page tells whether a token is valid.
 */
#include <string.h>

#include "base/bounds.h"
#include "render/wrap.h"
#include "service/command/command.h"
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

static bool
unsubscribe(struct web_call *call, GError **error)
{
	struct request request;
	bool is_done, is_ok;

	/* The notice is in the subscriber's language. */
	web_init_request(call, NULL, &request);
	is_ok = handler_leave(&request, call->request->token, NULL, &is_done, error);
	request_clear(&request);
	return is_ok;
}

bool
web_run_one_click(struct web_call *call, GError **error)
{
	const struct handler_options *options = &call->handler->options;
	const struct mail_token mail_token = {
	    call->handler->store, options->key, options->now};
	bool is_check;

	call->page = WEB_PAGE_NONE;
	return mail_token_record_check(
	           &mail_token, call->request->token, &is_check, error) &&
	       (is_check || unsubscribe(call, error));
}

/* ---- the other choices of the page ---- */

/* Without a removal the page looks the same. */
void
web_add_undo(struct web_call *call)
{
	const struct handler_options *options = &call->handler->options;
	const struct system_mailer mailer = {
	    .random = options->random, .now = options->now};
	g_autofree char *none = system_mail_new_token(&mailer);

	web_add_csrf(call, "leave");
	web_values_add(
	    call->values, "undo", *call->report->undo ? call->report->undo : none);
}

static bool
run_unsubscribe(struct web_call *call, GError **error)
{
	if (!unsubscribe(call, error))
		return false;
	web_add_undo(call);
	web_add_phrase(call, "ok",
	    N_("If this link belongs to a subscription, it has ended, and no more "
	       "digests come. A mail confirms it."));
	return true;
}

/* Reduce the digests of the subscriber of the token, who gets the reply by mail: the
 * page may be used by somebody to whom a digest was forwarded. */
static bool
reduce(struct web_call *call, enum handler_reduction reduction, unsigned number,
    GError **error)
{
	struct request request;
	bool is_ok;

	web_init_request(call, NULL, &request);
	is_ok =
	    handler_reduce(&request, call->request->token, reduction, number, error);
	request_clear(&request);
	return is_ok;
}

static bool
fail_field(struct web_call *call, const char *field, const char *phrase, int most)
{
	g_autofree char *text =
	    reply_text_format(&call->text, phrase, "key", field, "most", MSG_INT(most));

	call->status = WEB_STATUS_BAD_REQUEST;
	call->page = WEB_PAGE_LEAVE;
	web_add_csrf(call, "leave");
	web_add_message(call, "error", text, field);
	return true;
}

static bool
run_pause(struct web_call *call, GError **error)
{
	unsigned days = web_get_number(call, "days", BOUNDS_PAUSE_DAYS);
	g_autofree char *text = NULL;

	if (g_hash_table_contains(call->request->fields, "days") &&
	    !*web_get(call, "days")) {
		web_add_phrase(call, "ok",
		    N_("If this link belongs to a subscription, digests pause until "
		       "they are resumed. A mail confirms it, and says how to resume "
		       "them."));
		return reduce(call, HANDLER_REDUCE_PAUSE, 0, error);
	}
	if (!days)
		return fail_field(call, "days",
		    N_("{key} is a number from 1 to {most}."), BOUNDS_PAUSE_DAYS);
	text = reply_text_format_count(&call->text, PL_("1 day", "{count} days"), days);
	web_add_phrase(call, "ok",
	    N_("If this link belongs to a subscription, digests pause for {days}. A "
	       "mail confirms it."),
	    "days", text);
	return reduce(call, HANDLER_REDUCE_PAUSE, days, error);
}

static bool
run_weekly(struct web_call *call, GError **error)
{
	web_add_phrase(call, "ok",
	    N_("If this link belongs to a subscription, its digest comes once a week "
	       "now. A mail confirms it."));
	return reduce(call, HANDLER_REDUCE_WEEKLY, 0, error);
}

static bool
run_fewer(struct web_call *call, GError **error)
{
	unsigned max = web_get_number(call, "max", BOUNDS_DIGEST_FULL_MAX);
	g_autofree char *text = NULL;

	if (!max)
		return fail_field(call, "max",
		    N_("{key} is a number from 1 to {most}."), BOUNDS_DIGEST_FULL_MAX);
	text =
	    reply_text_format_count(&call->text, PL_("1 paper", "{count} papers"), max);
	web_add_phrase(call, "ok",
	    N_("If this link belongs to a subscription, a digest has {papers} at most "
	       "now. A mail confirms it."),
	    "papers", text);
	return reduce(call, HANDLER_REDUCE_FEWER, max, error);
}

bool
web_run_undo(struct web_call *call, GError **error)
{
	g_autofree struct confirmation *confirmation = NULL;
	struct request request;
	bool is_ok;

	web_init_request(call, NULL, &request);
	is_ok = handler_find_confirmation(&request, web_get(call, "undo"),
	            HANDLER_UNDO_PURPOSES, &confirmation, error) &&
	        (!confirmation ||
	            handler_apply_confirmation(&request, confirmation, error));
	request_clear(&request);
	call->page = WEB_PAGE_LEFT;
	web_add_phrase(call, "ok",
	    N_("If this was still possible, everything is as before. A mail confirms "
	       "it."));
	return is_ok;
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
	g_autofree char *token = web_token_format_preferences(
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
	struct request request;
	bool is_ok;

	web_init_request(call, NULL, &request);
	is_ok = handler_set_token_requester(&request, call->request->token, error) &&
	        (!request.subscriber ||
	            web_send_link(call, &request, RATE_CASE_LINK, error));
	request_clear(&request);
	web_add_phrase(call, "ok",
	    N_("If this link belongs to a subscription, a link to its preferences is "
	       "on its way by mail. It works for 24 hours."));
	return is_ok;
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
