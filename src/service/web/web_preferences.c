/*
 * web_preferences.c - changes on the page of the preferences.
 *
 * Each is a command of COMMANDS by mail, run for the subscriber of the token; its
 * results are shown on the page, and only confirmations and the notice of a removal are
 * mailed.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/text.h"
#include "query/parse/lex.h"
#include "service/command/command.h"
#include "service/inbound/handler_request.h"
#include "service/people/filters.h"
#include "service/web/web_private.h"
#include "store/subscriber/audit.h"
#include "store/subscriber/private_feeds.h"
#include "store/subscriber/subscribers.h"

bool
web_find_subscriber(struct web_call *call, struct subscriber **subscriber,
    int64_t *expires_at, GError **error)
{
	const struct handler_options *options = &call->handler->options;
	const struct mail_token tokens = {
	    call->handler->store, options->key, options->now};

	if (!mail_token_find_preferences(
	        &tokens, call->request->token, subscriber, expires_at, error))
		return false;
	return *subscriber || web_refuse(call, WEB_STATUS_NOT_FOUND);
}

/* ---- commands ---- */

void
web_append_quoted(
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
		web_append_quoted(call, line, "name=", "name");
	if (*web_get(call, "max"))
		web_append_quoted(call, line, "max=", "max");
	append_field(call, line, "filter");
	return line;
}

static GString *
format_edit(struct web_call *call)
{
	GString *line = g_string_new("edit");

	web_append_quoted(call, line, "", "number");
	if (has_field(call, "name"))
		web_append_quoted(call, line, "name=", "name");
	if (*web_get(call, "max"))
		web_append_quoted(call, line, "max=", "max");
	else if (has_field(call, "max"))
		g_string_append(line, " max=none");
	if (has_field(call, "note"))
		web_append_quoted(call, line, "note=", "note");
	append_field(call, line, "filter");
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

/* Mail what must not be shown to the reader of the page alone. */
static bool
mail_reply(
    struct web_call *call, struct request *request, const char *field, GError **error)
{
	if (!request->reply.pending && !request->reply.undo)
		return true;
	if (!handler_reply(request, error))
		return false;
	if (call->report->outcome == HANDLER_LIMITED)
		web_add_phrase(call, "error",
		    N_("Nothing was done: too many mails have gone to you today. Try "
		       "again tomorrow."));
	else if (!request->reply.undo)
		web_add_results(call, request->reply.results, field);
	return true;
}

/*
 * Run a command.
 *
 * @param field    its field, or NULL
 * @param is_left  set: it has ended the subscription
 */
static bool
run_line(struct web_call *call, const struct subscriber *subscriber, const char *line,
    const char *field, bool *is_left, GError **error)
{
	const char *const lines[] = {line, NULL};
	pb_local(request) request = {0};
	enum handler_mail may_mail;

	web_init_request(call, call->text.language, &request);
	request.lines = lines;
	request.is_proven = request.has_token = true;
	if (!handler_set_requester(&request, subscriber->address, &may_mail, error) ||
	    !handler_record_request(&request, error) || !command_run(&request, error))
		return false;
	call->report->is_changed |= request.reply.is_changed;
	call->is_done = request.reply.failed == 0;
	*is_left = request.reply.undo != NULL;
	if (!request.reply.pending && !*is_left)
		web_add_results(call, request.reply.results, field);
	return mail_reply(call, &request, field, error);
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
	web_add_phrase(call, "ok", N_("Moved."));
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

	web_add_phrase(call, "ok",
	    is_on
	        ? N_("Your feeds are on. Their addresses are secret: whoever has one "
	             "can read what your filters find.")
	        : N_("Your feeds are off, and their addresses do not work any more."));
	return (is_on ? private_feeds_turn_on(store, subscriber->id, now, error)
	              : private_feeds_turn_off(store, subscriber->id, error)) &&
	       audit_insert(store, now, "web", is_on ? "feeds on" : "feeds off",
	           subscriber->id, NULL, error);
}

static bool
run_test(struct web_call *call, const struct subscriber *subscriber, bool is_on,
    GError **error)
{
	g_autofree char *filter = web_get_line(call, "filter");

	(void)is_on;
	return web_add_test(call, filter, subscriber->id, error);
}

/* ---- actions ---- */

/* Each setting is a command of its own: the others apply when one is wrong. */
static bool
run_set(struct web_call *call, const struct subscriber *subscriber, bool is_on,
    GError **error)
{
	g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) fields = g_ptr_array_new();
	bool is_left, is_done = true;

	(void)is_on;
	web_list_changes(call, subscriber, lines, fields);
	if (!lines->len)
		web_add_phrase(call, "ok", N_("already set; nothing was changed."));
	for (unsigned i = 0; i < lines->len; i++) {
		if (!run_line(call, subscriber, lines->pdata[i], fields->pdata[i],
		        &is_left, error))
			return false;
		is_done &= call->is_done;
	}
	call->is_done = is_done;
	return true;
}

