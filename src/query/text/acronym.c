/*
 * acronym.c - what a text says its short forms stand for.
 */
#include "query/text/acronym.h"

#include <stdbool.h>
#include <string.h>

#include "base/bounds.h"

#define WORDS_MOST (2 * BOUNDS_ACRONYM_CHARS)
#define STEPS_MOST 2000 /* of one comparison: no text makes it slow */

/* A word of what may be a long form; hyphens part words. */
struct part {
	const char *text;
	size_t len;
	bool may_skip;
};

struct match {
	const char *messages; /* of the short form */
	const struct part *parts;
	unsigned count;
	unsigned steps;
};

static const char *const small_words[] = {"a", "an", "and", "as", "at", "based", "by",
    "for", "from", "in", "of", "on", "or", "the", "through", "to", "under", "using",
    "via", "with", "without"};

void
acronym_free(struct acronym *form)
{
	if (!form)
		return;
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

/*
 * Cut what stands before `end` into words, the last one last: as far back as there
 * are only words, blanks, hyphens and slashes.
 */
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

static bool match_words(struct match *match, const char *mail, unsigned word);

/* The letter before stands for the octet at `used` of a word: where does the next? */
static bool
match_rest(struct match *match, const char *mail, unsigned word, size_t used)
{
	const struct part *part = &match->parts[word];

	if (++match->steps > STEPS_MOST)
		return false;
	if (match_words(match, mail, word + 1))
		return true;
	if (!*mail)
		return false;
	if (used + 1 < part->len && is_same_char(part->text[used + 1], *mail))
		return match_rest(match, mail + 1, word, used + 1);
	for (size_t i = used + 2; g_ascii_islower(*mail) && i < part->len; i++)
		if (is_same_char(part->text[i], *mail))
			return match_rest(match, mail + 1, word, i);
	return false;
}

static bool
match_words(struct match *match, const char *mail, unsigned word)
{
	const struct part *part = &match->parts[word];

	if (word == match->count)
		return !*mail;
	if (++match->steps > STEPS_MOST)
		return false;
	if (*mail && is_same_char(part->text[0], *mail) &&
	    match_rest(match, mail + 1, word, 0))
		return true;
	if (*mail == '2' && part->len == 2 &&
	    g_ascii_strncasecmp(part->text, "to", 2) == 0 &&
	    match_words(match, mail + 1, word + 1))
		return true;
	/* The last word is what the short form is about. */
	return part->may_skip && word > 0 && word + 1 < match->count &&
	       match_words(match, mail, word + 1);
}

static bool
is_match(const char *messages, const struct part *parts, unsigned count)
{
	struct match match = {.messages = messages, .parts = parts, .count = count};

	return count >= 2 && is_same_char(messages[0], parts[0].text[0]) &&
	       !is_small(parts[0].text, parts[0].len) &&
	       match_words(&match, messages, 0);
}

/* A short form without its signs and its plural s; NULL when it is none. */
static char *
read_short(const char *text, size_t len)
{
	g_autoptr(GString) messages = g_string_new(NULL);
	unsigned capitals = 0;

	for (size_t i = 0; i < len; i++) {
		if (g_ascii_isalnum(text[i]))
			g_string_append_c(messages, text[i]);
		else if (!strchr("-.&", text[i]) || !text[i])
			return NULL;
		capitals += g_ascii_isupper(text[i]);
	}
	if (messages->len > 2 && messages->str[messages->len - 1] == 's' &&
	    g_ascii_isupper(messages->str[messages->len - 2]))
		g_string_truncate(messages, messages->len - 1);
	if (capitals < 2 || messages->len > BOUNDS_ACRONYM_CHARS)
		return NULL;
	return g_strdup(messages->str);
}

/* As written, without the s of a plural. */
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
	g_autofree char *messages = read_short(open + 1, len);
	struct part parts[WORDS_MOST];
	unsigned count;
	size_t n;

	(void)close;
	if (!messages)
		return;
	n = strlen(messages);
	count = collect_parts(text, open, (unsigned)MIN(n + 5, 2 * n), parts);
	for (unsigned first = count; first-- > 0;) {
		const struct part *last = &parts[count - 1];

		if (!is_match(messages, parts + first, count - first))
			continue;
		/* It may begin with the second half of a word: not with its own. */
		if (parts[first].text > text && parts[first].text[-1] == '-')
			continue;
		add(forms, open + 1, len, parts[first].text, last->text + last->len);
		return;
	}
}

/* "LoRA (low-rank adaptation)": all that is inside */
static void
try_before(GPtrArray *forms, const char *text, const char *open, const char *close)
{
	const char *end = open, *start;
	g_autofree char *messages = NULL;
	struct part parts[WORDS_MOST];
	unsigned count;

	while (end > text && end[-1] == ' ')
		end--;
	for (start = end; start > text && (is_in_word(start[-1]) || start[-1] == '-');)
		start--;
	messages = start < end ? read_short(start, (size_t)(end - start)) : NULL;
	if (!messages)
		return;
	count = collect_parts(open + 1, close, WORDS_MOST, parts);
	if (count && parts[0].text == open + 1 && is_match(messages, parts, count))
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
