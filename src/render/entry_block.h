/*
 * entry_block.h - a paper's part of a digest, rendered and encoded once.
 *
 * Its templates see the paper and why it was found, never the reader, so that
 * everyone who gets the same paper for the same reasons gets the same octets.  Where
 * the templates tell the reasons on lines of their own, what is around them is
 * the same for everybody who gets the paper.
 */
#ifndef PAPERBOY_RENDER_ENTRY_BLOCK_H
#define PAPERBOY_RENDER_ENTRY_BLOCK_H

#include <glib.h>
#include <stdbool.h>

#include "model/digest.h"
#include "render/chunk.h"
#include "render/locale_format.h"
#include "render/template.h"

/* What stands before its reasons, they, and what stands behind them; or all in one. */
#define ENTRY_BLOCK_PIECES 3

struct entry_block_part {
	const struct chunk *pieces[ENTRY_BLOCK_PIECES];
	unsigned count;
};

struct entry_block {
	struct entry_block_part text;
	struct entry_block_part html;
};

/* How much of a paper is told. */
enum entry_block_depth {
	ENTRY_BLOCK_TITLE,
	ENTRY_BLOCK_BARE,  /* with authors and reasons, and no abstract */
	ENTRY_BLOCK_SHORT, /* with the beginning of the abstract (render/excerpt.h) */
	ENTRY_BLOCK_WHOLE,
};

struct entry_block_cache;

/**
 * Allocate a cache of fragments for one thread.  It empties itself before it
 * passes BOUNDS_RENDER_CACHE_BYTES; whether something was in it never shows.
 *
 * @param text  template of the paper in the text part, borrowed for the cache's life
 * @param html   and in the HTML part, likewise
 * @param words  likewise
 */
struct entry_block_cache *entry_block_cache_new(const struct template *text,
    const struct template *html, const struct words *words);
void entry_block_cache_free(struct entry_block_cache *cache);
PB_DEFINE_AUTO(entry_block_cache, entry_block_cache_free);

/**
 * Get an entry's fragment, rendering it where it is not there yet.
 *
 * @return entry_block_unref() it
 */
struct entry_block *entry_block_cache_get(struct entry_block_cache *cache,
    const struct digest_entry *entry, enum entry_block_depth depth);
void entry_block_unref(struct entry_block *fragment);

/** Add what a part of a fragment comes to, or take it away again. */
void entry_block_add_to(struct chunk_stats *sum, const struct entry_block_part *part);
void
entry_block_subtract_from(struct chunk_stats *sum, const struct entry_block_part *part);

#endif