static const struct action {
	const char *name;
	const char *verb;   /* a command; its argument is one of two fields, or none: */
	const char *plain;  /* taken as it was typed */
	const char *quoted; /* put in quotes */
	GString *(*format)(struct web_call *call); /* of other commands; or else: */
	bool (*run)(struct web_call *call, const struct subscriber *subscriber,
	    bool is_on, GError **error);
	bool is_on;        /* for run */
	bool is_test;      /* it evaluates a filter */
	bool is_answer;    /* to a proposal */
	const char *field; /* that errors belong to, or NULL */
} actions[] = {
    {"add", .format = format_add, .is_test = true, .field = "filter"},
    {"edit", .format = format_edit, .is_test = true, .field = "filter"},
    {"test", .run = run_test, .is_test = true},
    {"up", .run = move, .is_on = true},
    {"down", .run = move},
    {"remove", .verb = "del", .quoted = "number"},
    {"block", .verb = "block", .plain = "filter", .is_test = true, .field = "filter"},
    {"unblock", .verb = "unblock", .quoted = "number"},
    {"set", .run = run_set},
    {"yes", .verb = "yes", .plain = "proposal", .is_answer = true},
    {"no", .verb = "no", .plain = "proposal", .is_answer = true},
    {"undo_answer", .verb = "undo", .plain = "proposal", .is_answer = true},
    {"like", .verb = "like", .plain = "paper"},
    {"hide", .verb = "hide", .plain = "paper"},
    {"watch", .verb = "watch", .plain = "paper"},
    {"unwatch", .verb = "unwatch", .plain = "paper"},
    {"known", .verb = "known", .plain = "papers"},
    {"taste_forget", .verb = "taste forget"},
    {"pause", .format = format_pause, .field = "until"},
    {"resume", .verb = "resume"},
    {"address", .verb = "address", .quoted = "address", .field = "address"},
    {"export", .verb = "export", .plain = "format"},
    {"forget", .verb = "forget me"},
    {"feed_on", .run = set_feeds, .is_on = true},
    {"feed_off", .run = set_feeds},
    {"unsubscribe", .verb = "unsubscribe"},
};

/* @return NULL if the action is not a command */
static GString *
format_line(struct web_call *call, const struct action *action)
{
	GString *line;

	if (action->format)
		return action->format(call);
	if (!action->verb)
		return NULL;
	line = g_string_new(action->verb);
	if (action->plain)
		append_field(call, line, action->plain);
	if (action->quoted)
		web_append_quoted(call, line, "", action->quoted);
	return line;
}

static const struct action *
find_action(const struct web_call *call)
{
	for (size_t i = 0; i < G_N_ELEMENTS(actions); i++)
		if (g_str_equal(web_get(call, "action"), actions[i].name))
			return &actions[i];
	return NULL;
}

/* Name and maximum of a filter, whose errors belong to their fields. */
static bool
check_labels(struct web_call *call, bool *is_valid, GError **error)
{
	g_autofree char *name = web_get_line(call, "name");
	g_autofree char *max = web_get_line(call, "max");
	g_autoptr(GError) problem = NULL;

	*is_valid = !*max || web_get_number(call, "max", BOUNDS_DIGEST_FULL_MAX);
	if (!*is_valid)
		web_add_field_phrase(call, "error", "max",
		    N_("{key} is a number from 1 to {most}."), "key", "max", "most",
		    G_STRINGIFY(BOUNDS_DIGEST_FULL_MAX));
	if (!*name || text_check_line("name", name, BOUNDS_FILTER_NAME, &problem))
		return true;
	*is_valid = false;
	return web_add_error(call, "name", &problem, error);
}

static bool
run_action(struct web_call *call, const struct action *action,
    const struct subscriber *subscriber, GError **error)
{
	g_autoptr(GString) line = NULL;
	bool is_left = false, is_valid = true;

	if (action->is_test && !check_labels(call, &is_valid, error))
		return false;
	if (!is_valid || (action->is_test && !web_take_own_test(call, subscriber)))
		return true;
	if (action->is_answer && !web_get_number(call, "proposal", G_MAXINT32))
		return web_refuse(call, WEB_STATUS_BAD_REQUEST);
	line = format_line(call, action);
	if (!line)
		return action->run(call, subscriber, action->is_on, error);
	if (!run_line(call, subscriber, line->str, action->field, &is_left, error))
		return false;
	if (is_left) {
		call->page = WEB_PAGE_LEFT;
		web_add_undo(call);
	}
	if (action->is_test && call->is_done)
		call->offered_at = call->handler->options.now;
	return !action->is_answer || web_find_answered(call, subscriber, error);
}

bool
web_run_preferences(struct web_call *call, GError **error)
{
	const struct action *action = find_action(call);
	pb_auto(subscriber) subscriber = NULL;
	int64_t expires_at;

	/* Somebody who has left is not found by the token of the link. */
	if (strcmp(web_get(call, "action"), "undo") == 0 &&
	    web_check_csrf(call, "leave"))
		return web_run_undo(call, error);
	if (!web_find_subscriber(call, &subscriber, &expires_at, error))
		return false;
	if (!subscriber)
		return true;
	if (!action)
		return web_refuse(call, WEB_STATUS_BAD_REQUEST);
	if (!web_check_csrf(call, "preferences"))
		return web_refuse(call, WEB_STATUS_FORBIDDEN);
	call->page = WEB_PAGE_PREFERENCES;
	return run_action(call, action, subscriber, error);
}
