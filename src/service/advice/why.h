/*
 * why.h - why a paper is, or is not, in a subscriber's digest.
 *
 * For a subscriber and a paper: its listings, the verdict of each filter and block by
 * clause, its digests, and the outcome, which is the digest's own decision
 * (digest_decide.h). For a filter and a paper: the clauses alone.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/day.h"
#include "query/query.h"
#include "service/taste/scorer.h"
#include "store/core/store.h"
#include "store/paper/papers.h"

/* Outcome; also a name for scripts. */
enum why_outcome {
	WHY_SENT, /* mailed */
	WHY_READ, /* its message was cancelled or abandoned in doubt: counts as read */
	WHY_IN_DELIVERY,     /* in a digest whose message has not ended */
	WHY_REFUSED,         /* in two messages rejected for their content */
	WHY_UNSUBSCRIBED,    /* the subscriber has left */
	WHY_NO_FILTER,       /* the subscriber has no filter */
	WHY_NOT_MATCHED_YET, /* to be matched within a minute */
	WHY_NO_CLAUSE,       /* no filter matches it */
	WHY_TOO_LATE,       /* a filter matches it, but did not when that was decided */
	WHY_NOT_STORED,     /* older than the records of deliveries */
	WHY_WAITING,        /* a filter waits for a field that is not reported yet */
	WHY_NOT_SUBSCRIBED, /* listed before the subscription */
	WHY_FILTER_NEWER,   /* listed before the filter's first day */
	WHY_UNWANTED, /* only cross-listed or replaced, which the subscriber does not
	                 want */
	WHY_BLOCKED,  /* a block excludes it */
	WHY_BLOCK_WAITING, /* a block waits for a lookup */
	WHY_TOO_OLD,       /* listed too long ago for the next digest */
	WHY_KNOWN,         /* the subscriber knows it already */
	WHY_RECORD,        /* another record of its work was mailed */
	WHY_NOT_ACTIVE,    /* the subscriber is paused, suspended or not confirmed */
	WHY_NEXT,          /* in the next digest */
};

/* One filter's verdict on the paper. */
struct why_filter {
	int number;  /* 0: not a stored filter */
	char *label; /* its name, else its text */
	char *canonical;
	bool is_block;
	bool is_readable; /* false: it cannot be parsed, and steps is empty */
	char since_day[DAY_BYTES];
	enum query_verdict truth; /* as known now */
	bool is_found;            /* it matched once, which stays */
	int64_t found_at;         /* s, or -1 */
	int64_t waits_until;      /* s, or -1: not waiting */
	bool waits_for_lookup;    /* else for votes and the like */
	GPtrArray *steps;         /* of struct query_step * */
};

struct why {
	struct stored_paper *stored; /* owned */
	GPtrArray *listings;         /* of struct paper_history_listing * */
	GPtrArray *filters;          /* of struct why_filter *, by number */
	GPtrArray *digests; /* of struct paper_history_digest *, oldest first */
	enum why_outcome outcome;
	char *sentence; /* outcome in words, without a full stop */
	int64_t at;     /* time of the outcome, s, or -1 */
	/* Effect of the subscriber's answers on its place in a digest. */
	struct scorer_reasons taste; /* NULL texts without answers */
};

/**
 * Explain for a subscriber.
 *
 * @param paper_id  canonical
 * @return NULL with PB_ERROR_NOT_FOUND when the address was never a subscriber, or no
 *         source has listed the paper
 */
struct why *why_find_outcome(struct store *store, const char *address,
    const char *paper_id, int64_t now, GError **error);
void why_free(struct why *why);
PB_DEFINE_AUTO(why, why_free);

/**
 * Explain for a filter alone.
 *
 * @param text      as typed
 * @param stored    the paper; NULL: the clauses only, with undefined verdicts
 * @param warnings  NULL, or set to an array of struct msg *
 * @param problem   NULL, or cleared by the caller: filled on a syntax error
 */
struct why_filter *
why_explain(struct store *store, const char *text, const struct stored_paper *stored,
    int64_t now, GPtrArray **warnings, struct query_error *problem, GError **error);
void why_filter_free(struct why_filter *filter);
PB_DEFINE_AUTO(why_filter, why_filter_free);

/** "sent", "no-clause" ... for scripts */
const char *why_outcome_name(enum why_outcome outcome);

/**
 * Find the paper that somebody means: by its id or a link to it, or, if there is a
 * blank in the text, by words of its title.
 *
 * @return its id, perhaps of no paper; NULL with PB_ERROR_NOT_FOUND if no title has
 *         these words, or PB_ERROR_INPUT, with their ids, if several have them
 */
char *why_find_id(struct store *store, const char *text, int64_t now, GError **error);

/** Reduce "arXiv:2611.10010v2" or a link to it to the id 2611.10010, a DOI or a link to
 * it to "doi:10.1101/1", "41792208" to "pmid:41792208", "PMC1" to "pmcid:PMC1". */
char *why_clean_id(const char *text);

/** "true", "false", "unknown" */
const char *why_verdict_name(enum query_verdict truth);
