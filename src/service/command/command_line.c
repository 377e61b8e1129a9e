/*
 * command_line.c - one line of a letter: run at once, or tried and kept waiting.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "service/command/command_private.h"
#include "service/command/request_match.h"

/* What the person did wrong is told; what went wrong here is not. */
static bool
is_reported(const GError *error)
{
	return error->domain == PB_ERROR &&
	       (error->code == PB_ERROR_INPUT || error->code == PB_ERROR_LIMIT ||
	           error->code == PB_ERROR_NOT_FOUND);
}

/* An example helps where a command was not understood, and once is enough. */
static void
say_example(struct command_work *work, const struct command_row *row, bool is_wanted)
{
	g_autofree char *name = g_strconcat("example.", row->verb, NULL);
	g_autofree char *text = NULL;

	/* What is wrong with a query has an example of its own. */
	if (row == work->exemplified || !catalog_has(work->context->phrases, name) ||
	    (!is_wanted && strstr(row->arguments, "QUERY")))
		return;
	text = reply_text_format(&work->answer, name);
	reply_phrase(&work->answer, "", "example", "line", text);
	work->exemplified = row;
}

static void
say_error(struct command_work *work, const struct command_row *row, const char *message,
    bool is_wanted)
{
	g_autofree char *shown = reply_text_quote_message(&work->answer, message);

	reply_text_add(&work->answer, "error", shown);
	say_example(work, row, is_wanted);
	work->reply->failed++;
}

/* In the language of the reader, where the error has it. */
static void
say_problem(
    struct command_work *work, const struct command_row *row, const GError *problem)
{
	const struct msg *msg = pb_error_get_msg(problem);
	g_autofree char *text = msg ? reply_text_format_msg(&work->answer, msg)
	                            : g_strdup(problem->message);

	say_error(work, row, text, false);
}

/*
 * Run one command in a savepoint; what it said of a failure is taken back.
 *
 * @return false when the letter has to end; else `problem` tells whether it worked
 */
static bool
attempt(struct command_work *work, const struct command_row *row, const char *arguments,
    GError **problem, GError **error)
{
	pb_transaction transaction = {0};
	gsize before = work->answer.text->len;

	if (!store_begin(work->context->store, &transaction, error))
		return false;
	if (row->run(work, arguments, problem))
		return store_commit(&transaction, error);
	g_assert(*problem);
	g_string_truncate(work->answer.text, before);
	if (is_reported(*problem))
		return true;
	return pb_error_forward(error, problem);
}

bool
command_run_row(struct command_work *work, const struct command_row *row,
    const char *arguments, GError **error)
{
	g_autoptr(GError) problem = NULL;

	if (!attempt(work, row, arguments, &problem, error))
		return false;
	if (problem)
		say_problem(work, row, problem);
	else
		work->reply->done++;
	return true;
}

/* What waits already, so that a line that comes after it is tried behind it. */
static bool
replay(struct command_work *work, GError **error)
{
	g_auto(GStrv) lines = g_strsplit(work->pending->str, "\n", -1);

	if (!work->subscriber && !command_run_subscribe(work,
	                             work->subscribing ? work->subscribing : "", error))
		return false;
	for (char **line = lines; *line; line++) {
		const char *arguments;
		const struct command_row *row =
		    **line ? command_table_read(*line, &arguments) : NULL;

		if (row && !row->run(work, arguments, error))
			return false;
	}
	return true;
}

/* Try a command and undo it. @return the line that waits, NULL with an error */
static char *
rehearse(struct command_work *work, const struct command_row *row,
    const char *arguments, GError **error)
{
	pb_transaction transaction = {0};
	g_autofree char *line = g_strdup(arguments);
	gsize before = work->answer.text->len;
	bool is_ok;

	g_clear_pointer(&work->rehearsed, g_free);
	if (!store_begin(work->context->store, &transaction, error))
		return NULL;
	work->is_rehearsal = true;
	is_ok = replay(work, error);
	g_clear_pointer(&work->rehearsed, g_free);
	if (is_ok && row->fix) {
		g_free(line);
		line = row->fix(work, arguments, error);
		is_ok = line != NULL;
	}
	is_ok =
	    is_ok && (row->run == command_run_subscribe || row->run(work, line, error));
	work->is_rehearsal = false;
	g_string_truncate(work->answer.text, before);
	store_rollback(&transaction);
	/* As it was before: a stranger is one again. */
	g_clear_pointer(&work->subscriber, subscriber_free);
	if (!command_work_load(work, is_ok ? error : NULL) || !is_ok)
		return NULL;
	return *line ? g_strconcat(row->verb, " ", line, NULL) : g_strdup(row->verb);
}

