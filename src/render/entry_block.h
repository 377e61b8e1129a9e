/*
 * entry_block.h - one paper of a digest, rendered and encoded.
 *
 * The templates of a paper see the paper and the reasons it matched, never the reader.
 * Lines before and after the reasons are rendered once per paper and cached, and so are
 * reasons (render/entry_reasons.h).  The words that matched are marked in the HTML for
 * each reader (render/mark.h).
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "message/compose.h"
#include "model/digest.h"
#include "render/chunk.h"
#include "render/entry_reasons.h"
#include "render/entry_view.h"
#include "render/template.h"

/* Names that the templates of a heading may use; ends with NULL. */
extern const char *const entry_block_heading_names[];

/* Names that the templates of the links for answers may use; ends with NULL. */
extern const char *const entry_block_answer_names[];

/* All are borrowed for the cache's lifetime. */
struct entry_block_templates {
	const struct template *text; /* of a paper */
	const struct template *html;
	const struct template *heading_text; /* of a group */
	const struct template *heading_html;
	const struct template *answer_text; /* the links of an answer */
	const struct template *answer_html;
	const struct locale_format *format;
	const struct entry_view_context *context;
};

/* Whole lines in quoted-printable; the first starts with ENTRY_VIEW_NUMBER if the
 * template does. */
struct entry_block_part {
	const struct compose_span *spans;
	unsigned count;
	unsigned reasons_end; /* number of spans up to and including the reasons */
	struct chunk_stats stats;
};

struct entry_block {
	struct entry_block_part text;
	struct entry_block_part html;
};

/* Scratch space of one thread. */
struct entry_block_scratch {
	GString *key_bytes;
	struct mark_list *marks;
	struct entry_reasons_scratch reasons;
};

void entry_block_scratch_init(struct entry_block_scratch *scratch);
void entry_block_scratch_clear(struct entry_block_scratch *scratch);

struct entry_block_cache;

/**
 * Allocate a cache, which several threads may use.  Papers and reasons are dropped
 * before both exceed BOUNDS_RENDER_CACHE_BYTES; the result never depends on its
 * contents.
 */
struct entry_block_cache *
entry_block_cache_new(const struct entry_block_templates *templates);
void entry_block_cache_free(struct entry_block_cache *cache);
PB_DEFINE_AUTO(entry_block_cache, entry_block_cache_free);

/* The part of a block that all its readers share. */
struct entry_shared;

/**
 * Find the shared part of an entry in the cache, or render it.
 *
 * Its memory is loaded in the background: the parts of a digest's entries are best
 * found before the first entry_block_new().
 *
 * @return a new reference, to be passed to entry_block_new()
 */
struct entry_shared *
entry_block_find(struct entry_block_cache *cache, struct entry_block_scratch *scratch,
    const struct digest_entry *entry, enum entry_depth depth);

/** Render an entry. @param shared  taken @return owned by the caller */
struct entry_block *entry_block_new(struct entry_block_cache *cache,
    struct entry_block_scratch *scratch, const struct digest_entry *entry,
    enum entry_depth depth, struct entry_shared *shared);
void entry_block_free(struct entry_block *block);

/* The heading of a group of papers. */
struct entry_block_heading {
	const char *filter; /* any text */
	unsigned start;     /* number of the first paper */
	bool is_first;      /* heading of the digest */
};

/** Render a heading. @return owned by the caller */
struct entry_block *entry_block_new_heading(
    const struct entry_block_cache *cache, const struct entry_block_heading *heading);

/** Render the links of an answer to a paper. @return owned by the caller */
struct entry_block *entry_block_new_answer(
    const struct entry_block_cache *cache, const char *like_url, const char *hide_url);
