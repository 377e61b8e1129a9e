/*
 * mark.c - marks the words that filters matched in the HTML of a paper.
 */
#include "render/mark.h"

#include <stdint.h>
#include <string.h>

#include "base/fnv1a.h"

static const char start_tag[] = "<b>", end_tag[] = "</b>";

/* Words with the same hash are taken for equal: one in 2^63 would be marked wrongly. */
struct mark_word {
	int64_t hash;
	uint32_t start, end; /* in the text, bytes */
	uint32_t next;       /* in its bucket, or NO_WORD */
	uint16_t text;       /* number of the markable text; its words only */
	bool is_title;
};

#define NO_WORD UINT32_MAX

/* The start of a line in both forms of a chunk. */
struct mark_line {
	uint32_t plain, encoded;
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

/* A mark would split what mail programs make a link of. */
static const char *
skip_url(const char *at, const char *end)
{
	if (end - at < 3 || strncmp(at, "://", 3) != 0)
		return at;
	while (at < end && !g_ascii_isspace(*at))
		at++;
	return at;
}

static void
add_words(GArray *words, const char *html, size_t from, size_t to,
    const struct mark_word *like)
{
	const char *at = html + from, *end = html + to;

	while (at < end) {
		const char *behind = skip_word(at, end);
		const char *url_end = skip_url(behind, end);
		struct mark_word word = *like;

		if (behind == at || url_end > behind) {
			at = behind == at ? skip_other(at, end, true) : url_end;
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

static const struct mark_word *
get_word(const struct mark_index *index, unsigned at)
{
	return &g_array_index(index->words, struct mark_word, at);
}

static unsigned
get_bucket(int64_t hash)
{
	return (uint64_t)hash % MARK_BUCKETS;
}

/* From the last: each bucket lists its words in their order. */
static void
fill_buckets(struct mark_index *index)
{
	memset(index->buckets, 0xff, sizeof(index->buckets));
	for (unsigned at = index->words->len; at-- > 0;) {
		struct mark_word *word =
		    &g_array_index(index->words, struct mark_word, at);
		uint32_t *bucket = &index->buckets[get_bucket(word->hash)];

		word->next = *bucket;
		*bucket = at;
	}
}

/* Remove the control characters, and list the words between them. */
static void
index_words(struct mark_index *index, GString *html)
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
	fill_buckets(index);
}

/* A line is several in quoted-printable, if it has soft breaks. */
static size_t
skip_encoded_line(const GString *encoded, size_t at)
{
	size_t start;

	do {
		start = at;
		at = (size_t)(strchr(encoded->str + at, '\n') + 1 - encoded->str);
	} while (at - start > 2 && encoded->str[at - 3] == '=');
	return at;
}

static void
add_line(struct mark_index *index, size_t plain, size_t encoded)
{
	const struct mark_line line = {(uint32_t)plain, (uint32_t)encoded};

	g_array_append_val(index->lines, line);
}

static void
index_lines(struct mark_index *index, const struct chunk *chunk)
{
	const GString *plain = chunk->plain;
	size_t at = 0, encoded = 0;

	index->lines = g_array_sized_new(
	    FALSE, FALSE, sizeof(struct mark_line), (unsigned)chunk->lines + 1);
	while (at < plain->len) {
		add_line(index, at, encoded);
		at = (size_t)(strchr(plain->str + at, '\n') + 1 - plain->str);
		encoded = skip_encoded_line(chunk->encoded, encoded);
	}
	add_line(index, at, encoded);
}

void
mark_index_init(struct mark_index *index, struct chunk *chunk, GString *html)
{
	index_words(index, html);
	chunk_init(chunk, html);
	index_lines(index, chunk);
}

void
mark_index_clear(struct mark_index *index)
{
	g_clear_pointer(&index->words, g_array_unref);
	g_clear_pointer(&index->lines, g_array_unref);
}

size_t
mark_index_get_bytes(const struct mark_index *index)
{
	return index->words->len * sizeof(struct mark_word) +
	       index->lines->len * sizeof(struct mark_line);
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
};

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
mark_list_clear(struct mark_list *list)
{
	g_array_set_size(list->phrases, 0);
	g_array_set_size(list->hashes, 0);
	list->hits = 0;
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

/* Whether a phrase is at a word; its signs need no escapes in HTML. */
static bool
has_phrase_at(const struct mark_list *list, const struct mark_phrase *phrase,
    const struct mark_index *index, const GString *html, unsigned at)
{
	const struct mark_word *last;

	if (at + phrase->count > index->words->len ||
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
find_phrase(struct mark_list *list, struct mark_phrase *phrase,
    const struct mark_index *index, const GString *html)
{
	uint32_t at = NO_WORD;

	if (phrase->count)
		at = index->buckets[get_bucket(get_hash(list, phrase->first))];
	for (; at != NO_WORD; at = get_word(index, at)->next) {
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

static int
compare_ranges(const void *a, const void *b)
{
	const struct mark_range *left = a, *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

/* Sort the ranges; those that overlap become one. */
static void
merge_ranges(GArray *ranges)
{
	struct mark_range *range = (struct mark_range *)(void *)ranges->data;
	unsigned last = 0;

	if (ranges->len < 2)
		return;
	g_array_sort(ranges, compare_ranges);
	for (unsigned i = 1; i < ranges->len; i++)
		if (range[i].start <= range[last].end)
			range[last].end = MAX(range[last].end, range[i].end);
		else
			range[++last] = range[i];
	g_array_set_size(ranges, last + 1);
}

static const struct mark_line *
get_line(const struct mark_index *index, unsigned at)
{
	return &g_array_index(index->lines, struct mark_line, at);
}

/* @param line  where to begin @return the line of a byte */
static unsigned
find_line(const struct mark_index *index, unsigned line, uint32_t byte)
{
	while (get_line(index, line + 1)->plain <= byte)
		line++;
	return line;
}

static void
append_range(GString *out, const GString *in, uint32_t start, uint32_t end)
{
	g_string_append_len(out, in->str + start, (gssize)(end - start));
}

/*
 * Append ranges with their tags, from the start of the first line that they are on to
 * the end of the last.
 *
 * @param next  index of the first range; set to that of the first on a later line
 * @return the line after them
 */
static unsigned
append_marked(struct chunk *marked, const struct chunk *chunk,
    const struct mark_index *index, const GArray *ranges, unsigned *next, unsigned line)
{
	uint32_t at = get_line(index, line)->plain, end;

	do {
		const struct mark_range *range =
		    &g_array_index(ranges, struct mark_range, (*next)++);

		append_range(marked->plain, chunk->plain, at, range->start);
		g_string_append_len(marked->plain, start_tag, strlen(start_tag));
		append_range(marked->plain, chunk->plain, range->start, range->end);
		g_string_append_len(marked->plain, end_tag, strlen(end_tag));
		at = range->end;
		line = find_line(index, line, at - 1);
		end = get_line(index, line + 1)->plain;
	} while (*next < ranges->len &&
	         g_array_index(ranges, struct mark_range, *next).start < end);
	append_range(marked->plain, chunk->plain, at, end);
	return line + 1;
}

/* Copy lines that have no marks. */
static void
append_lines(struct chunk *marked, const struct chunk *chunk,
    const struct mark_index *index, unsigned first, unsigned end)
{
	const struct mark_line *from = get_line(index, first),
	                       *to = get_line(index, end);

	append_range(marked->plain, chunk->plain, from->plain, to->plain);
	append_range(marked->encoded, chunk->encoded, from->encoded, to->encoded);
}

/* Copy a chunk with tags; only lines with tags are encoded again. */
static void
init_marked(struct chunk *marked, const struct chunk *chunk,
    const struct mark_index *index, const GArray *ranges)
{
	const size_t tags = ranges->len * (strlen(start_tag) + strlen(end_tag));
	unsigned line = 0, next = 0;

	*marked = *chunk;
	marked->plain = g_string_sized_new(chunk->plain->len + tags);
	marked->encoded = g_string_sized_new(chunk->encoded->len + 2 * tags);
	while (next < ranges->len) {
		unsigned first = find_line(
		    index, line, g_array_index(ranges, struct mark_range, next).start);
		size_t begin;

		append_lines(marked, chunk, index, line, first);
		begin = marked->plain->len;
		line = append_marked(marked, chunk, index, ranges, &next, first);
		encoding_append_quoted_printable(marked->encoded,
		    marked->plain->str + begin, marked->plain->len - begin);
	}
	append_lines(marked, chunk, index, line, index->lines->len - 1);
}

bool
mark_list_apply(struct mark_list *list, const struct mark_index *index,
    const struct chunk *chunk, struct chunk *marked)
{
	g_array_set_size(list->ranges, 0);
	for (unsigned i = 0; i < list->phrases->len; i++)
		find_phrase(list, &g_array_index(list->phrases, struct mark_phrase, i),
		    index, chunk->plain);
	merge_ranges(list->ranges);
	if (list->ranges->len)
		init_marked(marked, chunk, index, list->ranges);
	return list->ranges->len > 0;
}
