/*
 * match.h - matches filters with papers.
 *
 * Every distinct filter is evaluated once for each text of a paper, unless the text has
 * none of its required terms (percolator.h). Filters that have seen all papers advance
 * together in batches of papers; a new one catches up alone and then joins these. A
 * "no" that may become a "yes" when a field is reported or votes change is stored and
 * rechecked then. Such a match is called "waiting" in service/match and in reports of
 * the status, and "pending" in the store (store/paper/matches.h).
 *
 * A missing value is false once its field is final.  Fields that are looked up are
 * final at settled_at of the paper (papers.h); all others MATCH_WAIT_DAYS after the
 * time when the paper was first seen, limited to the day (UTC) of its last listing (not
 * before its start, not after its end) and rounded down to the hour.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "query/query.h"
#include "store/core/store.h"
#include "store/paper/papers.h"

/* Days after which missing values of a paper are final; also how far back new filters
 * are matched. The first digest shows DIGEST_FIRST_DAYS of these. */
#define MATCH_WAIT_DAYS 14

/* Days after its last listing for which a paper is matched: as long as digests may have
 * it (DIGEST_ELIGIBLE_DAYS). */
#define MATCH_WINDOW_DAYS 30

struct match_report {
	unsigned filters; /* filters evaluated, once for each batch of papers */
	unsigned papers;  /* papers evaluated, once for each filter */
	unsigned found;   /* new matches */
	unsigned waiting; /* matches to be decided later, see above */
	unsigned decided; /* waiting matches that became true */
	unsigned broken;  /* stored filters that cannot be parsed */
};

/**
 * Match every filter with every paper that it has not seen.
 *
 * Works in commits of limited size. After a crash or a stop (store_set_stop()) the
 * next run continues there.
 */
bool match_run(
    struct store *store, int64_t now, struct match_report *report, GError **error);
