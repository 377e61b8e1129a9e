/*
 * recover.c - parse a configuration with libconfig despite syntax errors.
 */
#include "config/recover.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/text.h"

/* Maximum number of syntax errors to recover from. */
#define RECOVERIES_MAX 100

/* Maximum length of a line quoted in an error. */
#define QUOTE_CHARS 50

#define NAME_CHARS   "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_*-"
#define NUMBER_CHARS "0123456789abcdefABCDEFxXLl.+-"

/* Skip past a delimiter, or to the end. */
static const char *
skip_to(const char *text, const char *delimiter, unsigned *line)
{
	size_t length = strlen(delimiter);

	while (*text && strncmp(text, delimiter, length) != 0)
		*line += *text++ == '\n';
	if (!*text)
		return text;
	*line += *delimiter == '\n';
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
has_overflow(const char *text, size_t size)
{
	g_autofree char *number = g_strndup(text, size);
	bool is_hex = number[0] == '0' && (number[1] == 'x' || number[1] == 'X');
	gint64 value;
	char *end;

	errno = 0;
	value = g_ascii_strtoll(number, &end, is_hex ? 16 : 10);
	/* libconfig handles fractions and a suffix L itself. */
	return !*end && (errno == ERANGE || value < INT_MIN || value > INT_MAX);
}

const char *
recover_find_overflow(const char *text, unsigned *line, size_t *size)
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
			text += strspn(text, NAME_CHARS);
		} else if (g_ascii_isdigit(*text) || *text == '.' ||
		           (is_signed && g_ascii_isdigit(text[1]))) {
			*size = strspn(text, NUMBER_CHARS);
			if (has_overflow(text, *size))
				return text;
			text += *size;
		} else {
			*line += *text == '\n';
			text++;
		}
	}
	return NULL;
}

struct recovery {
	struct source_map *map;
	GPtrArray *problems;
};

/* Replace integers over 32 bits by INT_MAX, which no setting allows. */
static void
cap_numbers(struct recovery *recovery)
{
	const char *start = recovery->map->text->str, *at = start;
	unsigned line = 1;
	size_t size = 0;

	while ((at = recover_find_overflow(at, &line, &size))) {
		char *number = recovery->map->text->str + (at - start);
		g_autofree char *largest = g_strdup_printf("%d", INT_MAX);

		/* A number that large has at least ten digits, as INT_MAX. */
		memset(number, ' ', size);
		memcpy(number, largest, strlen(largest));
		at += size;
	}
}

/* Quote a line, stripped and shortened, for an error message. */
static char *
quote_line(const struct recovery *recovery, unsigned line)
{
	size_t size;
	const char *at = source_map_find_line(recovery->map, line, &size);
	g_autofree char *text = g_strndup(at, size);

	for (char *p = text; *p; p++)
		if (*p == '\t')
			*p = ' ';
	return text_quote(g_strstrip(text), QUOTE_CHARS);
}

/* Overwrite the setting that begins on a line with blanks. @return false for none */
static bool
blank_setting(struct recovery *recovery, unsigned line)
{
	size_t size;
	char *at = source_map_find_line(recovery->map, line, &size);
	int depth = 0;
	bool is_text = false;

	at += strspn(at, " \t");
	if (!g_ascii_isalpha(*at) && *at != '*')
		return false;
	for (; *at && (depth || is_text || *at != ';'); at++) {
		if (*at == '\n' && !depth && !is_text)
			return true;
		if (is_text && *at == '\\' && at[1] && at[1] != '\n')
			*at++ = ' ';
		else if (*at == '"')
			is_text = !is_text;
		if (!is_text && (*at == '#' || g_str_has_prefix(at, "/*") ||
		                    (*at == '}' && !depth)))
			return false;
		if (!is_text && strchr("{([", *at))
			depth++;
		if (!is_text && strchr("})]", *at))
			depth--;
		if (*at != '\n')
			*at = ' ';
	}
	if (*at == ';')
		*at = ' ';
	return true;
}

/* Report the syntax error at which libconfig stopped. @return whether to retry */
static bool
report_error(struct recovery *recovery, const config_t *config)
{
	unsigned line = (unsigned)config_error_line(config);
	g_autofree char *quoted = quote_line(recovery, line);
	const char *message = config_error_text(config);

	if (message && strstr(message, "duplicate")) {
		source_map_add_problem(recovery->map, recovery->problems, line,
		    "duplicate setting: %s", quoted);
		return blank_setting(recovery, line);
	}
	if (line > recovery->map->origins->len || !*quoted)
		source_map_add_problem(recovery->map, recovery->problems, line,
		    "unexpected end of file (missing '}'?)");
	else
		source_map_add_problem(recovery->map, recovery->problems, line,
		    "syntax error here or in the line before (missing quote, '=' or "
		    "';'?): %s",
		    quoted);
	return false;
}

bool
recover_parse(config_t *config, struct source_map *map, GPtrArray *problems)
{
	struct recovery recovery = {map, problems};

	cap_numbers(&recovery);
	for (int i = 0; i < RECOVERIES_MAX; i++) {
		if (config_read_string(config, map->text->str) == CONFIG_TRUE)
			return true;
		if (!report_error(&recovery, config))
			break;
	}
	return false;
}
