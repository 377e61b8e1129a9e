/*
 * command_tokens.c - the words of a command, read; and what is wrong with them, told.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "model/natural_time.h"
#include "query/parse/lex.h"
#include "query/query_error.h"
#include "service/command/command_private.h"

/* So much of a filter is shown about where it is wrong. */
#define SHOWN_CHARS 54

bool
command_fail_with(GError **error, char *message)
{
	g_set_error_literal(error, PB_ERROR, PB_ERROR_INPUT, message);
	g_free(message);
	return false;
}

char *
command_take_word(const char **arguments)
{
	const char *at = *arguments;
	const char *start, *end;
	bool is_quoted;

	while (*at == ' ')
		at++;
	if (!*at)
		return NULL;
	is_quoted = lex_is_quote(g_utf8_get_char(at));
	start = is_quoted ? g_utf8_next_char(at) : at;
	for (end = start; *end; end = g_utf8_next_char(end))
		if (is_quoted ? lex_is_quote(g_utf8_get_char(end)) : *end == ' ')
			break;
	*arguments = is_quoted && *end ? g_utf8_next_char(end) : end;
	while (**arguments == ' ')
		++*arguments;
	return g_strndup(start, (gsize)(end - start));
}

char *
command_take_value(const char **arguments, const char *key)
{
	g_autofree char *value = command_take_word(arguments);
	const char *rest = *arguments;
	g_autofree char *word = NULL;

	if (!value || g_ascii_strcasecmp(key, "at") != 0)
		return g_steal_pointer(&value);
	word = command_take_word(&rest);
	if (!word || !natural_time_is_of_hour(word))
		return g_steal_pointer(&value);
	*arguments = rest;
	return g_strconcat(value, " ", word, NULL);
}

char *
command_take_option(const char **arguments, const char *key)
{
	const char *at = *arguments;
	size_t size = strlen(key);
	char *value;

	if (g_ascii_strncasecmp(at, key, size) != 0 || at[size] != '=')
		return NULL;
	at += size + 1;
	/* "max= diffusion" has an empty one. */
	if (*at == ' ' || !*at) {
		while (*at == ' ')
			at++;
		*arguments = at;
		return g_strdup("");
	}
	value = command_take_word(&at);
	*arguments = at;
	return value;
}

bool
command_parse_number(struct command_work *work, const char *key, const char *text,
    unsigned most, unsigned *number, GError **error)
{
	guint64 parsed;
	g_autofree char *limit = g_strdup_printf("%u", most);

	if (!g_ascii_string_to_unsigned(text, 10, 1, most, &parsed, NULL))
		return command_fail(
		    work, error, "wrong_number", "key", key, "most", limit);
	*number = (unsigned)parsed;
	return true;
}

bool
command_parse_days(
    struct command_work *work, const char *text, unsigned *days, GError **error)
{
	size_t size = strlen(text);
	g_autofree char *digits = size > 0 && g_ascii_tolower(text[size - 1]) == 'd'
	                              ? g_strndup(text, size - 1)
	                              : g_strdup(text);
	g_autofree char *most = g_strdup_printf("%d", BOUNDS_BACKTEST_DAYS);
	guint64 parsed;

	if (!g_ascii_string_to_unsigned(
	        digits, 10, 1, BOUNDS_BACKTEST_DAYS, &parsed, NULL))
		return command_fail(work, error, "wrong_days", "most", most);
	*days = (unsigned)parsed;
	return true;
}

/* The problem beside the margin: its words, then the filter as typed, and a caret. */
static char *
format_problem(
    struct command_work *work, const char *text, const struct query_error *problem)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);
	glong chars = g_utf8_strlen(valid, -1);
	glong from = CLAMP((glong)problem->column - 1 - SHOWN_CHARS / 2, 0,
	    MAX(chars - SHOWN_CHARS, 0));
	g_autofree char *part =
	    g_utf8_substring(valid, from, MIN(from + SHOWN_CHARS, chars));
	struct query_error here = *problem;
	g_autofree char *column = g_strdup_printf("%u", problem->column);
	g_autofree char *whole = NULL;
	g_autofree char *message =
	    reply_text_format_msg(&work->answer, problem->message);
	const char *excerpt;

	if (work->answer.is_guarded)
		return reply_text_format(
		    &work->answer, "problem", "column", column, "message", message);
	here.column -= (unsigned)from;
	whole = query_error_format(&here, part, (unsigned)from);
	excerpt = strchr(whole, '\n');
	{
		/* Its own margin is wider than ours. */
		g_auto(GStrv) lines = g_strsplit(excerpt + 1, "\n         ", -1);
		g_autofree char *below = g_strjoinv("\n  ", lines);
		g_autofree char *head = reply_text_format(
		    &work->answer, "problem", "column", column, "message", message);

		return g_strconcat(head, "\n  ", g_strchomp(g_strchug(below)), NULL);
	}
}

void
command_note_problem(struct command_work *work, const char *text,
    const struct query_error *problem, GError **error)
{
	g_autofree char *message = NULL;

	if (!problem->message || !error || !*error)
		return;
	message = format_problem(work, text, problem);
	if (problem->example) {
		g_autofree char *example = reply_text_format(
		    &work->answer, "problem_example", "filter", problem->example);
		char *whole = g_strconcat(message, "\n", example, NULL);

		g_free(message);
		message = whole;
	}
	g_clear_error(error);
	g_set_error_literal(error, PB_ERROR, (int)problem->code, message);
}
