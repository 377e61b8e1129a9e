/*
 * web_handler.c - process the requests of the page.
 */
#include "service/web/web_handler.h"

#include "base/clock.h"
#include "message/subaddress.h"
#include "service/web/web_private.h"
#include "store/mail/outbox.h"

#define ENGLISH "en"

static bool
run_health(struct web_call *call, GError **error)
{
	int64_t at;

	call->page = WEB_PAGE_NONE;
	return outbox_load_next_try(call->handler->store, &at, error);
}

static const struct operation {
	web_run_fn *run;
	const char *form; /* page whose forms request it; NULL: no form */
	bool is_change;
	/* Shows the result of a change, after its commit; not if `page` was set. */
	web_run_fn *show;
} operations[WEB_OPS] = {
    [WEB_OP_HEALTH] = {run_health, NULL, false, NULL},
    [WEB_OP_HOME] = {web_run_home, NULL, false, NULL},
    [WEB_OP_SUBSCRIBE] = {web_run_subscribe, "home", true, NULL},
    [WEB_OP_CONFIRM_SHOW] = {web_run_confirm_show, NULL, false, NULL},
    [WEB_OP_CONFIRM] = {web_run_confirm, "confirm", true, NULL},
    [WEB_OP_LEAVE_SHOW] = {web_run_leave_show, NULL, false, NULL},
    [WEB_OP_ONE_CLICK] = {web_run_one_click, NULL, true, NULL},
    [WEB_OP_LEAVE] = {web_run_leave, "leave", true, NULL},
    [WEB_OP_PREFERENCES_SHOW] = {web_show_preferences, NULL, false, NULL},
    [WEB_OP_PREFERENCES] = {web_run_preferences, NULL, true, web_show_preferences},
    [WEB_OP_DIGEST] = {web_run_digest, NULL, false, NULL},
    [WEB_OP_FEED] = {web_run_feed, NULL, false, NULL},
    [WEB_OP_SEARCH] = {web_run_search, NULL, false, NULL},
};

bool
web_handler_is_change(enum web_op op)
{
	return operations[op].is_change;
}

static void
add_common_values(struct web_call *call)
{
	const struct handler_options *options = &call->handler->options;
	const char *name = options->settings->mail_from_name;

	web_values_add(call->values, "service", *name ? name : "paperboy");
	web_values_add(
	    call->values, "address", options->own_addresses->commands.address.text);
	web_values_add(call->values, "owner", options->settings->mail_owner);
	web_values_add(call->values, "privacy_url", options->settings->web_privacy_url);
	web_values_add(call->values, "imprint_url", options->settings->web_imprint_url);
}

static void
clear_reply(struct web_call *call)
{
	g_clear_pointer(&call->values, g_variant_builder_unref);
	g_clear_pointer(&call->messages, g_variant_builder_unref);
}

/* Begin a reply, in place of any that was begun before. */
static void
begin_reply(struct web_call *call)
{
	const struct catalog *catalog = call->handler->options.phrases;
	const char *language = call->request->language;
	bool is_known = *language && catalog_has_language(catalog, language);

	clear_reply(call);
	*call->report = (struct handler_report){0};
	*call = (struct web_call){
	    .handler = call->handler,
	    .request = call->request,
	    .report = call->report,
	    .text = {.catalog = catalog, .language = is_known ? language : ENGLISH},
	    .help = call->help,
	    .page = WEB_PAGE_MESSAGE,
	    .values = web_values_new(),
	    .messages = web_list_new(),
	};
	add_common_values(call);
}

static bool
run_in_transaction(struct store *store, void *data, GError **error)
{
	struct web_call *call = data;

	(void)store;
	begin_reply(call);
	return operations[call->request->op].run(call, error);
}

static bool
run_change(struct web_call *call, GError **error)
{
	if (store_transact(call->handler->store, run_in_transaction, call, error))
		return true;
	*call->report = (struct handler_report){0};
	return false;
}

static bool
run(struct web_call *call, GError **error)
{
	const struct operation *operation = &operations[call->request->op];

	if (operation->form && !web_check_csrf(call, operation->form))
		return web_refuse(call, WEB_STATUS_FORBIDDEN);
	if (call->request->op == WEB_OP_SUBSCRIBE && !web_take_form(call))
		return web_run_home(call, error);
	if (!operation->is_change)
		return operation->run(call, error);
	return run_change(call, error) &&
	       (!operation->show || call->page != WEB_PAGE_PREFERENCES ||
	           operation->show(call, error));
}

struct web_reply *
web_handler_run(const struct web_handler *handler, const struct web_request *request,
    struct handler_report *report, GError **error)
{
	const struct handler_options *options = &handler->options;
	g_autofree char *help =
	    subaddress_format(&options->own_addresses->commands, SUBADDRESS_HELP, NULL);
	struct handler_report made = {0};
	struct web_call call = {
	    .handler = handler, .request = request, .report = &made, .help = help};
	struct web_reply *reply = NULL;

	begin_reply(&call);
	if (run(&call, error)) {
		web_values_take(
		    call.values, "messages", g_steal_pointer(&call.messages));
		reply = web_reply_new(call.status, call.page, call.text.language,
		    g_variant_builder_end(call.values));
	}
	*report = made;
	clear_reply(&call);
	return reply;
}
