/*
 * acronym.c - finds acronyms that a text defines.
 */
#include "query/text/acronym.h"

#include <string.h>

#include "base/bounds.h"

#define WORDS_MOST (2 * BOUNDS_ACRONYM_CHARS)
#define STEPS_MAX  2000 /* Maximum number of steps of one comparison. */

/* A word of a possible long form; hyphens separate words. */
struct part {
	const char *text;
	size_t len;
	bool may_skip;
};

struct match {
	const char *chars; /* of the short form */
	const struct part *parts;
	unsigned count;
	unsigned steps;
};

/* "s" is what a tokenizer leaves of "Alzheimer's". */
static const char *const small_words[] = {"a", "an", "and", "as", "at", "based", "by",
    "for", "from", "in", "of", "on", "or", "s", "the", "through", "to", "under",
    "using", "via", "with", "without"};

/* Of compounds, whose second part may have a capital: autoencoder. */
static const char *const prefixes[] = {
    "auto", "hyper", "inter", "meta", "multi", "pre", "semi", "super", "trans"};

static void
acronym_free(struct acronym *form)
{
	g_free(form->short_text);
	g_free(form->long_text);
	g_free(form);
}

static bool
is_small(const char *word, size_t len)
{
	for (size_t i = 0; i < G_N_ELEMENTS(small_words); i++)
		if (strlen(small_words[i]) == len &&
		    g_ascii_strncasecmp(word, small_words[i], len) == 0)
			return true;
	return false;
}

static bool
is_in_word(char c)
{
	return g_ascii_isalnum(c) || c == '\'' || (c & 0x80);
}

/* Split the text before `end` into words, in text order, back to the first character
 * that is not in a word, a space, a hyphen or a slash. */
static unsigned
collect_parts(
    const char *text, const char *end, unsigned most, struct part parts[WORDS_MOST])
{
	struct part found[WORDS_MOST];
	unsigned count = 0;
	const char *at = end;

	while (count < most) {
		const char *word_end;

		while (at > text && strchr(" -/", at[-1]))
			at--;
		word_end = at;
		while (at > text && is_in_word(at[-1]))
			at--;
		if (at == word_end)
			break;
		found[count++] = (struct part){
		    .text = at,
		    .len = (size_t)(word_end - at),
		    .may_skip = (at > text && at[-1] == '-') ||
		                is_small(at, (size_t)(word_end - at)),
		};
	}
	for (unsigned i = 0; i < count; i++)
		parts[i] = found[count - 1 - i];
	return count;
}

static bool
is_same_char(char a, char b)
{
	return g_ascii_tolower(a) == g_ascii_tolower(b);
}

/* Whether a part of a compound begins there, or a capital is written. */
static bool
is_inner_start(const struct part *part, size_t at)
{
	for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++)
		if (strlen(prefixes[i]) == at &&
		    g_ascii_strncasecmp(part->text, prefixes[i], at) == 0)
			return true;
	return g_ascii_isupper(part->text[at]);
}

static bool match_words(struct match *match, const char *at, unsigned word);

/* The previous character matched byte `used` of the word; match the rest. */
static bool
match_rest(struct match *match, const char *at, unsigned word, size_t used)
{
	const struct part *part = &match->parts[word];

	if (++match->steps > STEPS_MAX)
		return false;
	if (match_words(match, at, word + 1))
		return true;
	if (!*at)
		return false;
	if (used + 1 < part->len && is_same_char(part->text[used + 1], *at))
		return match_rest(match, at + 1, word, used + 1);
	for (size_t i = used + 2; i < part->len; i++)
		if (is_same_char(part->text[i], *at) &&
		    (g_ascii_islower(*at) || is_inner_start(part, i)))
			return match_rest(match, at + 1, word, i);
	return false;
}

static bool
match_words(struct match *match, const char *at, unsigned word)
{
	const struct part *part = &match->parts[word];

	if (word == match->count)
		return !*at;
	if (++match->steps > STEPS_MAX)
		return false;
	if (*at && is_same_char(part->text[0], *at) &&
	    match_rest(match, at + 1, word, 0))
		return true;
	if (*at == '2' && part->len == 2 &&
	    g_ascii_strncasecmp(part->text, "to", 2) == 0 &&
	    match_words(match, at + 1, word + 1))
		return true;
	/* The last word is the head of the long form. */
	return part->may_skip && word > 0 && word + 1 < match->count &&
	       match_words(match, at, word + 1);
}

