/*
 * web_subscribe.c - the start page: try a filter, subscribe, confirm.
 */
#include "base/bounds.h"
#include "base/text.h"
#include "message/address.h"
#include "query/query.h"
#include "service/command/command.h"
#include "service/inbound/handler_request.h"
#include "service/web/web_private.h"
#include "store/mail/rate_log.h"

/* @param is_sent  whether a confirmation was requested */
static void
show_home(struct web_call *call, bool is_sent)
{
	static const char *const fields[][2] = {{"form_address", "address"},
	    {"form_name", "name"}, {"form_filter", "filter"}};

	call->page = WEB_PAGE_HOME;
	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
		web_values_add(call->values, fields[i][0],
		    is_sent ? "" : web_get(call, fields[i][1]));
	web_values_add_flag(call->values, "is_sent", is_sent);
	web_values_add_flag(
	    call->values, "has_search", call->handler->options.settings->web_search);
	web_add_csrf(call, "home");
}

bool
web_run_home(struct web_call *call, GError **error)
{
	(void)error;
	show_home(call, false);
	return true;
}

bool
web_run_try(struct web_call *call, GError **error)
{
	g_autofree char *filter = web_get_line(call, "filter");

	show_home(call, false);
	return !web_take_test(call, WEB_LIMIT_ANYBODY) ||
	       web_add_test(call, filter, 0, error);
}

/* ---- subscribe ---- */

/* Input of the form.  Owned. */
struct form {
	char *address; /* an addr-spec */
	char *name;
	char *filter; /* or "" */
};

static void
form_clear(struct form *form)
{
	g_free(form->address);
	g_free(form->name);
	g_free(form->filter);
}

static bool
check_address(struct web_call *call, struct form *form, bool *is_valid, GError **error)
{
	g_autofree char *typed = web_get_line(call, "address");
	pb_local(address) address = {0};
	g_autoptr(GError) problem = NULL;

	if (address_parse(typed, &address, &problem)) {
		form->address = g_strdup(address.text);
		return true;
	}
	*is_valid = false;
	return web_add_error(call, "address", &problem, error);
}

static bool
check_name(struct web_call *call, struct form *form, bool *is_valid, GError **error)
{
	g_autoptr(GError) problem = NULL;

	form->name = web_get_line(call, "name");
	if (!*form->name ||
	    text_check_line("name", form->name, BOUNDS_PERSON_NAME_BYTES, &problem))
		return true;
	*is_valid = false;
	return web_add_error(call, "name", &problem, error);
}

static bool
check_filter(struct web_call *call, struct form *form, bool *is_valid, GError **error)
{
	pb_local(query_error) problem = {0};
	g_autoptr(GError) wrong = NULL;
	pb_auto(query) query = NULL;

	form->filter = web_get_line(call, "filter");
	if (!*form->filter)
		return true;
	query = query_parse(form->filter, store_get_tokenizer(call->handler->store),
	    NULL, &problem, &wrong);
	if (query)
		return true;
	*is_valid = false;
	if (!problem.message)
		return web_add_error(call, "filter", &wrong, error);
	web_add_query_error(call, form->filter, &problem);
	return true;
}

/* Depends on the form only, not on who is subscribed. */
static bool
check_form(struct web_call *call, struct form *form, bool *is_valid, GError **error)
{
	*is_valid = true;
	return check_address(call, form, is_valid, error) &&
	       check_name(call, form, is_valid, error) &&
	       check_filter(call, form, is_valid, error);
}

static bool
is_own_address(const struct web_call *call, const char *address)
{
	const struct own_addresses *own = call->handler->options.own_addresses;
	enum subaddress_kind kind;
	g_autofree char *token = NULL;

	return subaddress_parse(&own->commands, address, &kind, &token);
}

/* By mail, `subscribe` would list the filters of a subscriber and what they find; that
 * takes long, under the store's lock, and anybody may type any address. */
static bool
request_mail(struct web_call *call, struct request *request, GError **error)
{
	if (!request->subscriber)
		return handler_run_commands(request, error);
	request->lines++;
	return *request->lines ? handler_run_commands(request, error)
	                       : web_send_link(call, request, RATE_CASE_TYPED, error);
}

/*
 * Whether the limits for all allow one more confirmation to this domain.  The reply
 * must not depend on the address, so subscribers and others are treated alike.
 */
static bool
check_limits(
    struct web_call *call, const struct form *form, bool *is_open, GError **error)
{
	struct request request;
	const char *reason;
	bool is_ok;

	web_init_request(call, NULL, &request);
	is_ok = rate_limit_check_shared(
	    &request, RATE_CASE_CONFIRMATION_PAGE, form->address, &reason, error);
	*is_open = is_ok && !reason;
	if (is_ok && reason) {
		web_refuse_form(call, reason);
		is_ok = rate_log_save_dropped(request.store, request.now, error);
	}
	request_clear(&request);
	return is_ok;
}

/* As by mail from an address that is not proven. */
static bool
request_subscription(struct web_call *call, const struct form *form, GError **error)
{
	g_autofree char *subscribe = g_strdup_printf("subscribe %s", form->name);
	g_autofree char *add = g_strdup_printf("add %s", form->filter);
	const char *const lines[] = {
	    g_strchomp(subscribe), *form->filter ? add : NULL, NULL};
	struct request request;
	enum handler_mail may_mail;
	bool is_ok;

	if (is_own_address(call, form->address))
		return true;
	web_init_request(call, call->text.language, &request);
	request.lines = lines;
	is_ok = handler_set_requester(&request, form->address, &may_mail, error) &&
	        (may_mail == HANDLER_MAIL_NONE || request_mail(call, &request, error));
	request_clear(&request);
	return is_ok;
}

bool
web_run_subscribe(struct web_call *call, GError **error)
{
	pb_local(form) form = {0};
	bool is_valid;

	if (!check_form(call, &form, &is_valid, error))
		return false;
	is_valid = is_valid && web_take_test(call, WEB_LIMIT_SUBSCRIPTIONS);
	if (is_valid && !check_limits(call, &form, &is_valid, error))
		return false;
	show_home(call, is_valid);
	return !is_valid || request_subscription(call, &form, error);
}

/* ---- confirm ---- */

bool
web_run_confirm_show(struct web_call *call, GError **error)
{
	(void)error;
	call->page = WEB_PAGE_CONFIRM;
	web_add_csrf(call, "confirm");
	return true;
}

/* The page does not tell whether the token is valid; a mail gives the result. */
bool
web_run_confirm(struct web_call *call, GError **error)
{
	g_autofree struct confirmation *confirmation = NULL;
	struct request request;
	bool is_ok;

	/* The mail is in the subscriber's language, or in that of the request. */
	web_init_request(call, NULL, &request);
	is_ok = handler_find_confirmation(&request, call->request->token,
	            HANDLER_CONFIRM_PURPOSES | HANDLER_UNDO_PURPOSES, &confirmation,
	            error) &&
	        (!confirmation ||
	            handler_apply_confirmation(&request, confirmation, error));
	request_clear(&request);
	web_add_phrase(call, "ok",
	    N_("Thank you. If the link was still valid, the request is carried out "
	       "now, and a mail brings the result."));
	return is_ok;
}
