/*
 * sentence.c - the sentences of an abstract, the most informative one, and the first
 * ones.
 */
#include "render/sentence.h"

#include <stdbool.h>
#include <string.h>

#include "message/sanitize.h"

/* Chinese and Japanese full stops need no blank after them. */
static const char *const wide_stops[] = {"\u3002", "\uff01", "\uff1f"};

/* Whether a byte may start the end of a sentence: ASCII, or the first byte of one of
 * wide_stops.  A fast check, since most bytes do not. */
static bool
is_stop_byte(char c)
{
	return c == '.' || c == '!' || c == '?' || c == '\xe3' || c == '\xef';
}

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

/*
 * Check for the end of a sentence.  A full stop after a single letter or a common
 * abbreviation does not end one, nor does one before a lower-case letter.
 *
 * @param text  one line
 * @param at    a character of it
 * @return the text after the sentence that ends there; NULL if none does
 */
static const char *
find_end(const char *text, const char *at)
{
	if (!is_stop_byte(*at))
		return NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(wide_stops); i++)
		if (g_str_has_prefix(at, wide_stops[i]))
			return at + strlen(wide_stops[i]);
	if (!strchr(".!?", *at) || at[1] != ' ' ||
	    g_unichar_islower(g_utf8_get_char(at + 2)) ||
	    (*at == '.' && is_short_form(text, at)))
		return NULL;
	return at + 1;
}

/* ---- the key sentence ---- */

/*
 * Patterns of a key sentence and their weights; each counts once.  An idea is "we
 * propose", a result says what was shown or a number; sentences about what is known or
 * missing, and about where the code is, are neither.
 */
static const struct {
	const char *pattern; /* without regard to case */
	int weight;
} cues[] = {
    {"\\b(we|our|this (paper|work|article|study)|the "
     "(paper|work|article|study)|^here)\\b",
        1},
    {"\\b(we|our|paper|work|article|study|here)\\b.*\\b(propos|present|introduc|develop"
     "|devis|design|formulat|describ)",
        2},
    {"\\b(results?|experiments?|show[sn]?|find(s|ings)?|superior|better than)\\b"
     "|\\b(demonstrat|reveal|outperform|surpass|exceed|improv|achiev|state-of-the-art)",
        4},
    {"\\d( ?\\\\?%|(x| times| points?)\\b)", 4},
    {"\\b(recent|existing|prior|previous|traditional|conventional|typically|usually"
     "|often|current(ly)?\\b)",
        -3},
    {"\\b(however|but|although|despite|while|lack|suffer|fail|limit|challeng|problem"
     "|remains?|requires?|unclear|not|cannot|without)",
        -3},
    {"\\b(also|further|additional|moreover|since|because|due to|such as|for "
     "example)\\b",
        -3},
    {"github|https?:|\\b(code|data|models?)\\b.* available|\\bopen-?source|\\brelease",
        -4},
};
/* Weight of the first sentence, which mostly introduces the subject; it is added to the
 * weights of its cues, as the next two. */
#define FIRST_WEIGHT -4

/* Weight of each sentence in the first quarter, including the first one. */
#define EARLY_WEIGHT -4

/* Weight of the last sentence. */
#define LAST_WEIGHT 2

static gpointer
compile_cues(gpointer nothing)
{
	static GRegex *regexes[G_N_ELEMENTS(cues)];

	(void)nothing;
	for (size_t i = 0; i < G_N_ELEMENTS(cues); i++)
		regexes[i] = g_regex_new(
		    cues[i].pattern, G_REGEX_CASELESS | G_REGEX_OPTIMIZE, 0, NULL);
	return regexes;
}

struct sentence {
	const char *begin, *end;
};

static int
score(const struct sentence *sentence, size_t number, size_t count)
{
	static GOnce once = G_ONCE_INIT;
	GRegex *const *regexes = g_once(&once, compile_cues, NULL);
	g_autofree char *text =
	    g_strndup(sentence->begin, (size_t)(sentence->end - sentence->begin));
	int sum = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(cues); i++)
		if (g_regex_match(regexes[i], text, 0, NULL))
			sum += cues[i].weight;
	sum += number == 0 ? FIRST_WEIGHT : 0;
	sum += number * 4 < count ? EARLY_WEIGHT : 0;
	sum += number + 1 == count ? LAST_WEIGHT : 0;
	return sum;
}

/* @return of struct sentence, in the line */
static GArray *
split(const char *line)
{
	GArray *sentences = g_array_new(FALSE, FALSE, sizeof(struct sentence));
	const char *begin = line;

	for (const char *at = line; *at;) {
		const char *end = find_end(line, at);
		struct sentence sentence;

		at = end ? end : g_utf8_next_char(at);
		if (!end && *at)
			continue;
		sentence = (struct sentence){begin, at};
		g_array_append_val(sentences, sentence);
		at += *at == ' ';
		begin = at;
	}
	return sentences;
}

char *
sentence_find_key(const char *abstract)
{
	g_autofree char *line = sanitize_paper_text(abstract, 0);
	g_autoptr(GArray) sentences = split(line);
	g_autofree char *best = NULL;
	struct sentence chosen = {line, line};
	int best_score = G_MININT;

	for (unsigned i = 0; i < sentences->len; i++) {
		const struct sentence *sentence =
		    &g_array_index(sentences, struct sentence, i);
		int sum = score(sentence, i, sentences->len);

		if (sum < best_score)
			continue;
		best_score = sum;
		chosen = *sentence;
	}
	best = g_strndup(chosen.begin, (size_t)(chosen.end - chosen.begin));
	return sanitize_line(best, SENTENCE_CHARS);
}

/* ---- the beginning ---- */

char *
sentence_cut(const char *text)
{
	g_autofree char *line = sanitize_paper_text(text, 0);
	g_autoptr(GArray) sentences = split(line);

	if (sentences->len)
		line[g_array_index(sentences, struct sentence, 0).end - line] = '\0';
	return sanitize_line(line, SENTENCE_CHARS);
}

#define ELLIPSIS "\xe2\x80\xa6"

char *
sentence_format_excerpt(const char *text)
{
	g_autofree char *line = sanitize_paper_text(text, 0);
	g_autoptr(GArray) sentences = split(line);
	const struct sentence *last;
	g_autofree char *head = NULL;

	if (sentences->len <= EXCERPT_SENTENCES)
		return sanitize_line(line, EXCERPT_CHARS);
	last = &g_array_index(sentences, struct sentence, EXCERPT_SENTENCES - 1);
	head = g_strndup(line, (size_t)(last->end - line));
	if (g_utf8_strlen(head, -1) > EXCERPT_CHARS - 2)
		return sanitize_line(head, EXCERPT_CHARS);
	return g_strconcat(head, " " ELLIPSIS, NULL);
}
