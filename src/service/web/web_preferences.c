/*
 * web_preferences.c - changes on the page of the preferences.
 *
 * Each is a command of COMMANDS by mail, run for the subscriber of the token; its
 * results are shown on the page, and only confirmations and the notice of a removal are
 * mailed.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "model/preferences.h"
#include "query/parse/lex.h"
#include "service/command/command.h"
#include "service/inbound/handler_request.h"
#include "service/people/filters.h"
#include "service/web/web_private.h"
#include "service/web/web_token.h"
#include "store/core/audit.h"
#include "store/subscriber/private_feeds.h"
#include "store/subscriber/subscribers.h"

bool
web_find_subscriber(struct web_call *call, struct subscriber **subscriber,
    int64_t *expires_at, GError **error)
{
	const struct handler_options *options = &call->handler->options;
	const struct mail_token tokens = {
	    call->handler->store, options->key, options->now};

	if (!web_token_find_preferences(
	        &tokens, call->request->token, subscriber, expires_at, error))
		return false;
	if (!*subscriber) {
		call->status = WEB_STATUS_NOT_FOUND;
		call->page = WEB_PAGE_MESSAGE;
		web_add_phrase(call, "error", "page_expired");
	}
	return true;
}

/* ---- commands ---- */

/* Append a field in quotation marks. */
static void
append_quoted(
    struct web_call *call, GString *line, const char *before, const char *name)
{
	g_autofree char *value = web_get_line(call, name);

	g_string_append_printf(line, " %s\"", before);
	for (const char *at = value; *at; at = g_utf8_next_char(at))
		if (!lex_is_quote(g_utf8_get_char(at)))
			g_string_append_unichar(line, g_utf8_get_char(at));
	g_string_append_c(line, '"');
}

static bool
has_field(const struct web_call *call, const char *name)
{
	return g_hash_table_contains(call->request->fields, name);
}

static void
append_field(struct web_call *call, GString *line, const char *name)
{
	g_autofree char *value = web_get_line(call, name);

	g_string_append_printf(line, " %s", value);
}

static GString *
format_add(struct web_call *call)
{
	GString *line = g_string_new("add");

	if (*web_get(call, "name"))
		append_quoted(call, line, "name=", "name");
	if (*web_get(call, "max"))
		append_quoted(call, line, "max=", "max");
	append_field(call, line, "filter");
	return line;
}

static GString *
format_edit(struct web_call *call)
{
	GString *line = g_string_new("edit");

	append_quoted(call, line, "", "number");
	if (has_field(call, "name"))
		append_quoted(call, line, "name=", "name");
	if (*web_get(call, "max"))
		append_quoted(call, line, "max=", "max");
	else if (has_field(call, "max"))
		g_string_append(line, " max=none");
	append_field(call, line, "filter");
	return line;
}

static GString *
format_remove(struct web_call *call)
{
	GString *line = g_string_new("del");

	append_quoted(call, line, "", "number");
	return line;
}

static GString *
format_block(struct web_call *call)
{
	GString *line = g_string_new("block");

	append_field(call, line, "filter");
	return line;
}

static GString *
format_unblock(struct web_call *call)
{
	GString *line = g_string_new("unblock");

	append_quoted(call, line, "", "number");
	return line;
}

static void
append_setting(struct web_call *call, GString *line, const char *key)
{
	g_autofree char *before = g_strconcat(key, " ", NULL);

	if (*web_get(call, key))
		append_quoted(call, line, before, key);
}

/* Days are of the frequency "weekly", which they would imply. */
static GString *
format_set(struct web_call *call)
{
	GString *line = g_string_new("set");
	const char *when = web_get(call, "when");

	append_setting(call, line, "when");
	if (!*when || strcmp(when, "weekly") == 0)
		append_setting(call, line, "days");
	append_setting(call, line, "at");
	append_setting(call, line, "tz");
	append_setting(call, line, "max");
	append_setting(call, line, "language");
	for (int i = 0; i < PREFERENCE_COUNT; i++)
		append_setting(call, line, preferences_get_name((enum preference)i));
	if (has_field(call, "name"))
		append_quoted(call, line, "name ", "name");
	return line;
}

