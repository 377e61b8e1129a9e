/*
 * command_reply.c - the reply to commands: errors, what to confirm, counts and status.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "service/command/command_private.h"
#include "store/subscriber/subscribers.h"

/* Characters of a filter shown around an error. */
#define EXCERPT_CHARS 54

bool
command_fail_with(GError **error, char *message)
{
	g_set_error_literal(error, PB_ERROR, PB_ERROR_INPUT, message);
	g_free(message);
	return false;
}

/* ---- errors ---- */

/* Add an example after an error, unless it was just shown; queries have their own. */
static void
add_example(struct request *request, const struct command_row *row, bool is_usage)
{
	g_autofree char *name = g_strconcat("example.", row->verb, NULL);
	g_autofree char *text = NULL;

	/* A page has examples beside its fields. */
	if (request->text.results || row == request->example_row ||
	    !catalog_has(request->catalog, name) ||
	    (!is_usage && strstr(row->arguments, "QUERY")))
		return;
	text = reply_text_format(&request->text, name);
	reply_phrase(&request->text, "", "example", "line", text);
	request->example_row = row;
}

static struct reply_result *
get_last_result(const struct request *request)
{
	const GPtrArray *results = request->text.results;

	return results->pdata[results->len - 1];
}

/* The page marks the column itself. */
static void
record_query_error(struct request *request)
{
	struct reply_result *last;

	if (!request->error_filter || !request->text.results)
		return;
	last = get_last_result(request);
	last->filter = g_steal_pointer(&request->error_filter);
	last->column = request->error_column;
}

static void
add_error(struct request *request, const struct command_row *row, const char *message,
    bool is_usage)
{
	g_autofree char *shown = reply_text_quote_message(&request->text, message);

	reply_text_add(&request->text, "error", shown);
	record_query_error(request);
	add_example(request, row, is_usage);
	request->reply.failed++;
}

void
command_add_error(
    struct request *request, const struct command_row *row, const GError *problem)
{
	const struct msg *msg = pb_error_get_msg(problem);
	g_autofree char *text = msg ? reply_text_format_msg(&request->text, msg)
	                            : g_strdup(problem->message);

	add_error(request, row, text, false);
	if (request->text.results && msg)
		get_last_result(request)->msg = msg->id;
}

void
command_add_usage_error(struct request *request, const struct command_row *row)
{
	g_autofree char *message = reply_text_format(
	    &request->text, "wanted", "verb", row->verb, "arguments", row->arguments);

	add_error(request, row, message, true);
}

/* The message, an excerpt of the filter, and a caret. */
static char *
format_query_error(
    struct request *request, const char *text, const struct query_error *problem)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);
	glong chars = g_utf8_strlen(valid, -1);
	glong from = CLAMP((glong)problem->column - 1 - EXCERPT_CHARS / 2, 0,
	    MAX(chars - EXCERPT_CHARS, 0));
	g_autofree char *part =
	    g_utf8_substring(valid, from, MIN(from + EXCERPT_CHARS, chars));
	struct query_error shifted = *problem;
	g_autofree char *column = g_strdup_printf("%u", problem->column);
	g_autofree char *message =
	    reply_text_format_msg(&request->text, problem->message);
	g_autofree char *head = reply_text_format(
	    &request->text, "problem", "column", column, "message", message);
	g_autofree char *whole = NULL;
	g_autofree char *below = NULL;
	g_auto(GStrv) lines = NULL;

	if (request->text.is_guarded || request->text.results)
		return g_steal_pointer(&head);
	shifted.column -= (unsigned)from;
	whole = query_error_format(&shifted, part, (unsigned)from);
	/* Replace its margin by a narrower one. */
	lines = g_strsplit(strchr(whole, '\n') + 1, "\n         ", -1);
	below = g_strjoinv("\n  ", lines);
	return g_strconcat(head, "\n  ", g_strchomp(g_strchug(below)), NULL);
}

