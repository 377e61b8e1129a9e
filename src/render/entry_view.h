/*
 * entry_view.h - the view of a paper for its templates, and its summary.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "model/digest.h"
#include "render/locale_format.h"
#include "render/view.h"

/* Placeholder for the paper's number in the digest; the number has the same size. */
#define ENTRY_VIEW_NUMBER "000."

/* Names that the templates of a paper may use; ends with NULL. */
extern const char *const entry_view_names[];

enum entry_depth {
	ENTRY_DEPTH_TITLE,
	ENTRY_DEPTH_NO_ABSTRACT,
	ENTRY_DEPTH_BRIEF,   /* a sentence (render/sentence.h) */
	ENTRY_DEPTH_EXCERPT, /* the beginning of the abstract (render/sentence.h) */
	ENTRY_DEPTH_FULL,
	ENTRY_DEPTH_SUMMARY, /* the sentence of the source, and the abstract */
};

/* The language, and translated phrases; immutable. */
struct entry_view_context;

/** @param format  borrowed for the context's lifetime */
struct entry_view_context *entry_view_context_new(const struct locale_format *format);
void entry_view_context_free(struct entry_view_context *context);
PB_DEFINE_AUTO(entry_view_context, entry_view_context_free);

/* The sentence and the abstract of an entry; sanitized, NULL if they are not shown. */
struct entry_summary {
	char *sentence;
	bool is_generated; /* the source's model wrote the sentence */
	char *abstract;
};

void entry_summary_init(
    struct entry_summary *summary, const struct paper *paper, enum entry_depth depth);
void entry_summary_clear(struct entry_summary *summary);

/** Make the view of an entry, without its reasons. @return owned by the caller */
struct view *entry_view_new(const struct entry_view_context *context,
    const struct digest_entry *entry, enum entry_depth depth);
