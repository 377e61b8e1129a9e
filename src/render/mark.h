/*
 * mark.h - marks the words that filters matched in the HTML of a paper.
 *
 * Texts that may be marked are rendered between control characters, which templates
 * and sanitized text lack.  mark_index_init() removes these and indexes the words, once
 * for all readers of the paper; mark_list_apply() inserts `<b>` for one reader.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "model/hit.h"
#include "render/chunk.h"

/* Before a title, before a sentence or abstract, and after each. */
#define MARK_TITLE "\x05"
#define MARK_BODY  "\x06"
#define MARK_END   "\x07"

/* Number of buckets by which the words of a chunk are found, 2 bytes each. */
#define MARK_BUCKETS 128

struct mark_word;
struct mark_line;

/* Words and lines of one chunk; positions are in bytes, without control characters. */
struct mark_index {
	char *html;              /* not encoded */
	struct mark_word *words; /* of the markable texts, in their order */
	struct mark_line *lines; /* the start of each, and the end */
	unsigned word_count, line_count;
	uint16_t buckets[MARK_BUCKETS]; /* number of the first word of each */
};

/**
 * Remove the control characters from rendered HTML, and encode it.
 *
 * @param index  set; to be passed to mark_index_clear()
 * @param chunk  set
 * @param html   taken
 */
void mark_index_init(struct mark_index *index, struct chunk *chunk, GString *html);
void mark_index_clear(struct mark_index *index);

/** Start to load the index into the cache of the CPU. */
void mark_index_prefetch(const struct mark_index *index);

/** Get the memory of an index, besides the struct. */
size_t mark_index_get_bytes(const struct mark_index *index);

/** Remove the control characters from a text part. */
void mark_strip(GString *text);

/* The words of the hits of one paper and reader. */
struct mark_list;

struct mark_list *mark_list_new(void);
void mark_list_free(struct mark_list *list);
PB_DEFINE_AUTO(mark_list, mark_list_free);

/** Forget all hits. */
void mark_list_clear(struct mark_list *list);

/**
 * Add the hits of a reason.
 *
 * @param hits  of struct hit *, borrowed until mark_list_clear()
 */
void mark_list_add(struct mark_list *list, const GPtrArray *hits);

/* Whole lines of a chunk: as they are, or with marks. */
struct mark_piece {
	size_t start, end;   /* in the encoded chunk */
	size_t marked_bytes; /* in the marked text, which follows that of the piece
	                      * before; 0: as they are */
};

/* Borrowed until the list changes. */
struct marked {
	const struct mark_piece *pieces; /* make up the chunk */
	unsigned count;
	const GString *text;      /* of the pieces with marks, encoded */
	struct chunk_stats stats; /* of the whole */
};

/**
 * Mark the words of hits on the title in titles, and of those on the abstract in other
 * texts: words with the same letters and accents as in the hit, whatever is between
 * them; in scripts without spaces (base/bigram.h) the same characters, anywhere.
 *
 * @param chunk   of mark_index_init()
 * @param marked  set
 */
void mark_list_apply(struct mark_list *list, const struct mark_index *index,
    const struct chunk *chunk, struct marked *marked);

/** Whether all words of a hit have been marked. @param hit  in the order of adding */
bool mark_list_is_shown(const struct mark_list *list, unsigned hit);
