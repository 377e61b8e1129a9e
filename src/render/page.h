/*
 * page.h - both parts of a digest: its papers, and what is around them.
 *
 * The templates of a digest contain `{{{papers}}}` alone on a line, where the entries
 * (render/entry.h) are inserted; the rest is rendered for each digest.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "model/digest.h"
#include "render/entry.h"
#include "render/locale_format.h"
#include "render/sender.h"
#include "render/template.h"

/* Names that a digest's templates may use; ends with NULL. */
extern const char *const page_names[];

/* All are borrowed. */
struct page_settings {
	const struct template *subject, *text, *html;
	const struct locale_format *format;
	const struct sender_identity *sender;
	struct entry_cache *cache;
	bool is_page; /* for a browser */
};

struct page {
	GPtrArray *entries; /* of struct digest_entry *, borrowed: full, then titles */
	GArray *numbers;    /* of unsigned: of each in the digest, from 1 */
	unsigned full;      /* entries shown in full */
	unsigned shown;     /* shown in full or by title */
	bool is_single;     /* the digest has one paper */
	enum preference_abstract abstract;
	GPtrArray *blocks;    /* of struct entry *, of those that are shown */
	GString *text, *html; /* quoted-printable */
	char *subject;        /* one line */
};

/**
 * Render a digest so that its HTML part fits BOUNDS_HTML_PART_BYTES: if necessary the
 * last papers are shown by title only, then the last titles are only counted, in both
 * parts alike.  For a browser nothing is left out.
 *
 * @param page    set on success only; to be passed to page_clear()
 * @param digest  borrowed until then
 * @return false with PB_ERROR_INPUT for an invalid digest, or if the tag for papers is
 *         missing, repeated or not alone on its line; PB_ERROR_LIMIT if the templates
 *         leave no room for any paper
 */
bool page_init(struct page *page, const struct page_settings *settings,
    const struct digest *digest, const struct sender_links *links, GError **error);
void page_clear(struct page *page);

/** Get how much of an entry is shown. @param index  in the message, from 0 */
enum entry_depth page_get_depth(const struct page *page, unsigned index);
