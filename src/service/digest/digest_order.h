/*
 * digest_order.h - order and detail of the papers of a digest.
 *
 * The default order is `score`.  Read on ten real days, votes bury the papers of narrow
 * filters below popular ones that a broad filter hardly matches; dates rarely differ.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/day.h"
#include "model/digest.h"
#include "model/subscriber.h"
#include "service/digest/digest_cache.h"
#include "store/mail/digests.h"

/* Number of answers that count as much for the rank of a paper as its score, which
 * includes votes; with more answers, what was learned from them counts more. */
#define DIGEST_ORDER_SCORE 2

/* A paper of a new digest. */
struct digest_item {
	int64_t paper_seq;
	char day[DAY_BYTES];
	int64_t upvotes;
	enum digest_detail shown;
	int64_t replacement;
	int64_t work;   /* as in struct stored_paper */
	unsigned at;    /* index of the first of its candidates, */
	unsigned finds; /* and their number */
	unsigned by;    /* index of the candidate whose filter it counts for */
	double score;   /* query/eval/rank.h; only if the order needs it */
	double rank; /* a mean of it and of what answers teach; only if the order needs
	                it */
};

/**
 * Sort papers as the subscriber prefers: those shown in full first, then titles, then
 * those only counted.
 *
 * The subscriber's max (in the digest after a pause, the number requested) is shared
 * fairly: the filters take turns, those with the fewest papers first, and in each turn
 * a filter shows the first paper that counts for it and is not shown yet.  So each
 * filter gets an equal share of max, and what it does not need goes to the others.
 *
 * A paper counts for one filter: of those that match it, the one with the fewest
 * papers in this digest, then the lowest number.  A filter with a max of its own gives
 * up its turns when it has shown that many; papers that counted for it count for the
 * next of their filters, if any.
 *
 * In the order `score`, papers of the same detail, and of the same group, are then
 * sorted by a mean of their score and of what the subscriber's answers teach
 * (service/taste/answers.h), each divided by its largest value in the digest: n answers
 * count n times, the score as much as DIGEST_ORDER_SCORE of them.  So answers neither
 * add or remove a paper nor decide which ones are shown in full.
 *
 * @param items       of struct digest_item *, by votes; gets the filter that
 *                    each one counts for
 * @param candidates  of struct candidate *, which the items index
 * @param liked       set to the learned word that raises papers most, if answers order
 *                    them, or NULL; owned by the caller
 * @return false with the store's error
 */
bool digest_order_items(struct digest_cache *cache, const struct subscriber *subscriber,
    const GPtrArray *candidates, GPtrArray *items, char **liked, GError **error);
