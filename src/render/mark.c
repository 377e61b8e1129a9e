/*
 * mark.c - marks the words of a text that filters matched.
 */
#include "render/mark.h"

#include <stdbool.h>
#include <string.h>

#include "base/bigram.h"
#include "model/digest.h"

/* A word, or a marked part, of a text. */
struct range {
	const char *start, *end;
};

/* As the tokenizer: letters and digits with their accents. */
static bool
is_word_char(gunichar c)
{
	return !bigram_is_char(c) && (g_unichar_isalnum(c) || g_unichar_ismark(c));
}

/* A character of a script without spaces is a word, since any part of a run is found.
 * @return the end of the word at `at`, or `at` */
static const char *
skip_word(const char *at, const char *end)
{
	if (bigram_is_at(at, end - at))
		return g_utf8_next_char(at);
	while (at < end)
		if (g_ascii_isalnum(*at))
			at++;
		else if (*at & 0x80 && is_word_char(g_utf8_get_char(at)))
			at = g_utf8_next_char(at);
		else
			break;
	return at;
}

/* @return the end of the URL whose scheme ends at `at`, or `at` */
static const char *
skip_url(const char *at, const char *end)
{
	if (end - at < 3 || strncmp(at, "://", 3) != 0)
		return at;
	while (at < end && *at != ' ')
		at++;
	return at;
}

/* Skip a character that is not in a word; in HTML a whole `&amp;`. */
static const char *
skip_other(const char *at, const char *end, bool is_html)
{
	const char *close =
	    is_html && *at == '&' ? memchr(at, ';', (size_t)(end - at)) : NULL;

	return close ? close + 1 : g_utf8_next_char(at);
}

/* @param words  gets struct range */
static void
list_words(const char *text, size_t size, bool is_html, GArray *words)
{
	const char *at = text, *end = text + size;

	g_array_set_size(words, 0);
	while (at < end) {
		struct range word = {at, skip_word(at, end)};

		at = skip_url(word.end, end);
		if (word.end == word.start)
			at = skip_other(word.start, end, is_html);
		else if (at == word.end)
			g_array_append_val(words, word);
	}
}

static bool
are_equal(const GArray *words, unsigned at, const GArray *phrase)
{
	if (phrase->len == 0 || at + phrase->len > words->len)
		return false;
	for (unsigned i = 0; i < phrase->len; i++) {
		const struct range *one = &g_array_index(words, struct range, at + i);
		const struct range *other = &g_array_index(phrase, struct range, i);
		size_t size = (size_t)(one->end - one->start);

		if (size != (size_t)(other->end - other->start) ||
		    memcmp(one->start, other->start, size) != 0)
			return false;
	}
	return true;
}

/*
 * Find a phrase; signs after its last word, as in "C++", belong to it.
 *
 * @param words   of the text
 * @param phrase  scratch space
 * @param ranges  gets the places
 */
static void
find_phrase(
    const GArray *words, const char *text, size_t size, GArray *phrase, GArray *ranges)
{
	const struct range *last;
	size_t signs;

	list_words(text, size, false, phrase);
	if (phrase->len == 0)
		return;
	last = &g_array_index(phrase, struct range, phrase->len - 1);
	signs = (size_t)(text + size - last->end);
	for (unsigned i = 0; i < words->len; i++) {
		struct range range;

		if (!are_equal(words, i, phrase))
			continue;
		range.start = g_array_index(words, struct range, i).start;
		range.end = g_array_index(words, struct range, i + phrase->len - 1).end;
		if (strncmp(range.end, last->end, signs) != 0)
			continue;
		range.end += signs;
		g_array_append_val(ranges, range);
	}
}

static void
find_hit(const GArray *words, const struct hit *hit, GArray *ranges)
{
	g_autoptr(GArray) phrase = g_array_new(FALSE, FALSE, sizeof(struct range));
	const char *at = hit->words;

	for (;;) {
		size_t size = strcspn(at, HIT_SEPARATOR);

		find_phrase(words, at, size, phrase, ranges);
		if (at[size] == '\0')
			return;
		at += size + 1;
	}
}

static int
compare_ranges(const void *a, const void *b)
{
	const struct range *one = a, *other = b;

	return (one->start > other->start) - (one->start < other->start);
}

/* Ranges that overlap or touch become one mark. */
static void
append_ranges(GString *out, const char *html, const char *end, GArray *ranges)
{
	g_array_sort(ranges, compare_ranges);
	for (unsigned i = 0; i < ranges->len;) {
		struct range range = g_array_index(ranges, struct range, i);

		while (++i < ranges->len) {
			const struct range *next =
			    &g_array_index(ranges, struct range, i);

			if (next->start > range.end)
				break;
			range.end = MAX(range.end, next->end);
		}
		g_string_append_len(out, html, range.start - html);
		g_string_append(out, "<mark>");
		g_string_append_len(out, range.start, range.end - range.start);
		g_string_append(out, "</mark>");
		html = range.end;
	}
	g_string_append_len(out, html, end - html);
}

void
mark_append(GString *out, const char *html, size_t size, const GPtrArray *reasons,
    enum hit_field field)
{
	g_autoptr(GArray) words = g_array_new(FALSE, FALSE, sizeof(struct range));
	g_autoptr(GArray) ranges = g_array_new(FALSE, FALSE, sizeof(struct range));

	for (unsigned i = 0; i < reasons->len; i++) {
		const GPtrArray *hits =
		    ((const struct digest_reason *)reasons->pdata[i])->hits;

		for (unsigned j = 0; j < hits->len; j++) {
			const struct hit *hit = hits->pdata[j];

			if (hit->field != field)
				continue;
			if (!words->len)
				list_words(html, size, true, words);
			find_hit(words, hit, ranges);
		}
	}
	append_ranges(out, html, html + size, ranges);
}