bool
command_set_query_error(struct request *request, const char *text,
    const struct query_error *problem, GError **error)
{
	g_autofree char *message = NULL;

	if (!problem->message || !error || !*error)
		return false;
	message = format_query_error(request, text, problem);
	g_free(request->error_filter);
	request->error_filter = g_strdup(text);
	request->error_column = problem->column;
	if (problem->example) {
		g_autofree char *example = reply_text_format(
		    &request->text, "example", "line", problem->example);
		char *whole = g_strconcat(message, "\n", example, NULL);

		g_free(message);
		message = whole;
	}
	g_clear_error(error);
	return pb_fail(error, problem->code, "%s", message);
}

void
command_add_warnings(struct request *request, const GPtrArray *warnings)
{
	for (unsigned i = 0; i < warnings->len; i++) {
		const struct msg *warning = warnings->pdata[i];
		g_autofree char *text = reply_text_format_msg(&request->text, warning);

		/* It repeats what was typed, perhaps a link. */
		if (request->text.is_guarded && warning->id == MSG_NOTE_NARROWER)
			continue;
		reply_phrase(&request->text, "", "note", "text", text);
	}
}

/* ---- request for a confirmation ---- */

static const char *const confirm_phrases[] = {
    [COMMAND_CONFIRM_NOTHING] = NULL,
    [COMMAND_CONFIRM_SUBSCRIBE] = "ask_subscribe",
    [COMMAND_CONFIRM_CHANGE] = "ask_change",
    [COMMAND_CONFIRM_EXPORT] = "ask_export",
    [COMMAND_CONFIRM_ADDRESS] = "ask_address",
    [COMMAND_CONFIRM_ERASE] = "ask_forget",
};

void
command_add_token(struct request *request, struct reply_text *text, const char *verb,
    const char *mark)
{
	const char *url = request->settings->web_url;

	/* The token is too long to share a line. */
	g_string_append_printf(text->text, "%s %s\n", verb, mark);
	if (!*url)
		return;
	reply_text_add_blank(text);
	reply_text_add_paragraph(text, "or_page");
	g_string_append_printf(text->text, "%s/c/%s\n", url, mark);
}

static void
set_new_address_text(struct request *request)
{
	pb_local(reply_text) text = {0};

	if (request->reply.confirm != COMMAND_CONFIRM_ADDRESS)
		return;
	reply_text_init(&text, request->catalog, request->text_language, false);
	reply_text_add_paragraph(
	    &text, "ask_new_address", "address", request->commands_address);
	reply_text_add_blank(&text);
	command_add_token(request, &text, "confirm", COMMAND_CONFIRM_MARK);
	request->reply.new_text = g_strdup(text.text->str);
}

static char *
format_pending(const struct request *request)
{
	bool is_english = strcmp(request->text_language, "en") == 0;

	if (request->subscriber)
		return g_strdup(request->pending->str);
	if (request->restored)
		return g_strconcat(request->restored, request->pending->str, NULL);
	/* Nothing else remains to be done. */
	if (request->reply.confirm == COMMAND_CONFIRM_ERASE)
		return g_strdup("forget me");
	return g_strdup_printf("%s%s%ssubscribe %s\n%s",
	    is_english ? "" : COMMAND_LANGUAGE,
	    is_english ? "" : request->text_language, is_english ? "" : "\n",
	    request->subscribe_name ? request->subscribe_name : "",
	    request->pending->str);
}

static void
add_suggestion(struct request *request)
{
	g_autofree char *shown = NULL;

	/* A "yes" confirms the pending lines. */
	if (request->reply.waiting)
		g_clear_pointer(&request->reply.suggestion, g_free);
	if (!request->reply.suggestion)
		return;
	shown = reply_text_quote(&request->text, request->reply.suggestion);
	reply_text_add_blank(&request->text);
	reply_text_add_paragraph(&request->text, "ask_suggestion", "line", shown);
}

static void
add_confirmation(struct request *request)
{
	struct command_reply *reply = &request->reply;

	if (!reply->waiting)
		return;
	reply_text_add_blank(&request->text);
	reply_text_add_paragraph(&request->text,
	    reply->confirm == COMMAND_CONFIRM_CHANGE && request->is_proven
	        ? "ask_proposal"
	        : confirm_phrases[reply->confirm],
	    "address", request->commands_address, "new",
	    reply->new_address ? reply->new_address : "");
	reply_text_add_blank(&request->text);
	command_add_token(request, &request->text, "confirm", COMMAND_CONFIRM_MARK);
	reply->pending = format_pending(request);
	set_new_address_text(request);
}

