/*
 * entry_block.h - one paper of a digest, rendered and encoded.
 *
 * The templates of a paper see the paper and the reasons it matched, never the reader.
 * Lines before and after the reasons are rendered once per paper and cached, and so are
 * reasons, which papers and readers share.  The words that matched are marked in the
 * HTML for each reader (render/mark.h).
 */
#ifndef PAPERBOY_RENDER_ENTRY_BLOCK_H
#define PAPERBOY_RENDER_ENTRY_BLOCK_H

#include <glib.h>
#include <stdbool.h>

#include "model/digest.h"
#include "render/chunk.h"
#include "render/locale_format.h"
#include "render/template.h"

/* Placeholder for the paper's number in the digest; the number has the same size. */
#define ENTRY_BLOCK_NUMBER "000."

/* Lines before the reasons, the reasons, and lines after them. */
#define ENTRY_BLOCK_CHUNKS 3

/*
 * Names that the templates of a paper, its section {{#reasons}} and the templates of a
 * heading may use; end with NULL.
 */
extern const char *const entry_block_names[];
extern const char *const entry_block_reason_names[];
extern const char *const entry_block_heading_names[];

/* All are borrowed for the cache's lifetime. */
struct entry_block_templates {
	const struct template *text; /* of a paper */
	const struct template *html;
	const struct template *heading_text; /* of a group */
	const struct template *heading_html;
};

struct entry_block_part {
	const struct chunk *chunks[ENTRY_BLOCK_CHUNKS];
	unsigned count;
};

struct entry_block {
	struct entry_block_part text;
	struct entry_block_part html;
};

enum entry_block_depth {
	ENTRY_BLOCK_TITLE,
	ENTRY_BLOCK_NO_ABSTRACT,
	ENTRY_BLOCK_BRIEF,   /* a sentence (render/sentence.h) */
	ENTRY_BLOCK_EXCERPT, /* the beginning of the abstract (render/excerpt.h) */
	ENTRY_BLOCK_FULL,
	ENTRY_BLOCK_SUMMARY, /* the sentence of the source, and the abstract */
};

struct entry_block_cache;

/**
 * Allocate a cache for one thread.  Papers and reasons are dropped before both exceed
 * BOUNDS_RENDER_CACHE_BYTES; the result never depends on its contents.
 *
 * @param format  borrowed for the cache's lifetime
 */
struct entry_block_cache *entry_block_cache_new(
    const struct entry_block_templates *templates, const struct locale_format *format);
void entry_block_cache_free(struct entry_block_cache *cache);
PB_DEFINE_AUTO(entry_block_cache, entry_block_cache_free);

/* The sentence and the abstract of an entry; sanitized, NULL if they are not shown. */
struct entry_block_summary {
	char *sentence;
	bool is_generated; /* the source's model wrote the sentence */
	char *abstract;
};

void entry_block_summary_init(struct entry_block_summary *summary,
    const struct entry_block_cache *cache, const struct paper *paper,
    enum entry_block_depth depth);
void entry_block_summary_clear(struct entry_block_summary *summary);

/** Render an entry, the shared part from the cache. @return owned by the caller */
struct entry_block *entry_block_new(struct entry_block_cache *cache,
    const struct digest_entry *entry, enum entry_block_depth depth);
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

/** Add or subtract the sizes of one part. */
void entry_block_add_to(struct chunk_stats *stats, const struct entry_block_part *part);
void entry_block_subtract_from(
    struct chunk_stats *stats, const struct entry_block_part *part);

#endif