/* Also whoever has left, or was only ever asked, can have all erased. */
static bool
is_forgetting(const struct command_row *row)
{
	return row->purpose == COMMAND_CONFIRM_FORGET;
}

static bool
let_wait(struct command_work *work, const struct command_row *row,
    const char *arguments, GError **error)
{
	g_autoptr(GError) problem = NULL;
	g_autofree char *line = rehearse(work, row, arguments, &problem);
	enum command_mode purpose = work->subscriber || is_forgetting(row)
	                                ? row->purpose
	                                : COMMAND_CONFIRM_SUBSCRIBE;

	if (!line && work->is_inferred && is_reported(problem)) {
		reply_phrase(&work->answer, "", "inferred_not");
		return true;
	}
	if (!line) {
		if (!is_reported(problem))
			return pb_error_forward(error, &problem);
		say_problem(work, row, problem);
		return true;
	}
	if (row->run == command_run_subscribe) {
		g_free(work->subscribing);
		work->subscribing = g_strdup(arguments);
	} else {
		g_string_append_printf(work->pending, "%s\n", line);
	}
	work->reply->purpose = MAX(work->reply->purpose, purpose);
	work->reply->waiting++;
	if (work->rehearsed) {
		g_autofree char *shown =
		    reply_text_quote(&work->answer, work->rehearsed);

		reply_phrase(&work->answer, "wait",
		    work->is_inferred ? "waits_inferred" : "waits_filter", "filter",
		    shown);
	} else {
		reply_phrase(&work->answer, "wait", "waits");
	}
	return true;
}

static bool
must_wait(const struct command_work *work, const struct command_row *row)
{
	if (work->is_final)
		return false;
	switch (row->trust) {
	case COMMAND_AUTH_NONE:
	case COMMAND_AUTH_READ:
		return false;
	case COMMAND_AUTH_CHANGE:
		return !work->subscriber || !work->user->is_proven;
	case COMMAND_AUTH_CONFIRM:
		/* To subscribe twice is to ask for the list. */
		return !work->subscriber || row->run != command_run_subscribe;
	}
	return true;
}

static bool
run_unknown(struct command_work *work, const char *line)
{
	const char *arguments;
	g_autofree char *word = command_table_split(line, &arguments);
	g_autofree char *shown = reply_text_quote(&work->answer, word);
	const struct command_row *near = command_table_find_near(word);

	if (near && work->subscriber && !work->reply->suggestion)
		work->reply->suggestion =
		    *arguments ? g_strconcat(near->verb, " ", arguments, NULL)
		               : g_strdup(near->verb);
	if (near)
		reply_phrase(&work->answer, "error", "unknown_near", "word", shown,
		    "verb", near->verb);
	else
		reply_phrase(&work->answer, "error", "unknown", "word", shown);
	work->reply->failed++;
	return true;
}

/* As it was typed; a filter that waited has its number again. */
static bool
echo(struct command_work *work, const char *line, GError **error)
{
	g_autofree char *shown = work->is_final && work->subscriber
	                             ? command_format_references(work, line, error)
	                             : g_strdup(line);

	if (shown)
		reply_text_add_quoted(&work->answer, shown);
	return shown != NULL;
}

static bool
run_echoed(struct command_work *work, const char *line, GError **error)
{
	const char *arguments;
	const struct command_row *row = command_table_read(line, &arguments);

	if (!row)
		return run_unknown(work, line);
	if (row->arity == COMMAND_ARITY_WANTED && !*arguments) {
		g_autofree char *message = reply_text_format(&work->answer, "wanted",
		    "verb", row->verb, "arguments", row->arguments);

		say_error(work, row, message, true);
		return true;
	}
	if (!work->subscriber && !row->is_for_unknown) {
		reply_phrase(&work->answer, "error", "stranger");
		work->reply->failed++;
		return true;
	}
	return must_wait(work, row) ? let_wait(work, row, arguments, error)
	                            : command_run_row(work, row, arguments, error);
}

