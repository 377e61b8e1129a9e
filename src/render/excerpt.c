/*
 * excerpt.c - the beginning of an abstract.
 */
#include "render/excerpt.h"

#include <stdbool.h>
#include <string.h>

#include "message/sanitize.h"

#define ELLIPSIS "\xe2\x80\xa6"

/* Chinese and Japanese full stops need no blank after them. */
static const char *const wide_stops[] = {"\u3002", "\uff01", "\uff1f"};

static const char *const abbreviations[] = {"al", "approx", "cf", "dr", "e.g", "eq",
    "eqs", "etc", "fig", "figs", "i.e", "no", "prof", "resp", "sec", "st", "vs",
    "w.r.t"};

/* @param stop  the full stop after the word */
static bool
is_short_form(const char *text, const char *stop)
{
	const char *begin = stop;
	size_t size;

	while (begin > text && !strchr(" (", begin[-1]))
		begin--;
	size = (size_t)(stop - begin);
	if (size == 1 && g_ascii_isalpha(*begin))
		return true;
	for (size_t i = 0; i < G_N_ELEMENTS(abbreviations); i++)
		if (size == strlen(abbreviations[i]) &&
		    g_ascii_strncasecmp(begin, abbreviations[i], size) == 0)
			return true;
	return false;
}

/* @return the text after a sentence that ends at `at`; NULL if none does */
static const char *
find_end(const char *text, const char *at)
{
	for (size_t i = 0; i < G_N_ELEMENTS(wide_stops); i++)
		if (g_str_has_prefix(at, wide_stops[i]))
			return at + strlen(wide_stops[i]);
	if (!strchr(".!?", *at) || at[1] != ' ' ||
	    g_unichar_islower(g_utf8_get_char(at + 2)) ||
	    (*at == '.' && is_short_form(text, at)))
		return NULL;
	return at + 1;
}

char *
excerpt_format(const char *text)
{
	g_autofree char *line = sanitize_paper_text(text, 0);
	g_autofree char *head = NULL;
	unsigned sentences = 0;
	const char *end = NULL;

	for (const char *at = line; *at && sentences < EXCERPT_SENTENCES;
	     at = g_utf8_next_char(at)) {
		const char *behind = find_end(line, at);

		if (!behind)
			continue;
		sentences++;
		end = behind;
	}
	if (sentences < EXCERPT_SENTENCES || !*end)
		return sanitize_line(line, EXCERPT_CHARS);
	head = g_strndup(line, (size_t)(end - line));
	if (g_utf8_strlen(head, -1) > EXCERPT_CHARS - 2)
		return sanitize_line(head, EXCERPT_CHARS);
	return g_strconcat(head, " " ELLIPSIS, NULL);
}
