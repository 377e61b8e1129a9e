/*
 * source_lists.h - the configured source lists, and their state on a day.
 *
 * Written by the collector, so that the scheduler knows which lists to expect.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/* One list of a source. */
struct source_list {
	const char *name;  /* as in struct source_fetch: "arxiv/cs.CL" */
	const char *label; /* shown to users: "arXiv cs.CL" */
	int expected_by;   /* minute of a working day, UTC; -1: no expected time */
	int64_t wait_s;    /* time a digest waits for the list after that, s */
};

/**
 * Save the lists that are collected from now on.
 *
 * @param lists  of struct source_list *
 */
bool source_lists_save(struct store *store, const GPtrArray *lists, GError **error);

/**
 * Load the lists, in the order of source_lists_save().
 *
 * @return of struct source_list *
 */
GPtrArray *source_lists_load(struct store *store, GError **error);

/* State of a list for one day. */
struct source_list_day {
	int64_t listed;  /* in the last successful response; -1: none */
	int64_t stored;  /* listings of that day in the store */
	bool is_empty;   /* a response reported no papers for the day */
	char status[16]; /* of the last response; "" for none */
};

bool source_lists_load_day(struct store *store, const char *name, const char *day,
    struct source_list_day *found, GError **error);

/* Papers of a list on the days after one, up to another. */
struct source_list_sum {
	int64_t listed; /* in the last successful responses */
	int64_t stored; /* listings of those days in the store */
};

/** @param after, through  days */
bool source_lists_load_sum(struct store *store, const char *name, const char *after,
    const char *through, struct source_list_sum *sum, GError **error);

/* State of a list by the fetches that are stored (MAINTENANCE_FETCH_DAYS).  Times are
 * s, -1 for none. */
struct source_list_history {
	int64_t fetched_at;  /* of the oldest stored fetch */
	int64_t good_at;     /* of the last successful fetch */
	int64_t listed;      /* in the last response with papers; -1: none */
	bool is_failing;     /* last fetch failed */
	char newest_day[11]; /* of a successful response with papers; "" for none */
};

bool source_lists_load_history(struct store *store, const char *name,
    struct source_list_history *history, GError **error);

/**
 * Give a source another name, in a transaction of the caller: its listings and fetches,
 * identifiers of papers that are its own, and the filters of all subscribers.
 *
 * @param filters  set to the number of changed filters
 * @return false with PB_ERROR_NOT_FOUND for a source without fetches, PB_ERROR_INPUT if
 *         the new name has some
 */
bool source_lists_rename(struct store *store, const char *from, const char *to,
    unsigned *filters, GError **error);