/* A stranger's line comes back once at most. */
static bool
was_echoed(const struct command_work *work, const char *line)
{
	g_auto(GStrv) lines = g_strsplit(work->echoed->str, "\n", -1);

	return g_strv_contains((const char *const *)lines, line);
}

/*
 * The answer to a stranger may have been asked for in another's name: what did not work
 * is not repeated, nor more than a little of the rest.
 */
static bool
run_unknown_line(struct command_work *work, const char *line, GError **error)
{
	unsigned failed = work->reply->failed;
	gsize before, after;

	if (was_echoed(work, line))
		return true;
	reply_text_add_blank(&work->answer);
	before = work->answer.text->len;
	if (!echo(work, line, error))
		return false;
	after = work->answer.text->len;
	g_string_append_printf(work->echoed, "%s\n", line);
	if (!run_echoed(work, line, error))
		return false;
	if (work->reply->failed > failed || work->echoed->len > BOUNDS_UNKNOWN_ECHO)
		g_string_erase(
		    work->answer.text, (gssize)before, (gssize)(after - before));
	return true;
}

/* Keywords of a person: at most so many, so long. */
#define KEYWORDS_MAX  5
#define KEYWORD_CHARS 60
#define KEYWORD_WORDS 5

/* Without a mark of a list: "- diffusion", "2. agents". */
static const char *
skip_list_mark(const char *text)
{
	g_autoptr(GRegex) mark =
	    g_regex_new("^(?:[-*+\u2022\u00b7]|\\d{1,2}[.)])\\s+", 0, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;
	int end = 0;

	if (g_regex_match(mark, text, 0, &match))
		g_match_info_fetch_pos(match, 0, NULL, &end);
	return text + end;
}

static bool
is_keyword(const char *text)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	size_t size = strlen(text);

	return size && g_utf8_strlen(text, -1) <= KEYWORD_CHARS &&
	       g_strv_length(words) <= KEYWORD_WORDS && !strchr(".?!:", text[size - 1]);
}

/* @return false when the letter has to end */
static bool
infer_filter(
    struct command_work *work, const char *text, unsigned *count, GError **error)
{
	gsize before = work->echoed->len;
	bool is_ok;

	g_string_append_printf(work->echoed, "%s\n", text);
	reply_text_add_blank(&work->answer);
	if (before <= BOUNDS_UNKNOWN_ECHO)
		reply_text_add_quoted(&work->answer, text);
	if (*count == KEYWORDS_MAX || !is_keyword(text)) {
		reply_phrase(&work->answer, "", "inferred_not");
		return true;
	}
	work->is_inferred = true;
	is_ok = let_wait(work, command_table_find("add"), text, error);
	work->is_inferred = false;
	++*count;
	return is_ok;
}

bool
command_infer_filters(
    struct command_work *work, const char *text, const char *request, GError **error)
{
	g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);
	unsigned count = 0, seen = 0;

	for (char **at = lines; *at && seen < BOUNDS_COMMANDS; at++) {
		g_auto(GStrv) parts = NULL;
		enum request kind;

		if (strcmp(g_strchomp(*at), "--") == 0)
			break;
		g_strchug(*at);
		if (!**at || **at == '>' || (request && strcmp(*at, request) == 0))
			continue;
		kind = request_match(*at);
		/* The subject has asked for it already. */
		if (kind == REQUEST_SUBSCRIBE)
			continue;
		/* A greeting begins a message, or ends it. */
		if (kind == REQUEST_FILLER) {
			if (seen || request_is_closing(*at))
				break;
			continue;
		}
		parts = g_strsplit_set(skip_list_mark(*at), ",;", -1);
		for (char **part = parts; *part; part++)
			if (*g_strstrip(*part) && ++seen <= BOUNDS_COMMANDS &&
			    !infer_filter(work, *part, &count, error))
				return false;
	}
	return true;
}

bool
command_run_line(struct command_work *work, const char *line, GError **error)
{
	if (work->answer.is_guarded)
		return run_unknown_line(work, line, error);
	reply_text_add_blank(&work->answer);
	return echo(work, line, error) && run_echoed(work, line, error);
}
