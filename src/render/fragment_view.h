/*
 * fragment_view.h - what the templates of a paper see.
 *
 * Only what the digest froze: the paper's own counters may have moved since.
 */
#ifndef PAPERBOY_RENDER_FRAGMENT_VIEW_H
#define PAPERBOY_RENDER_FRAGMENT_VIEW_H

#include <glib.h>

#include "model/digest.h"
#include "render/fragment.h"
#include "render/view.h"
#include "render/words.h"

/* Stands for the number of the paper, which the digest knows; as many octets. */
#define FRAGMENT_VIEW_NUMBER "000."

/* Every name that it may have, and those in a reason; each ends with NULL. */
extern const char *const fragment_view_names[];
extern const char *const fragment_view_reason_names[];

/** @return a map; view_free() it */
struct view *fragment_view_new(const struct words *words,
    const struct digest_entry *entry, enum fragment_depth depth);

/** @param reasons  of struct digest_reason *. @return a list; view_free() it */
struct view *fragment_view_new_reasons(const GPtrArray *reasons);

#endif
