/*
 * overview.h - the values of one digest in its page.
 *
 * They are computed per digest, so this is a hot path: titles are cached, and filters
 * and notices were frozen with the digest.
 */
#pragma once

#include <glib.h>

#include "model/digest.h"
#include "render/page.h"
#include "render/sender.h"

/* Maximum number of papers in a digest that has no list of the papers at its top. */
#define OVERVIEW_TOP_PAPERS 8

struct overview {
	const char *values[PAGE_VALUES]; /* by enum page_value */
	struct page_params params;
	GStringChunk *texts; /* of the values */
};

/**
 * Set the values of the reader, the filters and the notices.
 *
 * @param digest  borrowed until overview_clear()
 * @param links   borrowed until overview_clear()
 */
void overview_init(struct overview *overview, const struct digest *digest,
    const struct sender_identity *sender, const struct sender_links *links);
void overview_clear(struct overview *overview);

/**
 * Set the counts and the subject, and the preheader that goes with it; borrowed from
 * the pages until the next call with these.
 *
 * @param papers  struct digest_entry *, in the order of the message
 * @return false with PB_ERROR_INPUT for an invalid date
 */
bool overview_set_titles(struct overview *overview, struct pages *pages,
    const GPtrArray *papers, GError **error);

/** Add a paper at the top. @param number  in the digest */
void overview_add_top(struct overview *overview, struct pages *pages,
    const struct digest_entry *entry, unsigned number);
