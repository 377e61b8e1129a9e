/*
 * command_arguments.c - read words, options and numbers after a verb.
 */
#include <string.h>

#include "base/bounds.h"
#include "model/natural_time.h"
#include "query/parse/lex.h"
#include "service/command/command_private.h"

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

/* A time has at most this many words: "8 o'clock in the morning". */
#define TIME_WORDS 5

char *
command_take_value(const char **arguments, const char *key)
{
	char *value = command_take_word(arguments);
	const char *rest = *arguments;
	g_autofree char *longer = g_strdup(value);
	int minute;

	if (!value || g_ascii_strcasecmp(key, "at") != 0)
		return value;
	for (unsigned words = 1; words < TIME_WORDS; words++) {
		g_autofree char *word = command_take_word(&rest);
		g_autofree char *before = g_steal_pointer(&longer);

		if (!word)
			break;
		longer = g_strconcat(before, " ", word, NULL);
		if (!natural_time_parse_minute(longer, &minute))
			continue;
		g_free(value);
		value = g_strdup(longer);
		*arguments = rest;
	}
	return value;
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
	/* "max= diffusion": an empty value */
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
command_parse_number(struct request *request, const char *key, const char *text,
    unsigned most, unsigned *number, GError **error)
{
	guint64 parsed;

	if (!g_ascii_string_to_unsigned(text, 10, 1, most, &parsed, NULL))
		return command_fail(request, error,
		    N_("{key} is a number from 1 to {most}."), "key", key, "most",
		    MSG_INT(most));
	*number = (unsigned)parsed;
	return true;
}

bool
command_parse_days(
    struct request *request, const char *text, unsigned *days, GError **error)
{
	size_t size = strlen(text);
	g_autofree char *digits = size > 0 && g_ascii_tolower(text[size - 1]) == 'd'
	                              ? g_strndup(text, size - 1)
	                              : g_strdup(text);
	guint64 parsed;

	if (!g_ascii_string_to_unsigned(
	        digits, 10, 1, BOUNDS_BACKTEST_DAYS, &parsed, NULL))
		return command_fail(request, error,
		    N_("since is a number of days, such as since=30d, up to {most}d."),
		    "most", MSG_INT(BOUNDS_BACKTEST_DAYS));
	*days = (unsigned)parsed;
	return true;
}
