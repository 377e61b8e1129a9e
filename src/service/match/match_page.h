/*
 * match_page.h - papers that are shown to filters, and what is recorded of it.
 *
 * The papers of some revisions, made ready once for all filters.  A showing is between
 * commits: the caller's transaction holds what is recorded and how far it came.
 */
#ifndef PAPERBOY_SERVICE_MATCH_MATCH_PAGE_H
#define PAPERBOY_SERVICE_MATCH_MATCH_PAGE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "query/eval/batch_eval.h"
#include "service/match/match.h"
#include "store/core/store.h"
#include "store/paper/papers.h"

/* When a run is, and from when on the last word on what waits may be spoken. */
struct page_context {
	int64_t now;
	int64_t trusted_at;
};

/* The digits of a number, a comma and a zero octet. */
#define MATCH_PAGE_SEQ_BYTES 24

/* A paper made ready for many filters. */
struct match_page_paper {
	struct query_document *document;
	struct stored_paper *stored;
	char seq[MATCH_PAGE_SEQ_BYTES]; /* stored->seq in digits, a comma behind */
	int seq_len;
};

struct match_page {
	GPtrArray *papers; /* of struct match_page_paper *; NULL: none was loaded */
	struct batch_eval *bulk;
	GArray *found;        /* of struct matches_found, to be written together */
	GString *found_texts; /* their papers, a zero octet behind each */
	int64_t after; /* the papers are those of the revisions in (after, through] */
	int64_t through;
	struct page_context moment;
};

/** Zeroed memory is an empty one. */
void match_page_clear(struct match_page *match_page);

#define match_page_auto __attribute__((cleanup(match_page_clear))) struct match_page

/**
 * Load the papers of the revisions in (after, newest] that somebody may still get, the
 * first BATCH_EVAL_PAPERS of them; through is set to how far that goes.
 */
bool match_page_load(struct match_page *match_page, struct store *store, int64_t after,
    int64_t newest, const struct page_context *moment, GError **error);

/* A filter, and what it is to be shown. */
struct match_page_filter {
	int64_t id;
	const char *canonical;
	struct bitset papers;
	bool is_new_to_them; /* it has seen no paper that was not revised */
};

/** Show papers to a filter and record what it makes of them; what it found may be kept
 * back until match_page_save(). @param report added to */
bool match_page_run(struct match_page *match_page, struct store *store,
    const struct match_page_filter *filter, struct match_report *report,
    GError **error);

/** Write what was kept back: to be called before every commit. */
bool
match_page_save(struct match_page *match_page, struct store *store, GError **error);

/** Make a paper ready. @return NULL with PB_ERROR_TEMPORARY */
struct query_document *
match_page_make_document(struct store *store, const struct stored_paper *stored,
    const struct page_context *moment, GError **error);

/** Record that a filter waits. @param query  the filter */
bool match_page_save_waiting(struct store *store, int64_t filter_id,
    const struct query *query, const struct stored_paper *stored,
    const struct page_context *moment, GError **error);

/** Record that a filter that waited has found a paper after all. */
bool match_page_save_decided(struct store *store, int64_t filter_id,
    const struct stored_paper *stored, int64_t now, GError **error);

#endif
