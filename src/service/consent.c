/*
 * consent.c - what an answer to a confirmation says: yes, no, or nothing of it.
 */
#include "service/consent.h"

#include <string.h>

#include "mail/command_lines.h"

/* A greeting is skipped, if it is so short. */
#define GREETING_WORDS 4

/* How programs that answer for somebody who is away begin a subject, folded. */
static const char *const automatic[] = {"automatic reply", "auto reply", "auto-reply",
    "autoreply", "auto:", "out of office", "out of the office", "automatische antwort",
    "abwesend", "abwesenheit", "automatisch antwoord", "automatiskt svar",
    "risposta automatica", "r\u00e9ponse automatique", "respuesta autom\u00e1tica",
    "resposta autom\u00e1tica", "\u81ea\u52a8\u7b54\u590d", "\u81ea\u52d5\u5fdc\u7b54",
    NULL};

static const char *const greetings[] = {"hi", "hello", "hey", "dear", "hallo", "guten",
    "liebe", "lieber", "liebes", "sehr", "moin", "servus", NULL};

static const char *const yes[] = {
    "yes", "yep", "ja", "ok", "okay", "confirm", "confirmed", NULL};

static const char *const no[] = {"no", "nope", "nein", "stop", "stopp", "unsubscribe",
    "cancel", "never", "abbrechen", "abmelden", NULL};

/* Said within the first line. */
static const char *const denials[] = {"not me", "not us", "did not", "didn't",
    "didn\u2019t", "wasn't me", "wasn\u2019t me", "do not want", "don't want",
    "don\u2019t want", "nicht ich", "ich nicht", "war ich nicht", "habe nicht",
    "habe das nicht", "will nicht", "m\u00f6chte nicht", "m\u00f6chte das nicht",
    "not subscribe", "not confirm", "unsubscribe", NULL};

static bool
contains_one(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strstr(text, *words))
			return true;
	return false;
}

/* The first word, of letters alone. @return a new string */
static char *
take_first_word(const char *folded)
{
	const char *start = folded, *end;

	while (*start && !g_unichar_isalpha(g_utf8_get_char(start)))
		start = g_utf8_next_char(start);
	for (end = start; g_unichar_isalpha(g_utf8_get_char(end));)
		end = g_utf8_next_char(end);
	return g_strndup(start, (gsize)(end - start));
}

static bool
is_greeting(const char *folded)
{
	g_autofree char *word = take_first_word(folded);
	g_auto(GStrv) words = g_strsplit(folded, " ", -1);

	return g_strv_contains(greetings, word) &&
	       g_strv_length(words) <= GREETING_WORDS;
}

static enum consent
judge_line(const char *folded)
{
	g_autofree char *word = take_first_word(folded);

	if (g_strv_contains(no, word) || contains_one(folded, denials))
		return CONSENT_NO;
	return g_strv_contains(yes, word) ? CONSENT_YES : CONSENT_ANY;
}

static char *
fold(const char *text)
{
	g_autofree char *whole = g_utf8_normalize(text, -1, G_NORMALIZE_NFKC);

	return g_utf8_casefold(whole ? whole : "", -1);
}

static bool
is_confirm_line(const char *folded, const char *token)
{
	g_autofree char *low = g_ascii_strdown(token, -1);
	g_autofree char *wanted = g_strconcat("confirm ", low, NULL);

	return strcmp(folded, wanted) == 0;
}

static enum consent
judge_text(const char *text, const char *token)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	enum consent said = CONSENT_ANY;
	bool is_first = true;

	for (char **line = lines; *line; line++) {
		g_autofree char *folded = fold(g_strstrip(*line));

		if (!*folded || *folded == '>')
			continue;
		if (is_first && !is_greeting(folded)) {
			said = judge_line(folded);
			is_first = false;
		}
		if (said == CONSENT_ANY && is_confirm_line(folded, token))
			return CONSENT_YES;
	}
	return said;
}

enum consent
consent_judge(const struct letter *letter, const char *token)
{
	g_autofree char *subject = fold(command_lines_skip_prefixes(letter->subject));
	enum consent in_subject = judge_line(subject);
	enum consent in_text = judge_text(letter->text ? letter->text : "", token);

	if (contains_one(subject, automatic))
		return CONSENT_AUTOMATIC;
	if (in_text == CONSENT_NO || in_subject == CONSENT_NO)
		return CONSENT_NO;
	return in_text == CONSENT_YES ? in_text : in_subject;
}