static GString *
format_pause(struct web_call *call)
{
	GString *line = g_string_new("pause");

	if (*web_get(call, "until")) {
		g_string_append(line, " until");
		append_field(call, line, "until");
	} else if (*web_get(call, "days")) {
		append_field(call, line, "days");
		g_string_append_c(line, 'd');
	}
	return line;
}

static GString *
format_resume(struct web_call *call)
{
	(void)call;
	return g_string_new("resume");
}

static GString *
format_address(struct web_call *call)
{
	GString *line = g_string_new("address");

	append_quoted(call, line, "", "address");
	return line;
}

static GString *
format_export(struct web_call *call)
{
	GString *line = g_string_new("export");

	append_field(call, line, "format");
	return line;
}

static GString *
format_forget(struct web_call *call)
{
	(void)call;
	return g_string_new("forget me");
}

static GString *
format_unsubscribe(struct web_call *call)
{
	(void)call;
	return g_string_new("unsubscribe");
}

/* Mail what must not be shown to the reader of the page alone. */
static bool
mail_reply(struct web_call *call, struct request *request, GError **error)
{
	if (!request->reply.pending && !request->reply.undo)
		return true;
	if (!handler_reply(request, error))
		return false;
	if (call->report->outcome == HANDLER_LIMITED)
		web_add_phrase(call, "error", "page_mail_limit");
	else if (request->reply.undo)
		web_add_phrase(call, "ok", "page_left");
	else
		web_add_results(call, request->reply.results);
	return true;
}

/* @param is_left  set: the command has ended the subscription */
static bool
run_line(struct web_call *call, const struct subscriber *subscriber, const char *line,
    bool *is_left, GError **error)
{
	const char *const lines[] = {line, NULL};
	struct request request;
	bool is_suppressed, is_ok;

	web_init_request(call, call->text.language, &request);
	request.lines = lines;
	request.is_proven = request.has_token = true;
	is_ok = handler_set_requester(
	            &request, subscriber->address, &is_suppressed, error) &&
	        handler_restore_suspended(&request, error) &&
	        command_run(&request, error);
	if (is_ok) {
		call->report->is_changed |= request.reply.is_changed;
		call->is_done = request.reply.failed == 0;
		*is_left = request.reply.undo != NULL;
		if (!request.reply.pending && !*is_left)
			web_add_results(call, request.reply.results);
		is_ok = mail_reply(call, &request, error);
	}
	request_clear(&request);
	return is_ok;
}

/* ---- other changes ---- */

/* @return the number of the filter before or after one; 0: there is none */
static int
find_neighbour(const GPtrArray *own, int number, bool is_up)
{
	int before = 0;

	for (unsigned i = 0; i < own->len; i++) {
		const struct subscription *one = own->pdata[i];

		if (one->is_block)
			continue;
		if (is_up && one->number == number)
			return before;
		if (!is_up && before == number)
			return one->number;
		before = one->number;
	}
	return 0;
}

static bool
move(struct web_call *call, const struct subscriber *subscriber, bool is_up,
    GError **error)
{
	struct store *store = call->handler->store;
	int number = (int)web_get_number(call, "number", FILTERS_NUMBER_MAX);
	g_autoptr(GPtrArray) own =
	    subscribers_load_subscriptions(store, subscriber->id, error);
	int to = own && number ? find_neighbour(own, number, is_up) : 0;

	if (!own || !to)
		return own != NULL;
	web_add_phrase(call, "ok", "page_moved");
	call->is_done = true;
	return filters_move(store, subscriber->address, number, to, "web",
	    call->handler->options.now, error);
}

