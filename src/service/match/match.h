/*
 * match.h - which papers are whose: filters against papers, once each.
 *
 * Every distinct filter looks at each text once, unless it has none of the words
 * without which the filter cannot be true: then it is not even shown to it
 * (percolator.h). The crowd of filters is moved on by batches of papers; one that is
 * new looks back by itself, and joins the crowd when it has caught up.  A "no" that
 * could become a "yes" when a field is told or votes change is kept as waiting and
 * decided again when they do.  What arXiv tells is waited for PAPERS_ENRICH_S after the
 * paper was first seen, all else MATCH_WAIT_DAYS after its last day; then what was not
 * told counts as false, and what waits is decided for good.
 */
#ifndef PAPERBOY_SERVICE_MATCH_MATCH_H
#define PAPERBOY_SERVICE_MATCH_MATCH_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "query/query.h"
#include "store/core/store.h"
#include "store/paper/papers.h"

/* A new filter looks back so far, and so long a match may wait. */
#define MATCH_WAIT_DAYS 14

/* A paper that comes late is matched as long as it could be mailed. */
#define MATCH_WINDOW_DAYS 30

struct match_report {
	unsigned asked;    /* filters, for each batch of papers that they were shown */
	unsigned compared; /* papers shown to filters */
	unsigned found;    /* new matches */
	unsigned waiting;  /* decided later */
	unsigned decided;  /* waiting matches that became a yes */
	unsigned broken;   /* stored filters that this program cannot read */
};

/**
 * Bring every filter up to date with every paper.
 *
 * Works in pages, each one commit; killed anywhere, or asked to stop
 * (store_set_stop()), it goes on where it was.
 */
bool match_run(
    struct store *store, int64_t now, struct match_report *report, GError **error);

/** What counts as told of a paper at a time. */
enum query_finality match_get_finality(const struct stored_paper *stored, int64_t now);

/** Make a paper ready for filters, as told at a time. @return NULL with TEMPORARY */
struct query_document *match_make_document(struct store *store,
    const struct stored_paper *stored, int64_t now, GError **error);

/** Until when a match that cannot be decided now will wait. */
int64_t match_get_recheck_time(
    const struct query *query, const struct stored_paper *stored, int64_t now);

/** When the next waiting match is to be decided. @param due_at  -1 for never */
bool match_load_next_due(struct store *store, int64_t *due_at, GError **error);

#endif