static char *
fill_mark(char *text, const char *mark, const char *token)
{
	g_auto(GStrv) parts = text && token ? g_strsplit(text, mark, -1) : NULL;

	if (!parts)
		return text;
	g_free(text);
	return g_strjoinv(token, parts);
}

void
command_fill_tokens(struct command_reply *reply, const char *confirm, const char *undo)
{
	reply->text = fill_mark(reply->text, COMMAND_CONFIRM_MARK, confirm);
	reply->text = fill_mark(reply->text, COMMAND_UNDO_MARK, undo);
}

/* ---- counts and status ---- */

static void
add_counts(struct request *request)
{
	const struct command_reply *reply = &request->reply;
	const struct {
		const char *name;
		unsigned count;
	} counts[] = {{"done", reply->done}, {"waiting", reply->waiting},
	    {"failed", reply->failed}};
	g_autoptr(GString) text = g_string_new(NULL);

	if (reply->done + reply->failed + reply->waiting < 2 && !reply->failed)
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(counts); i++) {
		g_autofree char *part = reply_text_format_count(
		    &request->text, counts[i].name, counts[i].count);

		if (counts[i].count)
			g_string_append_printf(
			    text, "%s%s", text->len ? ", " : "", part);
	}
	g_string_append_c(text, '.');
	reply_text_add_block(&request->text, text->str);
}

static unsigned
count_filters(const GPtrArray *subscriptions)
{
	unsigned count = 0;

	for (unsigned i = 0; i < subscriptions->len; i++) {
		const struct subscription *own = subscriptions->pdata[i];

		count += !own->is_block;
	}
	return count;
}

/* @return when the next digest is due, in words */
static char *
format_due(struct request *request)
{
	const struct subscriber *subscriber = request->subscriber;

	if (subscriber->state == SUBSCRIBER_PAUSED) {
		g_autofree char *day =
		    reply_text_format_day(&request->text, subscriber->paused_until);

		return *day
		           ? reply_text_format(&request->text, "due_paused", "day", day)
		           : reply_text_format(&request->text, "due_paused_open");
	}
	if (subscriber->state == SUBSCRIBER_SUSPENDED)
		return reply_text_format(&request->text, "due_suspended");
	if (subscriber->next_due_at <= request->now)
		return reply_text_format(&request->text, "due_soon");
	{
		g_autofree char *time = reply_text_format_time(
		    &request->text, subscriber->next_due_at, subscriber->zone);

		return reply_text_format(&request->text, "due_next", "time", time);
	}
}

static bool
add_status(struct request *request, GError **error)
{
	g_autoptr(GPtrArray) own = NULL;
	g_autofree char *count = NULL;
	g_autofree char *due = NULL;
	g_autofree char *whole = NULL;
	unsigned filters;

	if (!request->subscriber)
		return true;
	own = subscribers_load_subscriptions(
	    request->store, request->subscriber->id, error);
	if (!own)
		return false;
	filters = count_filters(own);
	if (!filters) {
		reply_text_add_paragraph(&request->text, "you_have_none");
		return true;
	}
	count = reply_text_format_count(&request->text, "you_have", filters);
	due = format_due(request);
	whole = g_strdup_printf("%s %s", count, due);
	reply_text_add_block(&request->text, whole);
	return true;
}

bool
command_finish(struct request *request, GError **error)
{
	if (!request_reload(request, error))
		return false;
	g_strlcpy(request->reply.language, request->text_language,
	    sizeof(request->reply.language));
	add_suggestion(request);
	add_confirmation(request);
	reply_text_add_blank(&request->text);
	add_counts(request);
	if (!add_status(request, error))
		return false;
	if (request->own_addresses->commands.delimiter)
		reply_text_add_paragraph(
		    &request->text, "footer", "help", request->help_address);
	else
		reply_text_add_paragraph(&request->text, "footer_word", "address",
		    request->commands_address);
	if (!request->mail && !request->reply.subject)
		request->reply.subject =
		    reply_text_format(&request->text, "subject.page");
	request->reply.text = g_strdup(request->text.text->str);
	return true;
}
