/*
 * matches.h - which filter found which paper, and what waits for a field.
 *
 * A filter is matched through a revision of the papers.  Most have joined the crowd,
 * which is matched as one, batch by batch: through which revision is one number, and
 * a batch under way is three.  A filter that is new has a number of its own until it
 * has caught up.  Every commit moves these on together with the matches found, so that
 * the step can be killed at any instant and run again.
 */
#ifndef PAPERBOY_STORE_PAPER_MATCHES_H
#define PAPERBOY_STORE_PAPER_MATCHES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

struct stored_filter {
	int64_t id;
	char *canonical;
	int64_t matched_through;
	bool is_joined; /* matched_through is the crowd's */
};

/* The crowd has seen the revisions up to `matched`; of a batch under way those in
 * (matched, batch] were shown to its filters with ids up to `filter_id`. */
struct matches_progress {
	int64_t matched;
	int64_t batch; /* equal to matched when none is under way */
	int64_t filter_id;
};

/* Of rows of filter f: the revision through which it is matched.  Store only. */
#define MATCHES_THROUGH                                         \
	"coalesce(f.matched_through, (SELECT value FROM cursor" \
	" WHERE name = 'matched'), 0)"

/*
 * What a filter's own matched_through becomes when it may join the crowd: only at the
 * same revision, and while no batch is under way that it would miss.  Store only.
 */
#define MATCHES_JOINED(own)                                                  \
	"CASE WHEN " own " = coalesce((SELECT value FROM cursor"             \
	" WHERE name = 'matched'), 0) AND " own " >= coalesce((SELECT value" \
	" FROM cursor WHERE name = 'matching'), 0) THEN NULL ELSE " own " END"

void stored_filter_free(struct stored_filter *filter);
PB_DEFINE_AUTO(stored_filter, stored_filter_free);

/** How far the crowd is. */
bool matches_load_progress(
    struct store *store, struct matches_progress *progress, GError **error);
bool matches_save_progress(
    struct store *store, const struct matches_progress *progress, GError **error);

/** The filters with ids above one, by id. @return of struct stored_filter * */
GPtrArray *matches_load_filters(
    struct store *store, int64_t after, unsigned limit, GError **error);

/** Filters that are filed under no term. @return of struct stored_filter * */
GPtrArray *matches_load_unfiled(struct store *store, unsigned limit, GError **error);

/* Who is told of filters, by id; the text lives for the call. */
struct match_ops {
	bool (*is_wanted)(void *data, int64_t id);
	bool (*visit)(void *data, int64_t id, const char *canonical, GError **error);
	void *data;
};

/** Visit those of some filters that are of the crowd. @param ids "[1,5,9]", ascending
 */
bool matches_visit_joined(
    struct store *store, const char *ids, const struct match_ops *user, GError **error);

/** Visit all filters of the crowd with ids in (after, through]. */
bool matches_visit_joined_range(struct store *store, int64_t after, int64_t through,
    const struct match_ops *user, GError **error);

/** The highest id of a filter, or 0. */
bool matches_load_last_filter(struct store *store, int64_t *id, GError **error);

/** Let filters that have caught up with the crowd join it. @param count set */
bool matches_join(struct store *store, unsigned limit, unsigned *count, GError **error);

/**
 * Load a page of filters outside the crowd that have not seen a revision yet, furthest
 * behind first.  @return of struct stored_filter *
 */
GPtrArray *matches_load_behind(
    struct store *store, int64_t revision, unsigned limit, GError **error);

/** The revision of the papers through which a filter has seen them. */
bool matches_load_through(
    struct store *store, int64_t filter_id, int64_t *revision, GError **error);

/** Note how far a filter outside the crowd is. @param is_there  set; false: it has gone
 */
bool matches_save_through(struct store *store, int64_t filter_id, int64_t revision,
    bool *is_there, GError **error);

/* What a filter found in one run. */
struct matches_found {
	int64_t filter_id;  /* that is there, as was seen in this transaction */
	const char *papers; /* their numbers, joined by commas; none found before */
};

/* Most rows that are written at once; fewer cost more each. */
#define MATCHES_FOUND_AT_ONCE 50

/** Record what some filters, each once, found in one run; a "yes" stays one. */
bool matches_save_found(struct store *store, const struct matches_found *found,
    unsigned count, int64_t now, GError **error);

/** Whether a filter has found a paper. */
bool matches_has_found(struct store *store, int64_t filter_id, int64_t paper_seq,
    bool *has, GError **error);

/** Record that a filter waits to know. @param due_at  when what is not told will count
 * as false */
bool matches_save_waiting(struct store *store, int64_t filter_id, int64_t paper_seq,
    int64_t due_at, int64_t now, GError **error);

/** Forget that a filter waits, if it does: it has decided. */
bool matches_delete_waiting(
    struct store *store, int64_t filter_id, int64_t paper_seq, GError **error);

/**
 * Two rows are one paper: whatever found or waits for one of them found or waits for
 * the other, once.  Reads all that was found; the caller has noted them as twins.
 */
bool matches_move(struct store *store, int64_t from, int64_t to, GError **error);

/** A page of the filters that wait for a field of a paper, by id. @param after the last
 * one of the page before, or 0. @return of struct stored_filter * */
GPtrArray *matches_load_waiting(struct store *store, int64_t paper_seq, int64_t after,
    unsigned limit, GError **error);

/** A paper that filters have waited for long enough. @param paper_seq  set; 0: none */
bool
matches_find_due(struct store *store, int64_t now, int64_t *paper_seq, GError **error);

/** When the next waiting match is to be decided. @param due_at  -1 for none */
bool matches_load_next_due(struct store *store, int64_t *due_at, GError **error);

struct stored_match {
	bool is_there; /* else the filter has not found the paper */
	bool is_yes;   /* else it waits */
	int64_t decided_at;
	int64_t due_at; /* of one that waits, or -1 */
};

/** What a filter made of a paper. @param match set */
bool matches_find(struct store *store, int64_t filter_id, int64_t paper_seq,
    struct stored_match *match, GError **error);

/** Forget matches of the filters with ids in (after, through] decided before a time. */
bool matches_prune(struct store *store, int64_t before, int64_t after, int64_t through,
    GError **error);

/** Count pairs of filter and paper. @param is_yes  else those that wait */
bool matches_count(struct store *store, bool is_yes, int64_t *count, GError **error);

#endif
