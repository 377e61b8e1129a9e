/*
 * recover.c - the text of a configuration through libconfig, whatever form it has.
 */
#include "config/recover.h"

#include <limits.h>
#include <string.h>

#include "base/text.h"
#include "config/overflow.h"

/* Mistakes in the form of a file after which reading goes on, at most. */
#define BLANKS_MOST 100

/* So much of a line is shown with what is wrong in it. */
#define SHOWN_CHARS 50

struct form {
	struct source_map *lines;
	GPtrArray *problems;
};

/*
 * Numbers that libconfig would make others of.  In their place it gets the largest
 * that it knows, which is beyond what any setting may be.
 */
static void
cap_numbers(struct form *form)
{
	const char *start = form->lines->text->str, *at = start;
	unsigned line = 1;
	size_t size = 0;

	while ((at = overflow_find(at, &line, &size))) {
		char *number = form->lines->text->str + (at - start);
		g_autofree char *largest = g_strdup_printf("%d", INT_MAX);

		/* At least ten octets, or it would not be too large. */
		memset(number, ' ', size);
		memcpy(number, largest, strlen(largest));
		at += size;
	}
}

/* A line of the text, as it is shown: without blanks around it, and not too long. */
static char *
show_line(const struct form *form, unsigned line)
{
	size_t size;
	const char *at = source_map_find_line(form->lines, line, &size);
	g_autofree char *text = g_strndup(at, size);

	for (char *p = text; *p; p++)
		if (*p == '\t')
			*p = ' ';
	return text_quote(g_strstrip(text), SHOWN_CHARS);
}

/* The setting that begins on a line is made blanks.  @return false for none */
static bool
blank_setting(struct form *form, unsigned line)
{
	size_t size;
	char *at = source_map_find_line(form->lines, line, &size);
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

/* libconfig stops at the first mistake in the form.  @return whether to go on */
static bool
refuse(struct form *form, const config_t *config)
{
	unsigned line = (unsigned)config_error_line(config);
	g_autofree char *shown = show_line(form, line);
	const char *said = config_error_text(config);

	if (said && strstr(said, "duplicate")) {
		source_map_add_problem(form->lines, form->problems, line,
		    "this is said a second time, keep one of the two: %s", shown);
		return blank_setting(form, line);
	}
	if (line > form->lines->origins->len || !*shown)
		source_map_add_problem(form->lines, form->problems, line,
		    "the text ends too early: is a } missing?");
	else
		source_map_add_problem(form->lines, form->problems, line,
		    "this or the line before is not complete, is a quote, = or ; "
		    "missing? %s",
		    shown);
	return false;
}

bool
recover_parse(config_t *config, struct source_map *lines, GPtrArray *problems)
{
	struct form form = {lines, problems};

	cap_numbers(&form);
	for (int tries = 0; tries < BLANKS_MOST; tries++) {
		if (config_read_string(config, lines->text->str) == CONFIG_TRUE)
			return true;
		if (!refuse(&form, config))
			break;
	}
	return false;
}
