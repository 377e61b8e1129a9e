/*
 * matches.h - which filter found which paper, and what waits for a field.
 *
 * A filter is matched through a revision of the papers.  Every commit moves
 * that on for a page of filters together with the matches found, so that the
 * step can be killed at any instant and run again.
 */
#ifndef PAPERBOY_STORE_MATCHES_H
#define PAPERBOY_STORE_MATCHES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

struct stored_filter {
	int64_t id;
	char *canonical;
	int64_t matched_through;
};

void stored_filter_free(struct stored_filter *filter);

/**
 * Load a page of filters that have not seen a revision yet, furthest behind
 * first.  @return of struct stored_filter *
 */
GPtrArray *matches_load_behind(
    struct store *store, int64_t revision, unsigned limit, GError **error);

/** The revision of the papers through which a filter has seen them. */
bool matches_load_through(
    struct store *store, int64_t filter_id, int64_t *revision, GError **error);

bool matches_save_through(
    struct store *store, int64_t filter_id, int64_t revision, GError **error);

/* Instead of the time until when a match waits. */
#define MATCHES_YES ((int64_t)-1)

/**
 * Record that a filter found a paper, or waits to know; a "yes" stays one.
 *
 * @param due_at  MATCHES_YES, or when what is not told will count as false
 * @param is_new  set to whether anything was recorded that was not there
 */
bool matches_save(struct store *store, int64_t filter_id, int64_t paper_seq,
    int64_t due_at, int64_t now, bool *is_new, GError **error);

/** Forget a waiting match: it became a plain no. */
bool matches_delete_waiting(
    struct store *store, int64_t filter_id, int64_t paper_seq, GError **error);

/** The filters that wait for a field of a paper. @return of struct stored_filter * */
GPtrArray *matches_load_waiting(struct store *store, int64_t paper_seq, GError **error);

/** Papers that filters have waited for long enough. @return GArray of int64_t */
GArray *
matches_load_due(struct store *store, int64_t now, unsigned limit, GError **error);

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

/** Forget up to a limit of matches decided before a time. @param count set */
bool matches_prune(struct store *store, int64_t before, unsigned limit, unsigned *count,
    GError **error);
bool matches_count(struct store *store, bool is_yes, int64_t *count, GError **error);

#endif
