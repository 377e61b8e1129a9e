/*
 * candidates.h - what the papers of a subscriber's next digest are chosen from.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"
#include "store/paper/papers.h"

/* A filter of a subscriber, or a block, which excludes papers. */
struct candidate_filter {
	int64_t subscriber_id;
	int64_t filter_id;
	int number;
	const char *label;  /* the name, or the text as typed */
	const char *text;   /* as typed */
	char since_day[11]; /* first day */
	int64_t created_at; /* when the subscriber added it, s */
	int max_papers;     /* that may be shown in full; 0: no limit */
	bool is_block;
};

/* A paper that a filter matches. */
struct candidate {
	const struct listed_paper *paper;
	const struct candidate_filter *filter;
};

/**
 * Load the filters and blocks of subscribers.
 *
 * @param subscribers  of struct subscriber *
 * @return of struct candidate_filter *, by subscriber and number
 */
GPtrArray *candidates_load_filters(
    struct store *store, const gpointer *subscribers, unsigned count, GError **error);

/* Reason in the history of a paper to exclude it from a subscriber's digests. */
enum digest_exclusion {
	DIGEST_EXCLUSION_NONE,
	DIGEST_EXCLUSION_DELIVERED,   /* delivered lately, and not replaced since */
	DIGEST_EXCLUSION_IN_PROGRESS, /* in a digest whose message has not ended */
	DIGEST_EXCLUSION_REJECTED,    /* in two messages rejected for their content */
};

/* The digests of a subscriber before the next one. */
struct candidate_previous {
	int64_t subscriber_id;
	char *slot;       /* of the next digest, or NULL */
	bool has_slot;    /* there is a digest of this slot */
	bool has_digests; /* false: the store has no digest of the subscriber */
	bool has_taste;   /* learned from answers */
	bool has_known;   /* works that the subscriber knows */
	bool has_watched; /* papers, perhaps until a time that is over */
	unsigned papers;  /* number of those that are excluded, with duplicates */
	/*
	 * Papers that are excluded.  Those delivered before DIGEST_RECENT_DAYS are not
	 * among them: they are too old for a digest, unless first seen that long ago.
	 */
	GArray *excluded;
	GError *problem; /* PB_ERROR_DAMAGED, and some are missing; or NULL */
};

/**
 * Load it for several subscribers.
 *
 * @param all  with subscribers and slots; the rest is set
 */
bool candidates_load_previous(struct store *store, struct candidate_previous **all,
    unsigned count, int64_t now, GError **error);
void candidate_previous_free(struct candidate_previous *previous);

/**
 * Find out whether a paper is excluded, and why.
 *
 * @param excluded     of struct candidate_previous
 * @param replacement  that the subscriber has to have seen; 0: any
 */
enum digest_exclusion
candidates_find_exclusion(const GArray *excluded, int64_t seq, int64_t replacement);
