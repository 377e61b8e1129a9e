/*
 * layout.h - which papers of a digest are shown how, and both parts around them.
 */
#ifndef PAPERBOY_RENDER_LAYOUT_H
#define PAPERBOY_RENDER_LAYOUT_H

#include <glib.h>

#include "model/digest.h"
#include "render/fragment.h"
#include "render/frame.h"

/* What the digest's own templates are and see besides the digest. */
struct layout_settings {
	const struct template *subject;
	const struct template *text;
	const struct template *html;
	struct fragment_cache *cache;
	const char *list_name; /* any text */
	const char *owner;     /* an address */
	const char *stop_url;  /* mailto links to it */
	const char *change_url;
};

struct layout {
	GPtrArray
	    *entries; /* of struct digest_entry *, borrowed: full ones, then titles */
	GPtrArray *fragments; /* of struct fragment *, for the first `shown` entries */
	unsigned full;        /* shown with abstract */
	unsigned shown;       /* shown at all */
	unsigned total;       /* and with those that are counted only */
	char *subject;        /* one line */
	struct frame text;
	struct frame html;
};

/**
 * Lay out a digest so that its HTML part fits BOUNDS_HTML_PART_BYTES.
 *
 * @param layout  set on success only; layout_clear() it.  It borrows from the digest
 * @return as renderer_compose()
 */
bool layout_init(struct layout *layout, const struct layout_settings *settings,
    const struct digest *digest, GError **error);
void layout_clear(struct layout *layout);

/** List the pieces of one part in order, borrowed from the layout. */
GPtrArray *layout_list_text(const struct layout *layout);
GPtrArray *layout_list_html(const struct layout *layout);

#endif
