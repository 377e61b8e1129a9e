/*
 * entry_block_view.h - what the templates of a paper see.
 *
 * Only what the digest froze: the paper's own counters may have moved since.
 */
#ifndef PAPERBOY_RENDER_ENTRY_BLOCK_VIEW_H
#define PAPERBOY_RENDER_ENTRY_BLOCK_VIEW_H

#include <glib.h>

#include "model/digest.h"
#include "render/entry_block.h"
#include "render/locale_format.h"
#include "render/view.h"

/* Stands for the number of the paper, which the digest knows; as many octets. */
#define ENTRY_BLOCK_VIEW_NUMBER "000."

/* Every name that it may have, and those in a reason; each ends with NULL. */
extern const char *const entry_block_view_names[];
extern const char *const entry_block_view_reason_names[];

/** @return a map; view_free() it */
struct view *entry_block_view_new(const struct words *words,
    const struct digest_entry *entry, enum entry_block_depth depth);

/** @param reasons  of struct digest_reason *. @return a list; view_free() it */
struct view *entry_block_view_new_reasons(const GPtrArray *reasons);

#endif
