/*
 * fts_scan.c - the papers of a word, from the segments of the full-text index.
 *
 * A segment is a sequence of leaves with terms in order.  After a term is the list of
 * its papers: the number of the first one, differences to the next, and of each the
 * size of its places and these.  A list may go on in the next leaves, where the first
 * number is whole again.  A newer segment replaces what older ones have of a paper.
 */
#include "store/core/fts_scan.h"

#include <string.h>

#include "base/error.h"
#include "store/core/engine.h"
#include "store/core/sql.h"

/* Blocks of `paper_fts_data`: the list of segments, and the leaf 0 of one. */
#define STRUCTURE_ID     10
#define LEAF_ID(segment) ((segment) << 37)

/* Maximum numbers of a segment and of a leaf. */
#define SEGMENT_MAX 0xffff
#define LEAF_MAX    0x7fffffff

#define FORMAT      4
#define LEAF_HEADER 4

/* Bytes before the list of segments; x'ff' after them is of a later format. */
#define STRUCTURE_COOKIE 4

/* A place is a column, shifted by this, and an offset. */
#define COLUMN_SHIFT 32

/* Maximum size of a place: a column and an offset. */
#define PLACE_BYTES (1 + 2 * FTS_NUMBER_BYTES)

/* Terms of words begin with it, those of prefixes do not. */
#define WORD_TERM "0"

/* Bytes, with zeros after them so that no number ends beyond. */
struct block {
	GByteArray *bytes;
	guint size; /* without the zeros */
};

/* A segment, and the paper of its list that is next. */
struct cursor {
	int64_t segment, first, last; /* its number, and those of its leaves */
	int64_t page;                 /* the leaf: */
	struct block leaf;
	guint rows;      /* where a list of leaves before has its first paper; or 0 */
	guint terms;     /* where the offsets of terms are, after the lists */
	guint at;        /* what to read ... */
	guint end;       /* ... of the list */
	uint64_t before; /* 0 or a seq, to be added to; UINT64_MAX: at the end */
	uint64_t seq;    /* of the paper; UINT64_MAX: none is left */
	struct fts_row row;     /* its places */
	struct block collected; /* those from several leaves */
};

/* A scan for a term. */
struct scan {
	struct store *store;
	char *term;
	GArray *cursors;       /* of struct cursor, the newest segment first */
	struct cursor *cursor; /* of the current paper; NULL: none is left */
	uint64_t next;         /* seq of the cursor after it */
};

static bool
fail(GError **error)
{
	return pb_fail(
	    error, PB_ERROR_PERMANENT, "store: the full-text index is damaged");
}

static void
block_append(struct block *block, const void *data, size_t size)
{
	static const uint8_t zeros[FTS_NUMBER_BYTES];

	g_byte_array_set_size(block->bytes, block->size);
	g_byte_array_append(block->bytes, data, (guint)size);
	g_byte_array_append(block->bytes, zeros, sizeof(zeros));
	block->size += (guint)size;
}

static bool
load_block(struct store *store, int64_t id, struct block *block, GError **error)
{
	static const char sql[] = "SELECT block FROM paper_fts_data WHERE id = ?1";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(id));
	enum sql_step step = statement ? sql_step(statement, error) : SQL_STEP_FAILED;
	struct sql_bytes bytes = {0};

	if (step == SQL_STEP_FAILED)
		return false;
	if (step == SQL_STEP_ROW)
		bytes = sql_get_bytes(statement, 0);
	block->size = 0;
	block_append(block, bytes.data, bytes.size);
	return bytes.size > LEAF_HEADER || fail(error);
}

static uint64_t
read_number(const struct block *block, guint *at)
{
	const uint8_t *next = block->bytes->data + *at;
	uint64_t number = fts_read_number(&next);

	*at = MIN((guint)(next - block->bytes->data), block->size);
	return number;
}

/* ---- segments ---- */

static void
cursor_clear(void *data)
{
	struct cursor *cursor = data;

	g_byte_array_unref(cursor->leaf.bytes);
	g_byte_array_unref(cursor->collected.bytes);
}

