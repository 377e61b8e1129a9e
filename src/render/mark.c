/*
 * mark.c - marks the words that filters matched in the HTML of a paper.
 */
#include "render/mark.h"

#include <stdint.h>
#include <string.h>

#include "base/fnv1a.h"

static const char start_tag[] = "<b>", end_tag[] = "</b>";

struct mark_word {
	int64_t hash;
	uint32_t start, end; /* in the text, bytes */
	uint32_t text;       /* number of the markable text; its words only */
	bool is_title;
};

struct mark_range {
	uint32_t start, end;
};

/* ---- words ---- */

/* As the tokenizer: letters and digits with their accents. */
static bool
is_word_char(gunichar c)
{
	return c < 128 ? g_ascii_isalnum((char)c)
	               : g_unichar_isalnum(c) || g_unichar_ismark(c);
}

/* @param end  of the text @return the end of the word at `at`, or `at` */
static const char *
skip_word(const char *at, const char *end)
{
	while (at < end && is_word_char(g_utf8_get_char(at)))
		at = g_utf8_next_char(at);
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

static void
add_words(GArray *words, const char *html, size_t from, size_t to,
    const struct mark_word *like)
{
	const char *at = html + from, *end = html + to;

	while (at < end) {
		const char *behind = skip_word(at, end);
		struct mark_word word = *like;

		if (behind == at) {
			at = skip_other(at, end, true);
			continue;
		}
		word.hash = fnv1a_hash(at, (size_t)(behind - at));
		word.start = (uint32_t)(at - html);
		word.end = (uint32_t)(behind - html);
		g_array_append_val(words, word);
		at = behind;
	}
}

/* ---- the index ---- */

static bool
is_control(char c)
{
	return c == *MARK_TITLE || c == *MARK_BODY || c == *MARK_END;
}

void
mark_strip(GString *text)
{
	size_t to = 0;

	for (size_t i = 0; i < text->len; i++)
		if (!is_control(text->str[i]))
			text->str[to++] = text->str[i];
	g_string_truncate(text, to);
}

void
mark_index_init(struct mark_index *index, GString *html)
{
	struct mark_word like = {0};
	size_t to = 0, from = 0;

	index->words = g_array_new(FALSE, FALSE, sizeof(struct mark_word));
	for (size_t i = 0; i < html->len; i++) {
		char c = html->str[i];

		if (!is_control(c)) {
			html->str[to++] = c;
			continue;
		}
		if (c == *MARK_END)
			add_words(index->words, html->str, from, to, &like);
		like.text++;
		like.is_title = c == *MARK_TITLE;
		from = to;
	}
	g_string_truncate(html, to);
}

void
mark_index_clear(struct mark_index *index)
{
	g_clear_pointer(&index->words, g_array_unref);
}

size_t
mark_index_get_bytes(const struct mark_index *index)
{
	return index->words->len * sizeof(struct mark_word);
}

/* ---- phrases ---- */

/* Words of a hit, and the signs that follow the last: those of "C++". */
struct mark_phrase {
	unsigned hit;
	unsigned first, count; /* in hashes */
	const char *signs;
	size_t signs_len;
	bool is_title;
	bool is_found;
};

struct mark_list {
	GArray *phrases; /* of struct mark_phrase, of texts only */
	GArray *hashes;  /* of int64_t, one for each word */
	GArray *ranges;  /* of struct mark_range; scratch space */
	unsigned hits;
	uint64_t filter; /* a bit for each first word: most words match none */
};

static uint64_t
get_filter_bit(int64_t hash)
{
	return UINT64_C(1) << (hash & 63);
}

struct mark_list *
mark_list_new(void)
{
	struct mark_list *list = g_new0(struct mark_list, 1);

	list->phrases = g_array_new(FALSE, FALSE, sizeof(struct mark_phrase));
	list->hashes = g_array_new(FALSE, FALSE, sizeof(int64_t));
	list->ranges = g_array_new(FALSE, FALSE, sizeof(struct mark_range));
	return list;
}

void
mark_list_free(struct mark_list *list)
{
	if (!list)
		return;
	g_array_unref(list->phrases);
	g_array_unref(list->hashes);
	g_array_unref(list->ranges);
	g_free(list);
}

static int64_t
get_hash(const struct mark_list *list, unsigned at)
{
	return g_array_index(list->hashes, int64_t, at);
}

static void
add_phrase(struct mark_list *list, const char *text, size_t len, bool is_title)
{
	const char *at = text, *end = text + len;
	struct mark_phrase phrase = {.hit = list->hits,
	    .first = list->hashes->len,
	    .signs = end,
	    .is_title = is_title};

	while (at < end) {
		const char *behind = skip_word(at, end);
		int64_t hash;

		if (behind == at) {
			at = skip_other(at, end, false);
			continue;
		}
		hash = fnv1a_hash(at, (size_t)(behind - at));
		g_array_append_val(list->hashes, hash);
		phrase.signs = at = behind;
	}
	phrase.signs_len = (size_t)(end - phrase.signs);
	phrase.count = list->hashes->len - phrase.first;
	if (phrase.count)
		list->filter |= get_filter_bit(get_hash(list, phrase.first));
	g_array_append_val(list->phrases, phrase);
}

void
mark_list_add(struct mark_list *list, const GPtrArray *hits)
{
	for (unsigned i = 0; i < hits->len; i++, list->hits++) {
		const struct hit *hit = hits->pdata[i];
		const char *at = hit->words;

		if (hit->field > HIT_FIELD_ABSTRACT)
			continue;
		for (;;) {
			size_t len = strcspn(at, HIT_SEPARATOR);

			add_phrase(list, at, len, hit->field == HIT_FIELD_TITLE);
			if (at[len] == '\0')
				break;
			at += len + 1;
		}
	}
}

bool
mark_list_is_shown(const struct mark_list *list, unsigned hit)
{
	bool is_shown = false;

	for (unsigned i = 0; i < list->phrases->len; i++) {
		const struct mark_phrase *phrase =
		    &g_array_index(list->phrases, struct mark_phrase, i);

		if (phrase->hit == hit && !phrase->is_found)
			return false;
		is_shown |= phrase->hit == hit;
	}
	return is_shown;
}

/* ---- marks ---- */

static const struct mark_word *
get_word(const struct mark_index *index, unsigned at)
{
	return &g_array_index(index->words, struct mark_word, at);
}

/* Whether a phrase is at a word; its signs need no escapes in HTML. */
static bool
has_phrase_at(const struct mark_list *list, const struct mark_phrase *phrase,
    const struct mark_index *index, const GString *html, unsigned at)
{
	const struct mark_word *last;

	if (phrase->count == 0 || at + phrase->count > index->words->len ||
	    get_word(index, at)->is_title != phrase->is_title)
		return false;
	for (unsigned i = 0; i < phrase->count; i++)
		if (get_word(index, at + i)->hash != get_hash(list, phrase->first + i))
			return false;
	last = get_word(index, at + phrase->count - 1);
	return last->text == get_word(index, at)->text &&
	       strncmp(html->str + last->end, phrase->signs, phrase->signs_len) == 0;
}

static void
find_phrases(struct mark_list *list, const struct mark_index *index,
    const GString *html, unsigned at)
{
	for (unsigned i = 0; i < list->phrases->len; i++) {
		struct mark_phrase *phrase =
		    &g_array_index(list->phrases, struct mark_phrase, i);
		struct mark_range range;

		if (!has_phrase_at(list, phrase, index, html, at))
			continue;
		range.start = get_word(index, at)->start;
		range.end = get_word(index, at + phrase->count - 1)->end +
		            (uint32_t)phrase->signs_len;
		g_array_append_val(list->ranges, range);
		phrase->is_found = true;
	}
}

/* Insert the tags; ranges, in order of their start, that overlap become one. */
static GString *
insert_tags(const GString *html, const GArray *ranges)
{
	GString *out = g_string_sized_new(
	    html->len + ranges->len * (strlen(start_tag) + strlen(end_tag)) + 1);
	uint32_t at = 0;

	for (unsigned i = 0; i < ranges->len;) {
		struct mark_range range = g_array_index(ranges, struct mark_range, i++);

		for (; i < ranges->len; i++) {
			const struct mark_range *next =
			    &g_array_index(ranges, struct mark_range, i);

			if (next->start > range.end)
				break;
			range.end = MAX(range.end, next->end);
		}
		g_string_append_len(out, html->str + at, range.start - at);
		g_string_append_len(out, start_tag, strlen(start_tag));
		g_string_append_len(
		    out, html->str + range.start, range.end - range.start);
		g_string_append_len(out, end_tag, strlen(end_tag));
		at = range.end;
	}
	g_string_append_len(out, html->str + at, (gssize)(html->len - at));
	return out;
}

GString *
mark_list_apply(
    struct mark_list *list, const struct mark_index *index, const GString *html)
{
	g_array_set_size(list->ranges, 0);
	for (unsigned at = 0; at < index->words->len; at++)
		if (get_filter_bit(get_word(index, at)->hash) & list->filter)
			find_phrases(list, index, html, at);
	return list->ranges->len ? insert_tags(html, list->ranges) : NULL;
}
