/*
 * request_match.c - whether a line asks to subscribe or to leave in ordinary words.
 *
 * Lines and phrases are compared without case, accents and punctuation.
 */
#include "service/command/request_match.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "model/phrases.h"

/* Letters and digits, folded, without marks; all else is one blank between words. */
static char *
fold(const char *text)
{
	g_autofree char *lower = g_utf8_casefold(text, -1);
	g_autofree char *whole = g_utf8_normalize(lower, -1, G_NORMALIZE_NFKD);
	GString *out = g_string_new(" ");

	for (const char *at = whole ? whole : ""; *at; at = g_utf8_next_char(at)) {
		gunichar c = g_utf8_get_char(at);

		if (g_unichar_ismark(c))
			continue;
		/* Polish l with stroke has no decomposition. */
		if (c == 0x142)
			c = 'l';
		if (g_unichar_isalnum(c))
			g_string_append_unichar(out, c);
		else if (out->str[out->len - 1] != ' ')
			g_string_append_c(out, ' ');
	}
	if (out->str[out->len - 1] != ' ')
		g_string_append_c(out, ' ');
	return g_string_free(out, FALSE);
}

/*
 * Remove the phrases of a section from a folded line.
 *
 * @return their number
 */
static unsigned
take_out(GString *line, const struct phrases *language, const char *section)
{
	bool is_unspaced = *phrases_get(language, "writing") != NULL;
	const char *const *phrase = phrases_get(language, section);
	unsigned count = 0;

	for (; *phrase; phrase++) {
		g_autofree char *folded = fold(*phrase);
		const char *found;

		if (is_unspaced)
			g_strstrip(folded);
		while ((found = strstr(line->str, folded))) {
			gssize at = found - line->str;

			g_string_erase(line, at, (gssize)strlen(folded));
			g_string_insert_c(line, at, ' ');
			count++;
		}
	}
	return count;
}

static bool
is_blank(const char *text)
{
	return text[strspn(text, " ")] == '\0';
}

static enum request_kind
match_language(const struct phrases *language, const char *folded)
{
	g_autoptr(GString) line = g_string_new(folded);
	bool leaves = take_out(line, language, "leave") > 0;
	bool comes = take_out(line, language, "subscribe") > 0;

	take_out(line, language, "fillers");
	if (!is_blank(line->str))
		return leaves ? REQUEST_LEAVE_UNCLEAR : REQUEST_NONE;
	if (leaves)
		return REQUEST_UNSUBSCRIBE;
	return comes ? REQUEST_SUBSCRIBE : REQUEST_FILLER;
}

enum request_kind
request_match(const char *line)
{
	const struct phrases *const *all = phrases_get_all();
	g_autofree char *folded = fold(line);
	enum request_kind best = REQUEST_NONE;

	if (is_blank(folded))
		return REQUEST_FILLER;
	for (; *all; all++)
		best = MAX(best, match_language(*all, folded));
	return best;
}

bool
request_is_closing(const char *line)
{
	const struct phrases *const *all = phrases_get_all();
	g_autofree char *folded = fold(line);
	g_autoptr(GString) rest = g_string_new(folded);
	unsigned count = 0;

	for (; *all; all++)
		count += take_out(rest, *all, "closings");
	return count > 0 && request_match(line) == REQUEST_FILLER;
}

const char *
request_guess_language(const char *text)
{
	const struct phrases *const *all = phrases_get_all();
	g_autofree char *folded = fold(text);
	const char *found = NULL;
	unsigned most = 0;

	for (; *all; all++) {
		const struct phrases *language = *all;
		g_autoptr(GString) line = g_string_new(folded);
		unsigned count = take_out(line, language, "leave") +
		                 take_out(line, language, "subscribe") +
		                 take_out(line, language, "fillers");

		if (count == most)
			found = NULL;
		if (count <= most)
			continue;
		most = count;
		found = phrases_get_language(language);
	}
	return found;
}