/* Read a segment. @param index  of its cursor */
static bool
read_segment(struct scan *scan, const struct block *block, guint *at, guint index)
{
	uint64_t segment = read_number(block, at);
	uint64_t first = read_number(block, at);
	bool is_cut = *at == block->size;
	uint64_t last = read_number(block, at);
	struct cursor cursor = {.segment = (int64_t)segment,
	    .first = (int64_t)first,
	    .last = (int64_t)last};

	if (is_cut || segment < 1 || segment > SEGMENT_MAX || first > last ||
	    last > LEAF_MAX)
		return false;
	/* All of a segment that is being merged may have been moved. */
	if (!last)
		return true;
	cursor.leaf.bytes = g_byte_array_new();
	cursor.collected.bytes = g_byte_array_new();
	g_array_insert_val(scan->cursors, index, cursor);
	return true;
}

static bool
read_cursors(struct scan *scan, const struct block *block)
{
	guint at = STRUCTURE_COOKIE;
	uint64_t levels = read_number(block, &at);
	uint64_t left = read_number(block, &at), segments;

	read_number(block, &at);
	for (; levels && at < block->size; levels--) {
		guint newest = scan->cursors->len;

		read_number(block, &at);
		segments = read_number(block, &at);
		for (; segments && left; segments--, left--)
			if (!read_segment(scan, block, &at, newest))
				return false;
		if (segments)
			return false;
	}
	return !levels && !left;
}

static bool
load_cursors(struct scan *scan, GError **error)
{
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	struct block block = {.bytes = bytes};

	if (!load_block(scan->store, STRUCTURE_ID, &block, error))
		return false;
	return read_cursors(scan, &block) || fail(error);
}

/* FTS5 writes what it has in memory to its blocks before a savepoint. */
static bool
flush(struct store *store, GError **error)
{
	static const char sql_begin[] = "SAVEPOINT fts_scan";
	static const char sql_end[] = "RELEASE fts_scan";

	return sql_exec(store, sql_begin, error) && sql_exec(store, sql_end, error);
}

bool
fts_scan_is_possible(struct store *store, bool *is_possible, GError **error)
{
	static const char sql[] =
	    "SELECT EXISTS (SELECT 1 FROM paper_fts_config, paper_fts_data"
	    " WHERE k = 'version' AND v = ?1 AND id = ?2"
	    " AND substr(block, ?3, 1) <> x'ff')";

	*is_possible = false;
	if (!store->engine->is_open(store))
		return true;
	return (store->is_reading || flush(store, error)) &&
	       sql_has(store, sql, is_possible, error, SQL_INT(FORMAT),
	           SQL_INT(STRUCTURE_ID), SQL_INT(STRUCTURE_COOKIE + 1));
}

/* ---- leaves ---- */

/* The start of the next term, after one or 0; where they end if there is none. */
static guint
read_term(const struct cursor *cursor, guint start, guint *index)
{
	uint64_t more = *index < cursor->leaf.size ? read_number(&cursor->leaf, index)
	                                           : cursor->terms;

	return (guint)MIN(start + more, cursor->terms);
}

static guint
read_offset(const struct block *leaf, guint at)
{
	return (guint)leaf->bytes->data[at] << 8 | leaf->bytes->data[at + 1];
}

static bool
load_leaf(struct scan *scan, struct cursor *cursor, int64_t page, GError **error)
{
	struct block *leaf = &cursor->leaf;
	guint index;

	cursor->page = page;
	if (!load_block(scan->store, LEAF_ID(cursor->segment) + page, leaf, error))
		return false;
	cursor->rows = read_offset(leaf, 0);
	cursor->terms = index = read_offset(leaf, 2);
	if (cursor->terms > leaf->size || cursor->rows > cursor->terms)
		return fail(error);
	cursor->at = LEAF_HEADER;
	cursor->end = read_term(cursor, 0, &index);
	return cursor->at <= cursor->end || fail(error);
}

/* Find the list of the term in the leaf. */
static bool
find_in_leaf(struct cursor *cursor, const char *term)
{
	const struct block *leaf = &cursor->leaf;
	size_t len = strlen(term), same = 0;
	guint index = cursor->terms, start = 0;

	while (index < leaf->size) {
		bool is_whole = start == 0;
		uint64_t shared, more;

		start = read_term(cursor, start, &index);
		cursor->at = start;
		/* Number of bytes that are those of the term before. */
		shared = is_whole ? 0 : read_number(leaf, &cursor->at);
		more = read_number(leaf, &cursor->at);
		if (shared < same || cursor->at + more > cursor->terms)
			return false;
		if (shared > same)
			continue;
		while (more && same < len &&
		       leaf->bytes->data[cursor->at] == (uint8_t)term[same]) {
			cursor->at++;
			same++;
			more--;
		}
		if (more || same < len)
			continue;
		cursor->end = read_term(cursor, start, &index);
		return true;
	}
	return false;
}

