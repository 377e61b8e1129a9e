/*
 * coverage.h - proof that nothing new means nothing new.
 *
 * Each list of a source is expected by a minute of each working day (Monday to Friday,
 * UTC).  What came, or did not, is told in one line of every digest and of status.
 */
#ifndef PAPERBOY_SERVICE_COLLECT_COVERAGE_H
#define PAPERBOY_SERVICE_COLLECT_COVERAGE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/day.h"
#include "store/core/store.h"

enum coverage_state {
	COVERAGE_OK,     /* the list of the day was read */
	COVERAGE_QUIET,  /* the source said that the day has no papers */
	COVERAGE_LATE,   /* it should be there and is not */
	COVERAGE_STALE,  /* the list of an earlier day came under this day's date */
	COVERAGE_FAILED, /* the last answer was none */
	COVERAGE_NEW,    /* it has never been asked */
};

struct coverage_list {
	char *name;
	char *label;
	enum coverage_state state;
	char day[DAY_BYTES];       /* the last one that was expected; "" for any */
	char since_day[DAY_BYTES]; /* of LATE, STALE and FAILED: the first that is
	                              missing */
	int64_t listed;            /* of OK: in the source's answer */
	int64_t read;              /* of OK: papers kept of it; -1: not counted */
	int64_t expected_at;       /* s; -1 for any */
	int64_t wait_s;
};

struct coverage {
	GPtrArray *lists; /* of struct coverage_list * */
	/* Editions that are due at this time or later wait; -1: none does. */
	int64_t held_from;
	int64_t held_until; /* and not longer than until then */
	int64_t now;
};

/** Look at all lists that are collected. @return NULL when the store fails */
struct coverage *coverage_load(struct store *store, int64_t now, GError **error);

/**
 * Format the state of all lists in one line: "arXiv: 12 listed; Hugging Face late since
 * Tue".
 *
 * @param texts  of a language, by enum msg_id; NULL is English
 * @return a new string; "" when nothing is collected
 */
char *coverage_format_line(const struct coverage *coverage, const char *const *texts);
void coverage_free(struct coverage *coverage);
PB_DEFINE_AUTO(coverage, coverage_free);

#endif
