/*
 * entry_reasons.h - the reasons of a paper, rendered and encoded.
 *
 * They do not depend on the paper but on its hits, so papers and readers share them.
 */
#pragma once

#include <glib.h>

#include "render/chunk.h"
#include "render/entry_view.h"
#include "render/locale_format.h"
#include "render/mark.h"
#include "render/template.h"

/* Names that the section {{#reasons}} may use; ends with NULL. */
extern const char *const entry_reasons_names[];

/* Whole lines in quoted-printable, in one allocation. */
struct entry_reasons {
	const char *text;
	const char *html;
	struct chunk_stats text_stats;
	struct chunk_stats html_stats;
};

/* Scratch space of one thread. */
struct entry_reasons_scratch {
	GString *key_bytes, *plain, *wrapped, *encoded;
	GPtrArray *hits;
};

void entry_reasons_scratch_init(struct entry_reasons_scratch *scratch);
void entry_reasons_scratch_clear(struct entry_reasons_scratch *scratch);

struct entry_reasons_cache;

/**
 * Allocate a cache, which several threads may use.  It is emptied when it is full.
 *
 * @param text, html  of a paper; borrowed for the cache's lifetime, as is the format
 */
struct entry_reasons_cache *
entry_reasons_cache_new(const struct template *text, const struct template *html,
    const struct locale_format *format, size_t limit_bytes);
void entry_reasons_cache_free(struct entry_reasons_cache *cache);
PB_DEFINE_AUTO(entry_reasons_cache, entry_reasons_cache_free);

/**
 * Render the reasons of an entry, unless they are cached.
 *
 * @param reasons    of struct digest_reason *, at least one
 * @param marks      of their hits, after mark_list_apply(): the HTML part lists the
 *                   words that are not marked
 * @return a new reference
 */
const struct entry_reasons *entry_reasons_get(struct entry_reasons_cache *cache,
    struct entry_reasons_scratch *scratch, const GPtrArray *reasons,
    const struct mark_list *marks, enum entry_depth depth);
void entry_reasons_unref(const struct entry_reasons *reasons);
