/*
 * filter_progress.h - the revision of the papers up to which each filter is matched.
 *
 * Most filters are matched in batches that share one cursor.  A new filter has a cursor
 * of its own, filter.matched_revision, until it has caught up and joins the batch; from
 * then on the column is NULL.  Each commit advances the cursors together with the
 * matches found, so that matching can be killed at any time and run again.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

struct stored_filter {
	int64_t id;
	const char *canonical;
	int64_t matched_revision;
	bool is_batched; /* matched_revision is the shared cursor */
};

/*
 * The shared cursor.  Batched filters have seen the revisions up to `matched`; those
 * with ids up to `filter_id` have also seen (matched, batch].
 */
struct filter_progress {
	int64_t matched;
	int64_t batch; /* equal to matched when no batch is in progress */
	int64_t filter_id;
};

/* SQL, for the store only: the matched revision of a filter f. */
#define FILTER_PROGRESS_REVISION                                 \
	"coalesce(f.matched_revision, (SELECT value FROM cursor" \
	" WHERE name = 'matched'), 0)"
#define FILTER_PROGRESS_MATCHED \
	"coalesce((SELECT value FROM cursor WHERE name = 'matched'), 0)"

/* SQL, for the store only: no filter has a lower matched revision. */
#define FILTER_PROGRESS_LEAST                                     \
	"coalesce((SELECT min(matched_revision) FROM filter"      \
	" WHERE matched_revision < " FILTER_PROGRESS_MATCHED ")," \
	" " FILTER_PROGRESS_MATCHED ")"

/*
 * SQL, for the store only: NULL if a filter with the cursor `own` can join the batch,
 * that is, at the same revision while no batch is in progress; else `own`.
 */
#define FILTER_PROGRESS_JOINED(own)                                           \
	"CASE WHEN " own " = " FILTER_PROGRESS_MATCHED " AND " own            \
	" >= coalesce((SELECT value FROM cursor WHERE name = 'matching'), 0)" \
	" THEN NULL ELSE " own " END"

bool filter_progress_load(
    struct store *store, struct filter_progress *progress, GError **error);
bool filter_progress_save(
    struct store *store, const struct filter_progress *progress, GError **error);

/** Load filters with ids above `after`, by id. @return of struct stored_filter * */
GPtrArray *filter_progress_load_filters(
    struct store *store, int64_t after, unsigned limit, GError **error);

/** Delete filters with ids in (after, through] that nobody has, made before a time. */
bool filter_progress_prune(struct store *store, int64_t before, int64_t after,
    int64_t through, GError **error);

/**
 * Load filters that are not indexed (filter_index.h), with ids in (after, through], by
 * id.
 *
 * @return of struct stored_filter *
 */
GPtrArray *filter_progress_load_unindexed(struct store *store, int64_t after,
    int64_t through, unsigned limit, GError **error);

/**
 * Load filters with a pending match of a paper, by id.
 *
 * @return of struct stored_filter *
 */
GPtrArray *filter_progress_load_pending(struct store *store, int64_t paper_seq,
    int64_t after, unsigned limit, GError **error);

/**
 * Load the filters outside the batch that have not seen a revision, furthest behind
 * first.
 *
 * @return of struct stored_filter *
 */
GPtrArray *filter_progress_load_lagging(
    struct store *store, int64_t revision, unsigned limit, GError **error);

/** Receives a filter; the text is valid during the call. @return false with an error */
typedef bool (*filter_progress_text)(
    void *data, int64_t id, const char *canonical, GError **error);

/** Iterate over the batched filters among some ids. @param ids  of int64_t, ascending
 */
bool filter_progress_foreach(struct store *store, const GArray *ids,
    filter_progress_text found, void *data, GError **error);

/** Load the canonical texts of several filters, in any order. @param ids  of int64_t */
bool filter_progress_load_texts(struct store *store, const GArray *ids,
    filter_progress_text found, void *data, GError **error);

/** @param id  of the newest filter; 0: none */
bool filter_progress_load_last_id(struct store *store, int64_t *id, GError **error);

/** Let filters that have caught up join the batch. @param count set */
bool filter_progress_join_batch(
    struct store *store, unsigned limit, unsigned *count, GError **error);

/** @param is_there  set; false: the filter was deleted */
bool filter_progress_save_revision(struct store *store, int64_t filter_id,
    int64_t revision, bool *is_there, GError **error);
bool filter_progress_load_revision(
    struct store *store, int64_t filter_id, int64_t *revision, GError **error);
