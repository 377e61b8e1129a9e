/*
 * digest_decide.h - whether a paper is in a subscriber's next digest, and if not, why.
 *
 * Nothing else decides this: digests are built by it, and `why` prints it.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/subscriber.h"
#include "service/digest/digest_cache.h"
#include "store/mail/candidates.h"

/* In the order of the checks: an outcome has passed all checks before it. */
enum digest_outcome {
	DIGEST_OUTCOME_DELIVERED, /* as DIGEST_EXCLUSION_DELIVERED, ... */
	DIGEST_OUTCOME_IN_PROGRESS,
	DIGEST_OUTCOME_REJECTED,
	DIGEST_OUTCOME_NOT_MATCHED,   /* no filter matches it */
	DIGEST_OUTCOME_BEFORE_FILTER, /* last listed before a filter's first day */
	DIGEST_OUTCOME_TOO_OLD,       /* last listed over DIGEST_ELIGIBLE_DAYS ago */
	DIGEST_OUTCOME_UNWANTED,      /* since then, only cross-listed or replaced */
	DIGEST_OUTCOME_BLOCKED,
	DIGEST_OUTCOME_BLOCK_PENDING, /* a block needs fields that are being looked up
	                               */
	DIGEST_OUTCOME_KNOWN,         /* the subscriber knows it already */
	DIGEST_OUTCOME_RECORD,        /* another record of its work was delivered */
	DIGEST_OUTCOME_INCLUDED,
};

struct digest_decision {
	enum digest_outcome outcome;
	const struct candidate_filter *block; /* borrowed; of BLOCKED, BLOCK_PENDING */
	const char *record_id;                /* borrowed; of RECORD */
};

/* Filters, blocks, history and settings of a subscriber, which decide. */
struct digest_rules {
	const gpointer *filters; /* of struct candidate_filter *: with the blocks */
	unsigned filter_count;
	int64_t subscriber_id;
	GArray *excluded; /* of struct candidate_previous */
	/* paper_history_load_deliveries(), loaded for the first paper that needs it. */
	GHashTable *delivered;
	/* known_load_works(), loaded for the first paper that would be included. */
	GHashTable *known;
	bool wants_crosslist;
	bool wants_updates;
	bool wants_records; /* also other records of a delivered work */
};

/**
 * Load the rules of a subscriber.
 *
 * @param filters  of struct candidate_filter *: also of others, by subscriber; borrowed
 */
struct digest_rules *digest_rules_load(struct digest_cache *cache,
    const struct subscriber *subscriber, const GPtrArray *filters, GError **error);
void digest_rules_free(struct digest_rules *rules);
PB_DEFINE_AUTO(digest_rules, digest_rules_free);

/**
 * Find the candidates for the next digest: the papers that the subscriber's filters
 * match, listed on or after the filter's first day.
 *
 * @return of struct candidate *: papers in reading order (votes, day, id), the
 *         filters of one paper side by side, by number
 */
GPtrArray *
digest_find_candidates(struct digest_cache *cache, const struct digest_rules *rules);

/* A paper and the filters of one subscriber that match it. */
struct digest_matches {
	const struct listed_paper *paper;
	const gpointer *candidates; /* of struct candidate * */
	unsigned count;
};

/**
 * Decide about one paper.
 *
 * @param eligible  gets those matches that put it into the digest; none otherwise
 */
bool digest_decide(struct digest_cache *cache, struct digest_rules *rules,
    const struct digest_matches *matches, GPtrArray *eligible,
    struct digest_decision *decision, GError **error);