static bool
is_match(const char *chars, const struct part *parts, unsigned count)
{
	struct match match = {.chars = chars, .parts = parts, .count = count};

	return count >= 2 && is_same_char(chars[0], parts[0].text[0]) &&
	       (!is_small(parts[0].text, parts[0].len) ||
	           parts[0].text[parts[0].len] == '-') &&
	       match_words(&match, chars, 0);
}

bool
acronym_matches(const char *short_text, const char *phrase)
{
	struct part parts[WORDS_MOST];
	size_t len = strlen(short_text);
	unsigned count;

	if (len < 2 || len > BOUNDS_ACRONYM_CHARS)
		return false;
	count = collect_parts(phrase, phrase + strlen(phrase), WORDS_MOST, parts);
	return count && parts[0].text == phrase && is_match(short_text, parts, count);
}

/* Read a short form, without its hyphens, dots, ampersands and plural s. @return NULL
 * for other text; owned by the caller */
static char *
read_short(const char *text, size_t len)
{
	g_autoptr(GString) chars = g_string_new(NULL);
	unsigned capitals = 0;

	for (size_t i = 0; i < len; i++) {
		if (g_ascii_isalnum(text[i]))
			g_string_append_c(chars, text[i]);
		else if (!strchr("-.&", text[i]) || !text[i])
			return NULL;
		capitals += g_ascii_isupper(text[i]);
	}
	if (chars->len > 2 && chars->str[chars->len - 1] == 's' &&
	    g_ascii_isupper(chars->str[chars->len - 2]))
		g_string_truncate(chars, chars->len - 1);
	if (capitals < 2 || chars->len > BOUNDS_ACRONYM_CHARS)
		return NULL;
	return g_strdup(chars->str);
}

/* As written, without a plural s. */
static char *
dup_singular(const char *text, size_t len)
{
	bool is_plural =
	    len > 2 && text[len - 1] == 's' && g_ascii_isupper(text[len - 2]);

	return g_strndup(text, len - is_plural);
}

static void
add(GPtrArray *forms, const char *word, size_t word_len, const char *start,
    const char *end)
{
	struct acronym *form = g_new0(struct acronym, 1);

	form->short_text = dup_singular(word, word_len);
	form->long_text = g_strndup(start, (size_t)(end - start));
	g_ptr_array_add(forms, form);
}

/* "low-rank adaptation (LoRA)" or "(LoRA; Hu et al.)" */
static void
try_inside(GPtrArray *forms, const char *text, const char *open, const char *close)
{
	size_t len = strcspn(open + 1, ",;)");
	g_autofree char *chars = read_short(open + 1, len);
	struct part parts[WORDS_MOST];
	unsigned count;
	size_t n;

	(void)close;
	if (!chars)
		return;
	n = strlen(chars);
	count = collect_parts(text, open, (unsigned)MIN(n + 5, 2 * n), parts);
	for (unsigned first = count; first-- > 0;) {
		const struct part *last = &parts[count - 1];

		if (!is_match(chars, parts + first, count - first))
			continue;
		/* The long form may begin with the second part of a compound, but not
		 * of its own. */
		if (parts[first].text > text && parts[first].text[-1] == '-')
			continue;
		add(forms, open + 1, len, parts[first].text, last->text + last->len);
		return;
	}
}

/* "LoRA (low-rank adaptation)": the whole parenthesis */
static void
try_before(GPtrArray *forms, const char *text, const char *open, const char *close)
{
	const char *end = open, *start;
	g_autofree char *chars = NULL;
	struct part parts[WORDS_MOST];
	unsigned count;

	while (end > text && end[-1] == ' ')
		end--;
	for (start = end; start > text && (is_in_word(start[-1]) || start[-1] == '-');)
		start--;
	chars = start < end ? read_short(start, (size_t)(end - start)) : NULL;
	if (!chars)
		return;
	count = collect_parts(open + 1, close, WORDS_MOST, parts);
	if (count && parts[0].text == open + 1 && is_match(chars, parts, count))
		add(forms, start, (size_t)(end - start), open + 1, close);
}

GPtrArray *
acronym_find(const char *text)
{
	GPtrArray *forms = g_ptr_array_new_with_free_func((GDestroyNotify)acronym_free);

	for (const char *open = strchr(text, '('); open; open = strchr(open + 1, '(')) {
		const char *close = open + 1 + strcspn(open + 1, "()");
		unsigned before = forms->len;

		if (*close != ')')
			continue;
		try_inside(forms, text, open, close);
		if (forms->len == before)
			try_before(forms, text, open, close);
	}
	return forms;
}
