/*
 * frame.h - what stands around the papers in one part of a digest.
 *
 * The digest's own templates know the reader; they hold two places,
 * `{{{papers}}}` and `{{{titles}}}`, each alone on a line, where the papers'
 * fragments go.
 */
#ifndef PAPERBOY_RENDER_FRAME_H
#define PAPERBOY_RENDER_FRAME_H

#include <glib.h>
#include <stdbool.h>

#include "render/piece.h"
#include "render/template.h"

/* Every name that a digest's view may have; ends with NULL. */
extern const char *const frame_names[];

struct frame {
	struct piece head;   /* before the papers */
	struct piece middle; /* between papers and titles */
	struct piece tail;   /* behind the titles; empty where they have no place */
};

/** Put the two places into a digest's view. @param has_titles  shows the second */
void frame_put_places(struct view *view, bool has_titles);

/**
 * Render the frame of one part.
 *
 * @param label    what errors call the template
 * @param columns  to wrap at, or 0
 * @param frame    set on success only; frame_clear() it
 * @return false with PB_ERROR_INPUT where a place is missing, comes twice, does
 *         not stand alone, or titles come before papers
 */
bool frame_init(struct frame *frame, const char *label, const struct template *template,
    const struct view *view, unsigned columns, GError **error);
void frame_clear(struct frame *frame);

#endif
