/*
 * assemble.h - both parts of a digest from the page and the papers' blocks.
 */
#pragma once

#include <glib.h>

#include "model/digest.h"
#include "render/entry_block.h"
#include "render/overview.h"
#include "render/page.h"
#include "render/sender.h"

struct assembled_part {
	const struct compose_span *page; /* borrowed */
	struct chunk_stats stats;        /* of the page and the blocks */
	unsigned head, middle, tail;     /* spans of the page up to their ends */
};

/* Scratch space of one thread, for one message at a time. */
struct assemble_scratch {
	struct entry_block_scratch blocks;
	struct template_buffer text, html; /* pages */
};

struct assembled_message {
	GPtrArray *entries; /* of struct digest_entry *, borrowed: full, then titles */
	GPtrArray *blocks;  /* of struct entry_block *, for the first `shown` entries */
	GPtrArray *headings; /* of struct entry_block *, before the full entries: NULL
	                      * except for the first of a group */
	GPtrArray *answers;  /* of struct entry_block *, the links of each entry that is
	                      * shown; or NULL */
	GString *numbers;    /* of the entries, each the size of ENTRY_VIEW_NUMBER */
	enum preference_abstract abstract; /* of entries that are shown in full */
	unsigned full;                     /* entries shown in full */
	unsigned shown;                    /* shown in full or by title */
	unsigned total;                    /* in the digest */
	const struct page *page;
	struct overview overview;
	struct assemble_scratch scratch;
	struct assembled_part text;
	struct assembled_part html;
};

/**
 * Assemble a digest so that its HTML part fits BOUNDS_HTML_PART_BYTES.
 *
 * @param assembled  set on success only; to be passed to assemble_clear().  Borrows
 *                   from the digest and the pages until then
 * @param sender, links  borrowed until assemble_clear()
 * @return as renderer_compose()
 */
bool assemble_init(struct assembled_message *assembled, struct pages *pages,
    struct entry_block_cache *cache, const struct digest *digest,
    const struct sender_identity *sender, const struct sender_links *links,
    GError **error);
void assemble_clear(struct assembled_message *assembled);

/** Get the subject, one line. */
const char *assemble_get_subject(const struct assembled_message *assembled);

/** Get how much of an entry is shown. @param index  in the message, from 0 */
enum entry_depth
assemble_get_depth(const struct assembled_message *assembled, unsigned index);

/** Append one part in quoted-printable, borrowed. @param spans  of struct compose_span
 */
void assemble_list_spans(
    const struct assembled_message *assembled, bool is_html, GArray *spans);

/** Decode one part, lines ending in LF. @return owned by the caller */
GString *assemble_format_plain(const struct assembled_message *assembled, bool is_html);