/* Find the list of the term in the segment.  The last bit of a `pgno` is not of it. */
static bool
find_list(struct scan *scan, struct cursor *cursor, bool *is_found, GError **error)
{
	static const char sql[] =
	    "SELECT coalesce((SELECT pgno >> 1 FROM paper_fts_idx"
	    " WHERE segid = ?1 AND term <= ?2 ORDER BY term DESC LIMIT 1), 1)";
	int64_t page;

	if (!sql_number(scan->store, sql, &page, error, SQL_INT(cursor->segment),
	        SQL_BLOB(scan->term, strlen(scan->term))) ||
	    !load_leaf(scan, cursor, MAX(page, cursor->first), error))
		return false;
	*is_found = find_in_leaf(cursor, scan->term);
	cursor->before = 0;
	return true;
}

/* ---- lists ---- */

/* @param is_more  set to false if the list ends with this leaf */
static bool
load_next_leaf(struct scan *scan, struct cursor *cursor, bool *is_more, GError **error)
{
	*is_more = cursor->end == cursor->terms && cursor->page < cursor->last;
	return !*is_more || load_leaf(scan, cursor, cursor->page + 1, error);
}

/* Collect places that go on in the next leaves. */
static bool
collect_places(struct scan *scan, struct cursor *cursor, GError **error)
{
	bool is_more = true;

	cursor->collected.size = 0;
	for (;;) {
		guint more = (guint)MIN(cursor->row.size - cursor->collected.size,
		    cursor->end - cursor->at);

		block_append(
		    &cursor->collected, cursor->leaf.bytes->data + cursor->at, more);
		cursor->at += more;
		if (cursor->collected.size == cursor->row.size)
			break;
		if (!load_next_leaf(scan, cursor, &is_more, error))
			return false;
		if (!is_more)
			return fail(error);
	}
	cursor->row.places = cursor->collected.bytes->data;
	cursor->before = 0;
	return true;
}

/* Go on in the next leaf. */
static bool
continue_list(struct scan *scan, struct cursor *cursor, GError **error)
{
	bool is_more = true;

	if (!load_next_leaf(scan, cursor, &is_more, error))
		return false;
	cursor->before = is_more && cursor->rows ? 0 : UINT64_MAX;
	cursor->at = cursor->rows;
	return true;
}

/* Read the next paper of the list. */
static inline bool
advance(struct scan *scan, struct cursor *cursor, GError **error)
{
	const uint8_t *data, *next;

	if (G_UNLIKELY(cursor->at == cursor->end)) {
		if (!continue_list(scan, cursor, error))
			return false;
		if (cursor->before) {
			cursor->seq = UINT64_MAX;
			return true;
		}
	}
	data = cursor->leaf.bytes->data;
	next = data + cursor->at;
	cursor->before = cursor->seq = cursor->before + fts_read_number(&next);
	/* The last bit says that an older segment has the paper. */
	cursor->row.size = fts_read_number(&next) >> 1;
	cursor->row.places = next;
	cursor->at = (guint)(next - data);
	if (cursor->at > cursor->end)
		return fail(error);
	if (G_UNLIKELY(cursor->row.size > cursor->end - cursor->at))
		return collect_places(scan, cursor, error);
	cursor->at += (guint)cursor->row.size;
	return true;
}

/* ---- all segments ---- */

/*
 * Begin with a leaf of the list after which no paper from a seq on is missed.  All
 * leaves up to the one with the next term of the segment are of the list.
 */
static bool
skip_leaves(struct scan *scan, struct cursor *cursor, uint64_t least, GError **error)
{
	static const char sql[] =
	    "SELECT coalesce((SELECT pgno >> 1 FROM paper_fts_idx"
	    " WHERE segid = ?1 AND term > ?2 ORDER BY term LIMIT 1), ?3)";
	const struct cursor start = *cursor;
	int64_t page = cursor->page, last;

	if (!least || cursor->end < cursor->terms)
		return true;
	if (!sql_number(scan->store, sql, &last, error, SQL_INT(cursor->segment),
	        SQL_BLOB(scan->term, strlen(scan->term)), SQL_INT(cursor->last)))
		return false;
	while (page < last) {
		int64_t middle = page + (last - page + 1) / 2;

		if (!load_leaf(scan, cursor, middle, error))
			return false;
		cursor->at = cursor->rows;
		if (cursor->rows && read_number(&cursor->leaf, &cursor->at) < least)
			page = middle;
		else
			last = middle - 1;
	}
	if (!load_leaf(scan, cursor, page, error))
		return false;
	cursor->at = page == start.page ? start.at : cursor->rows;
	if (page == start.page)
		cursor->end = start.end;
	return true;
}

