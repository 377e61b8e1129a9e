/*
 * assemble.h - which papers of a digest are shown how, and both parts around them.
 */
#ifndef PAPERBOY_RENDER_ASSEMBLE_H
#define PAPERBOY_RENDER_ASSEMBLE_H

#include <glib.h>

#include "model/digest.h"
#include "render/entry_block.h"
#include "render/page.h"

/* One part as it will be sent, but for the papers' fragments. */
struct assemble_part {
	const struct filling *frame; /* head, middle and tail, encoded; borrowed */
	struct chunk_stats sum;      /* of these and the fragments */
	size_t head;                 /* where the head ends, */
	size_t middle;               /* and the middle */
};

struct assembled_message {
	GPtrArray
	    *entries; /* of struct digest_entry *, borrowed: full ones, then titles */
	GPtrArray *fragments; /* of struct fragment *, for the first `shown` entries */
	GString *numbers;     /* of them in the digest: as many octets as their place */
	enum entry_block_depth depth; /* of those that are shown in full */
	unsigned full;                /* shown with abstract */
	unsigned shown;               /* shown at all */
	unsigned total;               /* and with those that are counted only */
	const struct page *frame;     /* until the frames are asked again */
	char *recipient;              /* as the frame shows it */
	char *stop_url;               /* likewise */
	char *subject; /* where it names the reader, else the frame knows it */
	struct assemble_part text;
	struct assemble_part html;
};

/**
 * Lay out a digest so that its HTML part fits BOUNDS_HTML_PART_BYTES.
 *
 * @param layout  set on success only; assemble_clear() it.  It borrows from the digest
 *                and the frames, and is good until another is made with these
 * @param stop_url  where the reader ends it all: a URL
 * @return as renderer_compose()
 */
bool assemble_init(struct assembled_message *layout, struct pages *frames,
    struct entry_block_cache *cache, const struct digest *digest, const char *stop_url,
    GError **error);
void assemble_clear(struct assembled_message *layout);

/** Get the subject, one line. */
const char *assemble_get_subject(const struct assembled_message *layout);

/** List one part in quoted-printable, borrowed. @param runs  of struct compose_span */
void
assemble_list_runs(const struct assembled_message *layout, bool is_html, GArray *runs);

/** Format one part as plain text, lines ending in LF. @return owned by the caller */
char *assemble_format_plain(const struct assembled_message *layout, bool is_html);

#endif
