/*
 * coverage.h - whether all sources have answered for the day.
 *
 * Each list is expected by a minute of each working day (Monday to Friday, UTC).
 * Digests and `status` show the state of all lists in one line.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/day.h"
#include "base/po.h"
#include "store/core/store.h"

enum coverage_state {
	COVERAGE_OK,     /* the list of the day has been read */
	COVERAGE_QUIET,  /* the source reported a day without papers */
	COVERAGE_LATE,   /* it is overdue */
	COVERAGE_STALE,  /* the list of an earlier day under this day's date */
	COVERAGE_FAILED, /* the last request failed */
	COVERAGE_NEW,    /* never fetched */
};

struct coverage_list {
	char *name;
	char *label;
	enum coverage_state state;
	char day[DAY_BYTES]; /* the last one expected; "" for a list without days */
	char since_day[DAY_BYTES]; /* LATE, STALE and FAILED: the first missing day */
	int64_t listed;            /* OK: papers in the source's answer */
	int64_t stored;            /* OK: papers stored; -1: not counted */
	int64_t expected_at;       /* s; -1 for a list without days */
	int64_t wait_s;
};

struct coverage {
	GPtrArray *lists; /* of struct coverage_list * */
	/* Digests due at this time or later wait; -1: none. */
	int64_t held_from;
	int64_t held_until; /* end of the wait, s */
	int64_t now;
};

/** Load the state of all lists. @return NULL if the store fails */
struct coverage *coverage_load(struct store *store, int64_t now, GError **error);

/**
 * Format the state of all lists in one line: "arXiv: 12 new papers checked; Hugging
 * Face has had no new papers since Tuesday".
 *
 * @param after  count the papers of the days after this one; NULL, or no list since:
 *               those of the newest list
 * @param po     of a language; NULL for English
 * @param missing  set to the lists that are late, stale or failed, which the line does
 *                 not have then, or ""; owned by the caller.  Or NULL
 * @return owned by the caller; "" without lists; NULL if the store fails
 */
char *coverage_format_line(const struct coverage *coverage, struct store *store,
    const char *after, const struct po *po, char **missing, GError **error);

/** Whether there are lists, and none of them has been read or is known to be empty. */
bool coverage_is_failed(const struct coverage *coverage);

void coverage_free(struct coverage *coverage);
PB_DEFINE_AUTO(coverage, coverage_free);