/* Begin with the segments that have the term, and remove the others. */
static bool
find_lists(struct scan *scan, uint64_t least, GError **error)
{
	for (guint i = scan->cursors->len; i-- > 0;) {
		struct cursor *cursor = &g_array_index(scan->cursors, struct cursor, i);
		bool is_found;

		if (!find_list(scan, cursor, &is_found, error))
			return false;
		if (!is_found)
			g_array_remove_index(scan->cursors, i);
		else if (!skip_leaves(scan, cursor, least, error) ||
		         !advance(scan, cursor, error))
			return false;
	}
	return true;
}

/* Find the newest of the cursors with the least seq. */
static void
find_first(struct scan *scan)
{
	struct cursor *first = NULL;

	scan->next = UINT64_MAX;
	for (guint i = 0; i < scan->cursors->len; i++) {
		struct cursor *cursor = &g_array_index(scan->cursors, struct cursor, i);

		if (!first || cursor->seq < first->seq) {
			scan->next = first ? first->seq : UINT64_MAX;
			first = cursor;
		} else
			scan->next = MIN(scan->next, cursor->seq);
	}
	scan->cursor = first && first->seq < UINT64_MAX ? first : NULL;
}

/* Skip a paper in the segments in which it is older. */
static bool
skip(struct scan *scan, uint64_t seq, GError **error)
{
	for (guint i = 0; i < scan->cursors->len; i++) {
		struct cursor *cursor = &g_array_index(scan->cursors, struct cursor, i);

		if (cursor->seq == seq && !advance(scan, cursor, error))
			return false;
	}
	return true;
}

/* Find the next paper from a seq on. */
static bool
find_paper(struct scan *scan, uint64_t least, GError **error)
{
	/* A paper that lost the word has no places. */
	while (scan->cursor && (scan->cursor->seq < least || !scan->cursor->row.size)) {
		uint64_t seq = scan->cursor->seq;

		if (!advance(scan, scan->cursor, error))
			return false;
		if (scan->cursor->seq < scan->next)
			continue;
		if (seq == scan->next && !skip(scan, seq, error))
			return false;
		find_first(scan);
	}
	return true;
}

static bool
scan_begin(struct scan *scan, uint64_t least, GError **error)
{
	if (!load_cursors(scan, error) || !find_lists(scan, least, error))
		return false;
	find_first(scan);
	return find_paper(scan, least, error);
}

/* ---- phrases ---- */

/* Places of a word in the current paper. */
struct places {
	const uint8_t *at, *end; /* what to read */
	uint64_t place;          /* column and offset; UINT64_MAX: none is left */
};

struct phrase {
	guint count;          /* words */
	struct scan *scans;   /* of the words */
	struct places *words; /* likewise */
	GByteArray *bytes;    /* places of the phrase */
	struct fts_row row;   /* these */
};

/* Find the first paper from a seq on with all words. @param seq  UINT64_MAX: none */
static bool
find_common(const struct phrase *phrase, uint64_t *seq, GError **error)
{
	for (guint i = 0; i < phrase->count;) {
		struct scan *scan = &phrase->scans[i];

		if (!find_paper(scan, *seq, error))
			return false;
		if (!scan->cursor) {
			*seq = UINT64_MAX;
			return true;
		}
		i = scan->cursor->seq == *seq ? i + 1 : 0;
		*seq = scan->cursor->seq;
	}
	return true;
}

static void
read_place(struct places *places)
{
	uint64_t number;

	if (places->at >= places->end) {
		places->place = UINT64_MAX;
		return;
	}
	number = fts_read_number(&places->at);
	if (number == FTS_NEXT_COLUMN) {
		places->place = fts_read_number(&places->at) << COLUMN_SHIFT;
		number = fts_read_number(&places->at);
	}
	places->place += number - FTS_NEXT_COLUMN - 1;
}

