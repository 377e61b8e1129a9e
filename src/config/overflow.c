/*
 * overflow.c - numbers in a configuration that libconfig would change in silence.
 */
#include "config/overflow.h"

#include <errno.h>
#include <glib.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#define NAME_REST   "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_*-"
#define NUMBER_REST "0123456789abcdefABCDEFxXLl.+-"

/* Skip to behind a mark, or to the end. */
static const char *
skip_to(const char *text, const char *mark, unsigned *line)
{
	size_t length = strlen(mark);

	while (*text && strncmp(text, mark, length) != 0)
		*line += *text++ == '\n';
	if (!*text)
		return text;
	*line += *mark == '\n';
	return text + length;
}

static const char *
skip_string(const char *text, unsigned *line)
{
	for (text++; *text && *text != '"'; text++) {
		if (*text == '\\' && text[1])
			text++;
		*line += *text == '\n';
	}
	return *text ? text + 1 : text;
}

static bool
is_large(const char *text, size_t size)
{
	g_autofree char *number = g_strndup(text, size);
	bool is_hex = number[0] == '0' && (number[1] == 'x' || number[1] == 'X');
	gint64 value;
	char *end;

	errno = 0;
	value = g_ascii_strtoll(number, &end, is_hex ? 16 : 10);
	/* What is no whole number, or ends in L, libconfig handles as it should. */
	return !*end && (errno == ERANGE || value < INT_MIN || value > INT_MAX);
}

const char *
overflow_find(const char *text, unsigned *line, size_t *size)
{
	while (*text) {
		bool is_signed = *text == '+' || *text == '-';

		if (*text == '#' || g_str_has_prefix(text, "//")) {
			text = skip_to(text, "\n", line);
		} else if (g_str_has_prefix(text, "/*")) {
			text = skip_to(text + 2, "*/", line);
		} else if (*text == '"') {
			text = skip_string(text, line);
		} else if (g_ascii_isalpha(*text) || *text == '*' || *text == '_') {
			text += strspn(text, NAME_REST);
		} else if (g_ascii_isdigit(*text) || *text == '.' ||
		           (is_signed && g_ascii_isdigit(text[1]))) {
			*size = strspn(text, NUMBER_REST);
			if (is_large(text, *size))
				return text;
			text += *size;
		} else {
			*line += *text == '\n';
			text++;
		}
	}
	return NULL;
}
