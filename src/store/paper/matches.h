/*
 * matches.h - the papers that each filter matches, and matches that are pending.
 *
 * A match is pending while the filter does not match, but may once a field is reported
 * or changes (votes, categories).
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/**
 * Record what a filter matches in a run.
 *
 * @param papers  paper.seq, separated by commas: none that the filter matched before
 */
bool matches_save_found(struct store *store, int64_t filter_id, const char *papers,
    int64_t now, GError **error);

/** Add to the number of matches: once for all of a transaction. */
bool matches_add_total(struct store *store, unsigned count, GError **error);

/** @param total  set to the number of matches that were found so far */
bool matches_load_total(struct store *store, int64_t *total, GError **error);

/** Whether a filter matches a paper. */
bool matches_has_found(struct store *store, int64_t filter_id, int64_t paper_seq,
    bool *has, GError **error);

/** Record a pending match. @param due_at  time at which it is decided again, s */
bool matches_save_pending(struct store *store, int64_t filter_id, int64_t paper_seq,
    int64_t due_at, int64_t now, GError **error);

/** Delete a pending match, if there is one. */
bool matches_delete_pending(
    struct store *store, int64_t filter_id, int64_t paper_seq, GError **error);

/**
 * Move the matches of a paper to a duplicate of it.  Reads the whole table; the caller
 * has recorded the two as duplicates.
 */
bool matches_move(struct store *store, int64_t from, int64_t to, GError **error);

/** Find a paper with a pending match that is due. @param paper_seq  set; 0: none */
bool
matches_find_due(struct store *store, int64_t now, int64_t *paper_seq, GError **error);

/** When the next pending match is due, s. @param due_at  -1 for none */
bool matches_load_next_due(struct store *store, int64_t *due_at, GError **error);

struct stored_match {
	bool is_there; /* matched or pending */
	bool is_yes;   /* else pending */
	int64_t decided_at;
	int64_t due_at; /* of a pending match, or -1 */
};

/** Find the match of a filter and a paper. @param match  set */
bool matches_find(struct store *store, int64_t filter_id, int64_t paper_seq,
    struct stored_match *match, GError **error);

/** Load the papers that a filter matches. @return of int64_t, paper.seq */
GArray *matches_load_seqs(struct store *store, int64_t filter_id, GError **error);

/** Receives the papers of a filter. @param seqs  of int64_t @return false with an error
 */
typedef bool (*matches_found_papers)(
    void *data, int64_t filter_id, const GArray *seqs, GError **error);

/** Load the papers that several filters match. @param filters  of int64_t: ids */
bool matches_load_each(struct store *store, const GArray *filters,
    matches_found_papers found, void *data, GError **error);

/* A match and its time, s. */
struct decided_match {
	int64_t paper_seq, decided_at;
};

/** Load the matches of a filter, with times. @return of struct decided_match */
GArray *matches_load_decided(struct store *store, int64_t filter_id, GError **error);

/* A paper that a filter matches. */
struct matches_paper {
	const char *id;
	const char *title;
	const char *url;
	char day[11]; /* the last day it was listed on */
};

/**
 * Load the papers that a filter matches, listed on or after a day.
 *
 * @return of struct matches_paper *, newest first
 */
GPtrArray *matches_load_papers(
    struct store *store, int64_t filter_id, const char *oldest_day, GError **error);

/** Whether a filter was created at a time or before it. @param has  set */
bool matches_has_filter_at(
    struct store *store, int64_t filter_id, int64_t at, bool *has, GError **error);

/** Delete matches of filters with ids in (after, through] decided before a time. */
bool matches_prune(struct store *store, int64_t before, int64_t after, int64_t through,
    GError **error);