static bool
set_feeds(struct web_call *call, const struct subscriber *subscriber, bool is_on,
    GError **error)
{
	struct store *store = call->handler->store;
	int64_t now = call->handler->options.now;
	int64_t since;

	web_add_phrase(call, "ok", is_on ? "page_feeds_on" : "page_feeds_off");
	if (!private_feeds_load_since(store, subscriber->id, &since, error))
		return false;
	if ((since >= 0) == is_on)
		return true;
	return private_feeds_save_since(
	           store, subscriber->id, is_on ? now : -1, error) &&
	       audit_insert(store, now, "web", is_on ? "feeds on" : "feeds off",
	           subscriber->id, NULL, error);
}

static bool
run_up(struct web_call *call, const struct subscriber *subscriber, GError **error)
{
	return move(call, subscriber, true, error);
}

static bool
run_down(struct web_call *call, const struct subscriber *subscriber, GError **error)
{
	return move(call, subscriber, false, error);
}

static bool
run_feed_on(struct web_call *call, const struct subscriber *subscriber, GError **error)
{
	return set_feeds(call, subscriber, true, error);
}

static bool
run_feed_off(struct web_call *call, const struct subscriber *subscriber, GError **error)
{
	return set_feeds(call, subscriber, false, error);
}

static bool
run_test(struct web_call *call, const struct subscriber *subscriber, GError **error)
{
	g_autofree char *filter = web_get_line(call, "filter");

	return web_add_test(call, filter, subscriber->id, error);
}

/* ---- actions ---- */

static const struct action {
	const char *name;
	GString *(*format)(struct web_call *call); /* a command; or else: */
	bool (*run)(
	    struct web_call *call, const struct subscriber *subscriber, GError **error);
	bool is_test; /* it evaluates a filter */
} actions[] = {
    {"add", format_add, NULL, true},
    {"edit", format_edit, NULL, true},
    {"test", NULL, run_test, true},
    {"up", NULL, run_up, false},
    {"down", NULL, run_down, false},
    {"remove", format_remove, NULL, false},
    {"block", format_block, NULL, true},
    {"unblock", format_unblock, NULL, false},
    {"set", format_set, NULL, false},
    {"pause", format_pause, NULL, false},
    {"resume", format_resume, NULL, false},
    {"address", format_address, NULL, false},
    {"export", format_export, NULL, false},
    {"forget", format_forget, NULL, false},
    {"feed_on", NULL, run_feed_on, false},
    {"feed_off", NULL, run_feed_off, false},
    {"unsubscribe", format_unsubscribe, NULL, false},
};

static const struct action *
find_action(const struct web_call *call)
{
	for (size_t i = 0; i < G_N_ELEMENTS(actions); i++)
		if (g_str_equal(web_get(call, "action"), actions[i].name))
			return &actions[i];
	return NULL;
}

static bool
run_action(struct web_call *call, const struct action *action,
    const struct subscriber *subscriber, GError **error)
{
	g_autoptr(GString) line = NULL;
	bool is_left = false;

	if (action->is_test && !web_take_test(call))
		return true;
	if (!action->format)
		return action->run(call, subscriber, error);
	line = action->format(call);
	if (!run_line(call, subscriber, line->str, &is_left, error))
		return false;
	if (is_left) {
		call->page = WEB_PAGE_LEFT;
		web_add_undo(call);
	}
	return true;
}

bool
web_run_preferences(struct web_call *call, GError **error)
{
	const struct action *action = find_action(call);
	pb_auto(subscriber) subscriber = NULL;
	int64_t expires_at;

	if (!web_find_subscriber(call, &subscriber, &expires_at, error))
		return false;
	if (!subscriber)
		return true;
	if (!web_check_csrf(call, "preferences") || !action) {
		call->status = action ? WEB_STATUS_FORBIDDEN : WEB_STATUS_BAD_REQUEST;
		return true;
	}
	call->page = WEB_PAGE_PREFERENCES;
	return run_action(call, action, subscriber, error);
}
