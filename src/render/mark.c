/*
 * mark.c - marks the words that filters matched in the HTML of a paper.
 */
#include "render/mark.h"

#include <string.h>

#include "base/bigram.h"

static const char start_tag[] = "<b>", end_tag[] = "</b>";

struct mark_word {
	uint32_t hash;
	uint32_t start; /* in the HTML, bytes */
	uint16_t size;
	uint16_t next;      /* in its bucket, or NO_WORD */
	uint16_t text : 15; /* differs between texts: a phrase is within one of them */
	uint16_t is_title : 1;
};

#define NO_WORD UINT16_MAX

/* The start of a line in both forms of a chunk. */
struct mark_line {
	uint32_t plain, encoded;
};

struct mark_range {
	uint32_t start, end;
};

/* ---- words ---- */

/* Letters and digits; other characters than ASCII are checked by is_word_char(). */
static const bool word_bytes[256] = {
    ['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true};

/* As the tokenizer: letters and digits with their accents. */
static bool
is_word_char(gunichar c)
{
	return !bigram_is_char(c) && (g_unichar_isalnum(c) || g_unichar_ismark(c));
}

/* Hash the first letters and the size of a word: equal hashes are compared. */
static uint32_t
hash_word(const char *word, size_t size)
{
	uint64_t start = 0;

	memcpy(&start, word, MIN(size, sizeof(start)));
	return (uint32_t)(((start ^ size) * 0x9E3779B97F4A7C15) >> 32);
}

/* A character of a script without spaces is a word, since any part of a run is found.
 * @param hash  set @return the end of the word at `at`, or `at` */
static const char *
read_word(const char *at, const char *end, uint32_t *hash)
{
	const char *word = at;

	if (bigram_is_at(at, end - at))
		end = at = g_utf8_next_char(at);
	while (at < end)
		if (word_bytes[(unsigned char)*at])
			at++;
		else if (*at & 0x80 && is_word_char(g_utf8_get_char(at)))
			at = g_utf8_next_char(at);
		else
			break;
	*hash = hash_word(word, (size_t)(at - word));
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
	if (end - at < 3 || *at != ':' || strncmp(at, "://", 3) != 0)
		return at;
	while (at < end && !g_ascii_isspace(*at))
		at++;
	return at;
}

/* Words beyond the last number that fits are not marked. */
static void
add_words(struct mark_index *index, size_t from, size_t to, struct mark_word word)
{
	const char *at = index->html + from, *end = index->html + to;

	while (at < end && index->word_count < NO_WORD) {
		const char *behind = read_word(at, end, &word.hash);
		const char *url_end = skip_url(behind, end);

		if (behind == at || url_end > behind) {
			at = behind == at ? skip_other(at, end, true) : url_end;
			continue;
		}
		word.start = (uint32_t)(at - index->html);
		word.size = (uint16_t)MIN(behind - at, UINT16_MAX);
		index->words[index->word_count++] = word;
		at = behind;
	}
}

/* ---- the index ---- */

static const char controls[] = MARK_TITLE MARK_BODY MARK_END;

void
mark_strip(GString *text)
{
	size_t to = 0;

	for (size_t at = 0; at < text->len; at++) {
		size_t size = strcspn(text->str + at, controls);

		memmove(text->str + to, text->str + at, size);
		to += size;
		at += size;
	}
	g_string_truncate(text, to);
}

static unsigned
get_bucket(uint32_t hash)
{
	return hash % MARK_BUCKETS;
}

/* From the last: each bucket lists its words in their order. */
static void
fill_buckets(struct mark_index *index)
{
	memset(index->buckets, 0xff, sizeof(index->buckets));
	for (unsigned at = index->word_count; at-- > 0;) {
		struct mark_word *word = &index->words[at];
		uint16_t *bucket = &index->buckets[get_bucket(word->hash)];

		word->next = *bucket;
		*bucket = (uint16_t)at;
	}
}

/* Remove the control characters, and list the words between them. */
static void
index_words(struct mark_index *index, GString *html)
{
	struct mark_word like = {0};
	size_t to = 0;

	index->html = html->str;
	/* Between two words is a character. */
	index->words = g_new(struct mark_word, html->len / 2 + 1);
	for (size_t at = 0; at < html->len; at++) {
		size_t size = strcspn(html->str + at, controls);

		memmove(html->str + to, html->str + at, size);
		at += size;
		if (html->str[at] == *MARK_END)
			add_words(index, to, to + size, like);
		to += size;
		like.text++;
		like.is_title = html->str[at] == *MARK_TITLE;
	}
	g_string_truncate(html, to);
	index->words = g_renew(struct mark_word, index->words, index->word_count);
	fill_buckets(index);
}

static void
index_lines(struct mark_index *index, const struct chunk *chunk, size_t size)
{
	size_t at = 0, encoded = 0;
	unsigned count = 1;

	for (const char *line = index->html; (line = strchr(line, '\n')); line++)
		count++;
	index->lines = g_new(struct mark_line, count);
	index->line_count = 0;
	while (at < size) {
		index->lines[index->line_count++] =
		    (struct mark_line){(uint32_t)at, (uint32_t)encoded};
		at = (size_t)(strchr(index->html + at, '\n') + 1 - index->html);
		encoded = chunk_find_next_line(chunk, encoded);
	}
	index->lines[index->line_count] =
	    (struct mark_line){(uint32_t)at, (uint32_t)encoded};
}

void
mark_index_init(struct mark_index *index, struct chunk *chunk, GString *html)
{
	size_t size;

	index->word_count = 0;
	index_words(index, html);
	chunk_init(chunk, html);
	size = html->len;
	index->html = g_realloc(g_string_free(html, FALSE), size + 1);
	index_lines(index, chunk, size);
}

void
mark_index_clear(struct mark_index *index)
{
	g_clear_pointer(&index->html, g_free);
	g_clear_pointer(&index->words, g_free);
	g_clear_pointer(&index->lines, g_free);
}

#define CPU_LINE_BYTES 64

static void
prefetch(const void *data, size_t size)
{
	for (size_t i = 0; i < size; i += CPU_LINE_BYTES)
		__builtin_prefetch((const char *)data + i);
}

void
mark_index_prefetch(const struct mark_index *index)
{
	prefetch(index->buckets, sizeof(index->buckets));
	prefetch(index->words, index->word_count * sizeof(struct mark_word));
	prefetch(index->lines, index->line_count * sizeof(struct mark_line));
}

size_t
mark_index_get_bytes(const struct mark_index *index)
{
	return index->lines[index->line_count].plain + 1 +
	       index->word_count * sizeof(struct mark_word) +
	       (index->line_count + 1) * sizeof(struct mark_line);
}

/* ---- phrases ---- */

struct hit_word {
	const char *text;
	size_t size;
	uint32_t hash;
};

/* Words of a hit, and the signs that follow the last: those of "C++". */
struct mark_phrase {
	unsigned hit;
	unsigned first, count; /* in words */
	const char *signs;
	size_t signs_len;
	bool is_title;
	bool is_found;
};

struct mark_list {
	GArray *phrases; /* of struct mark_phrase, of texts only */
	GArray *words;   /* of struct hit_word */
	GArray *ranges;  /* of struct mark_range; scratch space, as all below */
	GArray *pieces;  /* of struct mark_piece */
	GString *html;   /* lines with marks */
	GString *text;   /* the same encoded */
	unsigned hits;
};

struct mark_list *
mark_list_new(void)
{
	struct mark_list *list = g_new0(struct mark_list, 1);

	list->phrases = g_array_new(FALSE, FALSE, sizeof(struct mark_phrase));
	list->words = g_array_new(FALSE, FALSE, sizeof(struct hit_word));
	list->ranges = g_array_new(FALSE, FALSE, sizeof(struct mark_range));
	list->pieces = g_array_new(FALSE, FALSE, sizeof(struct mark_piece));
	list->html = g_string_new(NULL);
	list->text = g_string_new(NULL);
	return list;
}

void
mark_list_clear(struct mark_list *list)
{
	g_array_set_size(list->phrases, 0);
	g_array_set_size(list->words, 0);
	list->hits = 0;
}

void
mark_list_free(struct mark_list *list)
{
	if (!list)
		return;
	g_array_unref(list->phrases);
	g_array_unref(list->words);
	g_array_unref(list->ranges);
	g_array_unref(list->pieces);
	g_string_free(list->html, TRUE);
	g_string_free(list->text, TRUE);
	g_free(list);
}

static void
add_phrase(struct mark_list *list, const char *text, size_t len, bool is_title)
{
	const char *at = text, *end = text + len;
	struct mark_phrase phrase = {.hit = list->hits,
	    .first = list->words->len,
	    .signs = end,
	    .is_title = is_title};

	while (at < end) {
		struct hit_word word = {.text = at};
		const char *behind = read_word(at, end, &word.hash);

		if (behind == at) {
			at = skip_other(at, end, false);
			continue;
		}
		word.size = (size_t)(behind - at);
		g_array_append_val(list->words, word);
		phrase.signs = at = behind;
	}
	phrase.signs_len = (size_t)(end - phrase.signs);
	phrase.count = list->words->len - phrase.first;
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

static bool
is_equal(const struct mark_index *index, const struct mark_word *word,
    const struct hit_word *other)
{
	return word->hash == other->hash && word->size == other->size &&
	       memcmp(index->html + word->start, other->text, word->size) == 0;
}

/* Whether a phrase is at a word; its signs need no escapes in HTML. */
static bool
has_phrase_at(const struct mark_list *list, const struct mark_phrase *phrase,
    const struct mark_index *index, unsigned at)
{
	const struct mark_word *first = &index->words[at],
	                       *last = first + phrase->count - 1;

	if (at + phrase->count > index->word_count ||
	    first->is_title != phrase->is_title)
		return false;
	for (unsigned i = 0; i < phrase->count; i++)
		if (!is_equal(index, first + i,
		        &g_array_index(
		            list->words, struct hit_word, phrase->first + i)))
			return false;
	return last->text == first->text &&
	       strncmp(index->html + last->start + last->size, phrase->signs,
	           phrase->signs_len) == 0;
}

static void
find_phrase(
    struct mark_list *list, struct mark_phrase *phrase, const struct mark_index *index)
{
	unsigned at = NO_WORD;

	if (phrase->count)
		at = index->buckets[get_bucket(
		    g_array_index(list->words, struct hit_word, phrase->first).hash)];
	for (; at != NO_WORD; at = index->words[at].next) {
		const struct mark_word *last;
		struct mark_range range;

		if (!has_phrase_at(list, phrase, index, at))
			continue;
		last = &index->words[at + phrase->count - 1];
		range.start = index->words[at].start;
		range.end = last->start + last->size + (uint32_t)phrase->signs_len;
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
	unsigned last = 0, sorted = 1;

	if (ranges->len < 2)
		return;
	while (sorted < ranges->len && range[sorted - 1].start <= range[sorted].start)
		sorted++;
	if (sorted < ranges->len)
		g_array_sort(ranges, compare_ranges);
	for (unsigned i = 1; i < ranges->len; i++)
		if (range[i].start <= range[last].end)
			range[last].end = MAX(range[last].end, range[i].end);
		else
			range[++last] = range[i];
	g_array_set_size(ranges, last + 1);
}

/* @param line  where to begin @return the line of a byte */
static unsigned
find_line(const struct mark_index *index, unsigned line, uint32_t byte)
{
	while (index->lines[line + 1].plain <= byte)
		line++;
	return line;
}

/*
 * Copy lines with tags to list->html: from the first that a range is on to the last,
 * and further ranges on that.
 *
 * @param next  index of the range; set to that of the first on a later line
 * @return the line after them
 */
static unsigned
copy_marked(struct mark_list *list, const struct mark_index *index, unsigned *next,
    unsigned line)
{
	const struct mark_range *ranges =
	    (const struct mark_range *)(const void *)list->ranges->data;
	uint32_t at = index->lines[line].plain, end;
	GString *html = g_string_truncate(list->html, 0);

	do {
		const struct mark_range *range = &ranges[(*next)++];

		g_string_append_len(html, index->html + at, range->start - at);
		g_string_append(html, start_tag);
		g_string_append_len(
		    html, index->html + range->start, range->end - range->start);
		g_string_append(html, end_tag);
		at = range->end;
		line = find_line(index, line, at - 1);
		end = index->lines[line + 1].plain;
	} while (*next < list->ranges->len && ranges[*next].start < end);
	g_string_append_len(html, index->html + at, end - at);
	return line + 1;
}

/* List the pieces of a chunk; only lines with tags are encoded again. */
static void
make_pieces(struct mark_list *list, const struct mark_index *index)
{
	const struct mark_line *lines = index->lines;
	unsigned line = 0, next = 0;
	struct mark_piece *piece;

	g_array_set_size(list->pieces, 2 * list->ranges->len + 1);
	g_string_truncate(list->text, 0);
	piece = (struct mark_piece *)(void *)list->pieces->data;
	while (next < list->ranges->len) {
		unsigned first = find_line(index, line,
		    g_array_index(list->ranges, struct mark_range, next).start);
		size_t before = list->text->len;

		if (first > line)
			*piece++ = (struct mark_piece){
			    lines[line].encoded, lines[first].encoded, 0};
		line = copy_marked(list, index, &next, first);
		encoding_append_quoted_printable(
		    list->text, list->html->str, list->html->len);
		*piece++ = (struct mark_piece){lines[first].encoded,
		    lines[line].encoded, list->text->len - before};
	}
	if (line < index->line_count)
		*piece++ = (struct mark_piece){
		    lines[line].encoded, lines[index->line_count].encoded, 0};
	g_array_set_size(list->pieces,
	    (unsigned)(piece - (struct mark_piece *)(void *)list->pieces->data));
}

void
mark_list_apply(struct mark_list *list, const struct mark_index *index,
    const struct chunk *chunk, struct marked *marked)
{
	g_array_set_size(list->ranges, 0);
	for (unsigned i = 0; i < list->phrases->len; i++)
		find_phrase(
		    list, &g_array_index(list->phrases, struct mark_phrase, i), index);
	merge_ranges(list->ranges);
	make_pieces(list, index);
	*marked = (struct marked){
	    .pieces = (const struct mark_piece *)(const void *)list->pieces->data,
	    .count = list->pieces->len,
	    .text = list->text,
	    .stats = chunk->stats,
	};
	marked->stats.plain_bytes +=
	    list->ranges->len * (strlen(start_tag) + strlen(end_tag));
	for (unsigned i = 0; i < marked->count; i++)
		if (marked->pieces[i].marked_bytes)
			marked->stats.encoded_bytes += marked->pieces[i].marked_bytes -
			                               marked->pieces[i].end +
			                               marked->pieces[i].start;
}
