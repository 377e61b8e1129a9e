/*
 * paper_batch.h - evaluates filters for a batch of papers and records the results.
 *
 * The papers of some revisions, indexed once for all filters. It does not commit:
 * the caller's transaction holds results and progress.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "query/eval/batch_eval.h"
#include "service/match/match.h"
#include "store/core/store.h"
#include "store/paper/papers.h"

/* Times of a run, s. */
struct match_context {
	int64_t now;
	/* Before it the clock may be wrong: only looked-up fields become final. */
	int64_t trusted_at;
};

/* Maximum length of a number, a comma and NUL, bytes. */
#define PAPER_BATCH_SEQ_BYTES 24

/* An indexed paper. */
struct batch_paper {
	struct query_document *document;
	struct stored_paper *stored;
	char seq[PAPER_BATCH_SEQ_BYTES]; /* stored->seq in digits and a comma */
	int seq_len;
};

struct paper_batch {
	GPtrArray *papers; /* of struct batch_paper *; NULL: none loaded */
	struct batch_eval *batch;
	int64_t after; /* papers have revisions in (after, through] */
	int64_t through;
	struct match_context context;
};

/** Zeroed memory is empty. */
void paper_batch_clear(struct paper_batch *paper_batch);

/**
 * Load up to BATCH_EVAL_PAPERS papers of the revisions in (after, newest] that digests
 * may still have; sets `through` to the last revision loaded.
 */
bool paper_batch_load(struct paper_batch *paper_batch, struct store *store,
    int64_t after, int64_t newest, const struct match_context *context, GError **error);

/* A filter and the papers for which to evaluate it. */
struct paper_batch_filter {
	int64_t id;
	const char *canonical;
	struct bitset papers;
	/* It has not been evaluated for these revisions: the store can have a match
	 * only of papers that had an earlier one. */
	bool is_first_run;
};

/** Evaluate a filter and record the results. @param report  added to */
bool paper_batch_run(struct paper_batch *paper_batch, struct store *store,
    const struct paper_batch_filter *filter, struct match_report *report,
    GError **error);

/** Index a paper. @return NULL with PB_ERROR_TEMPORARY */
struct query_document *
paper_batch_make_document(struct store *store, const struct stored_paper *stored,
    const struct match_context *context, GError **error);

/** Record that a match is waiting. */
bool paper_batch_save_waiting(struct store *store, int64_t filter_id,
    const struct query *query, const struct stored_paper *stored,
    const struct match_context *context, GError **error);

/** Record that a waiting match has become true. */
bool paper_batch_save_decided(struct store *store, int64_t filter_id,
    const struct stored_paper *stored, int64_t now, GError **error);

/** Which fields of a paper are final at a time. */
enum query_finality
paper_batch_get_finality(const struct stored_paper *stored, int64_t now);

/** Index a paper as known at a time. @return NULL with PB_ERROR_TEMPORARY */
struct query_document *paper_batch_make_document_at(struct store *store,
    const struct stored_paper *stored, int64_t now, GError **error);

/** Time at which a waiting match is rechecked, s. */
int64_t paper_batch_get_recheck_time(
    const struct query *query, const struct stored_paper *stored, int64_t now);
