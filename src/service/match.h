/*
 * match.h - which papers are whose: filters against papers, once each.
 *
 * Every distinct filter looks at each text once.  A "no" that could become a
 * "yes" when votes change is kept as waiting and decided again when they do,
 * for MATCH_WAIT_DAYS; then what was never told counts as false.
 */
#ifndef PAPERBOY_SERVICE_MATCH_H
#define PAPERBOY_SERVICE_MATCH_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

/* A new filter looks back so far, and so long a match may wait. */
#define MATCH_WAIT_DAYS 14

/* A paper that comes late is matched as long as it could be mailed. */
#define MATCH_WINDOW_DAYS 30

struct match_report {
	unsigned compared; /* filters times papers */
	unsigned found;    /* new matches */
	unsigned waiting;  /* decided later */
	unsigned decided;  /* waiting matches that became a yes */
	unsigned broken;   /* stored filters that this program cannot read */
};

/**
 * Bring every filter up to date with every paper.
 *
 * Works in pages, each one commit; killed anywhere it goes on where it was.
 */
bool match_run(
    struct store *store, int64_t now, struct match_report *report, GError **error);

#endif