static uint8_t *
append_number(uint8_t *at, uint64_t number)
{
	for (unsigned bits = 7 * (FTS_NUMBER_BYTES - 1); bits > 0; bits -= 7)
		if (number >> bits)
			*at++ = 0x80 | (number >> bits & 0x7f);
	*at++ = number & 0x7f;
	return at;
}

/* Whether the other words follow the place of the first one. */
static bool
is_followed(const struct phrase *phrase)
{
	for (guint i = 1; i < phrase->count; i++) {
		struct places *word = &phrase->words[i];

		while (word->place < phrase->words->place + i)
			read_place(word);
		if (word->place != phrase->words->place + i)
			return false;
	}
	return true;
}

/* Find where the words follow each other: as many places as the first has, at most. */
static void
join_places(struct phrase *phrase)
{
	struct places *first = phrase->words;
	uint64_t last = 0;
	uint8_t *at;

	for (guint i = 0; i < phrase->count; i++) {
		const struct fts_row *row = &phrase->scans[i].cursor->row;

		phrase->words[i] =
		    (struct places){row->places, row->places + row->size, 0};
		read_place(&phrase->words[i]);
	}
	g_byte_array_set_size(phrase->bytes,
	    (guint)phrase->scans->cursor->row.size * PLACE_BYTES + FTS_NUMBER_BYTES);
	at = phrase->bytes->data;
	for (; first->place != UINT64_MAX; read_place(first)) {
		if (!is_followed(phrase))
			continue;
		if (first->place >> COLUMN_SHIFT != last >> COLUMN_SHIFT) {
			last = first->place >> COLUMN_SHIFT << COLUMN_SHIFT;
			at = append_number(at, FTS_NEXT_COLUMN);
			at = append_number(at, first->place >> COLUMN_SHIFT);
		}
		at = append_number(at, first->place - last + FTS_NEXT_COLUMN + 1);
		last = first->place;
	}
	memset(at, 0, FTS_NUMBER_BYTES);
	phrase->row.places = phrase->bytes->data;
	phrase->row.size = (uint64_t)(at - phrase->bytes->data);
}

static bool
pass_papers(struct phrase *phrase, fts_row_found found, void *data, GError **error)
{
	struct fts_row *row = &phrase->row;

	for (uint64_t seq = 0;; seq++) {
		if (!find_common(phrase, &seq, error))
			return false;
		if (seq == UINT64_MAX)
			return true;
		join_places(phrase);
		if (row->size)
			found(data, (int64_t)seq, row);
		if (row->rc)
			return fail(error);
	}
}

/* Likewise, for one word. */
static bool
pass_rows(struct scan *scan, fts_row_found found, void *data, GError **error)
{
	while (scan->cursor) {
		struct cursor *cursor = scan->cursor;

		found(data, (int64_t)cursor->seq, &cursor->row);
		if (cursor->row.rc)
			return fail(error);
		if (!find_paper(scan, cursor->seq + 1, error))
			return false;
	}
	return true;
}

static void
phrase_clear(struct phrase *phrase)
{
	for (guint i = 0; i < phrase->count; i++) {
		g_free(phrase->scans[i].term);
		g_array_unref(phrase->scans[i].cursors);
	}
	g_free(phrase->scans);
	g_free(phrase->words);
	g_byte_array_unref(phrase->bytes);
}

bool
fts_scan_phrase(struct store *store, const GPtrArray *words, int64_t least_seq,
    fts_row_found found, void *data, GError **error)
{
	pb_local(phrase) phrase = {.scans = g_new0(struct scan, words->len),
	    .words = g_new(struct places, words->len),
	    .bytes = g_byte_array_new()};

	for (; phrase.count < words->len; phrase.count++)
		phrase.scans[phrase.count] = (struct scan){.store = store,
		    .term = g_strconcat(WORD_TERM, words->pdata[phrase.count], NULL),
		    .cursors = g_array_new(FALSE, FALSE, sizeof(struct cursor))};
	for (guint i = 0; i < phrase.count; i++) {
		g_array_set_clear_func(phrase.scans[i].cursors, cursor_clear);
		if (!scan_begin(&phrase.scans[i], (uint64_t)least_seq, error))
			return false;
	}
	return phrase.count == 1 ? pass_rows(phrase.scans, found, data, error)
	                         : pass_papers(&phrase, found, data, error);
}
