/*
 * entry.h - one paper of a digest, rendered and encoded.
 *
 * The templates paper.txt and paper.html decide its look.  They are rendered once for
 * all readers of a paper, with placeholders for what differs between these: number,
 * token, filters and their words, and marks.  Lines without a placeholder are kept as
 * the final bytes, others are filled in, wrapped and encoded for each reader.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "model/digest.h"
#include "render/locale_format.h"
#include "render/sender.h"
#include "render/template.h"

/* Names that the templates of a paper may use; ends with NULL. */
extern const char *const entry_names[];

/* Columns of the number of a paper in its digest, which is aligned to the right. */
#define ENTRY_NUMBER_COLUMNS 3

enum entry_depth {
	ENTRY_DEPTH_TITLE,
	ENTRY_DEPTH_NO_ABSTRACT,
	ENTRY_DEPTH_BRIEF,   /* a sentence (render/sentence.h) */
	ENTRY_DEPTH_EXCERPT, /* the beginning of the abstract (render/sentence.h) */
	ENTRY_DEPTH_FULL,
	ENTRY_DEPTH_SUMMARY, /* the sentence of the source, and the abstract */
};

/* The sentence and the abstract of an entry; sanitized, NULL if they are not shown. */
struct entry_summary {
	char *sentence;
	bool is_generated; /* the source's model wrote the sentence */
	char *abstract;
};

void entry_summary_init(
    struct entry_summary *summary, const struct paper *paper, enum entry_depth depth);
void entry_summary_clear(struct entry_summary *summary);

/* Input of an entry, and the values of its reader.  All is borrowed. */
struct entry_params {
	const struct digest_entry *entry;
	enum entry_depth depth;
	const char *heading;   /* of the group that begins here, or NULL */
	bool is_first_title;   /* the papers that are shown by title begin here */
	bool is_grouped;       /* a heading names the filter that it counts for */
	bool is_filter_hidden; /* the digest has one filter only */
	bool is_page;          /* for a browser, with the abstract on demand */
	unsigned number;       /* of the paper in the digest */
	const char *token;     /* of the links that answer; NULL: no links */
};

/* Both parts of an entry, rendered for a reader. */
struct entry;

struct entry_cache;

/**
 * Allocate a cache, which several threads may use.  It is emptied before it exceeds
 * BOUNDS_RENDER_CACHE_BYTES; the result never depends on its contents.  All parameters
 * are borrowed for its lifetime.
 */
struct entry_cache *
entry_cache_new(const struct template *text, const struct template *html,
    const struct locale_format *format, const struct sender_identity *sender);
void entry_cache_free(struct entry_cache *cache);
PB_DEFINE_AUTO(entry_cache, entry_cache_free);

/** Render an entry. @param params  borrowed until entry_free() */
struct entry *entry_new(struct entry_cache *cache, const struct entry_params *params);
void entry_free(struct entry *entry);

/** Append lines in quoted-printable; those of the text part are wrapped. */
void entry_encode(GString *out, const char *text, bool is_html);

/** Append one part in quoted-printable, whole lines. */
void entry_append(const struct entry *entry, bool is_html, GString *out);
