/*
 * mark.h - marks the words that filters matched in the HTML of a paper.
 *
 * Texts that may be marked are rendered between control characters, which templates
 * and sanitized text lack.  mark_index_init() removes these and indexes the words, once
 * for all readers of the paper; mark_list_apply() inserts `<b>` for one reader.
 */
#ifndef PAPERBOY_RENDER_MARK_H
#define PAPERBOY_RENDER_MARK_H

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

#define MARK_BUCKETS 256

/* Words and lines of one chunk; positions are in bytes, without control characters. */
struct mark_index {
	GArray *words; /* of struct mark_word: of the markable texts, in their order */
	GArray *lines; /* of struct mark_line: the start of each, and the end */
	uint32_t buckets[MARK_BUCKETS]; /* number of the first word of each */
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

/** Add the hits of a reason. @param hits  of struct hit *, borrowed */
void mark_list_add(struct mark_list *list, const GPtrArray *hits);

/**
 * Mark the words of hits on the title in titles, and of those on the abstract in other
 * texts: words with the same letters and accents as in the hit, whatever is between
 * them.
 *
 * @param chunk   of mark_index_init()
 * @param marked  set if there is something to mark; to be passed to chunk_clear()
 * @return whether there is
 */
bool mark_list_apply(struct mark_list *list, const struct mark_index *index,
    const struct chunk *chunk, struct chunk *marked);

/** Whether all words of a hit have been marked. @param hit  in the order of adding */
bool mark_list_is_shown(const struct mark_list *list, unsigned hit);

#endif
