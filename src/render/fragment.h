/*
 * fragment.h - a paper's part of a digest, rendered and encoded once.
 *
 * Its templates see the paper and why it was found, never the reader, so that
 * everyone who gets the same paper for the same reasons gets the same octets.  Where
 * the templates tell the reasons on lines of their own, what is around them is
 * the same for everybody who gets the paper.
 */
#ifndef PAPERBOY_RENDER_FRAGMENT_H
#define PAPERBOY_RENDER_FRAGMENT_H

#include <glib.h>
#include <stdbool.h>

#include "model/digest.h"
#include "render/piece.h"
#include "render/template.h"
#include "render/words.h"

/* What stands before its reasons, they, and what stands behind them; or all in one. */
#define FRAGMENT_PIECES 3

struct fragment_part {
	const struct piece *pieces[FRAGMENT_PIECES];
	unsigned count;
};

struct fragment {
	struct fragment_part text;
	struct fragment_part html;
};

/* How much of a paper is told. */
enum fragment_depth {
	FRAGMENT_TITLE,
	FRAGMENT_BARE,  /* with authors and reasons, and no abstract */
	FRAGMENT_SHORT, /* with the beginning of the abstract (render/excerpt.h) */
	FRAGMENT_WHOLE,
};

struct fragment_cache;

/**
 * Allocate a cache of fragments for one thread.  It empties itself before it
 * passes BOUNDS_RENDER_CACHE_BYTES; whether something was in it never shows.
 *
 * @param text  template of the paper in the text part, borrowed for the cache's life
 * @param html   and in the HTML part, likewise
 * @param words  likewise
 */
struct fragment_cache *fragment_cache_new(const struct template *text,
    const struct template *html, const struct words *words);
void fragment_cache_free(struct fragment_cache *cache);
PB_DEFINE_AUTO(fragment_cache, fragment_cache_free);

/**
 * Get an entry's fragment, rendering it where it is not there yet.
 *
 * @return fragment_unref() it
 */
struct fragment *fragment_cache_get(struct fragment_cache *cache,
    const struct digest_entry *entry, enum fragment_depth depth);
void fragment_unref(struct fragment *fragment);

/** Add what a part of a fragment comes to, or take it away again. */
void fragment_add_to(struct piece_sum *sum, const struct fragment_part *part);
void fragment_subtract_from(struct piece_sum *sum, const struct fragment_part *part);

#endif
