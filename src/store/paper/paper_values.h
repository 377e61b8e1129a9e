/*
 * paper_values.h - values of all papers, in memory.
 *
 * Searches look at these instead of reading papers.  Votes, days and lengths are read
 * at the first search of a handle, the others when the first filter needs them, and
 * again after a paper has changed; 24 bytes for each paper, then 40 for it and 16 for
 * each listing.
 */
#ifndef PAPERBOY_STORE_PAPER_PAPER_VALUES_H
#define PAPERBOY_STORE_PAPER_PAPER_VALUES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/paper.h"
#include "store/core/store.h"

struct paper_value {
	int32_t day;     /* last listed, since the epoch; PAPER_VALUE_NONE: no paper */
	uint32_t date;   /* likewise, as date_read_day() */
	int64_t upvotes; /* or PAPER_UNKNOWN */
	uint16_t words[2]; /* in title and abstract, at most 65,535 */
};

#define PAPER_VALUE_NONE G_MININT32

/**
 * Get the values of all papers, in a transaction.
 *
 * @return of struct paper_value, by seq; the store's, until the next call; NULL on
 *         error
 */
const GArray *paper_values_load(struct store *store, GError **error);

/* Further values of a paper; all 0 for none. */
struct paper_details {
	int64_t first_seen_at;
	int64_t comments, stars; /* or PAPER_UNKNOWN */
	uint32_t categories;     /* index in texts; 0: not reported */
	uint32_t organization;   /* likewise */
	uint32_t authors;        /* number of authors */
	uint8_t links;           /* bits: code 1, project 2, video 4 */
};

/* A listing; several of one service on a day are one (struct paper_listing). */
struct paper_listed {
	uint32_t seq;
	uint32_t date;   /* as date_read_day() */
	uint32_t source; /* index in texts */
	uint8_t listing_type;
	bool is_late;
};

struct paper_details_all {
	GArray *papers;   /* of struct paper_details, by seq */
	GArray *listings; /* of struct paper_listed */
	GPtrArray *texts; /* of char *, distinct; the first is NULL */
};

/** Likewise; after paper_values_load(), in its transaction. */
const struct paper_details_all *
paper_values_load_details(struct store *store, GError **error);

/** Called for each paper that has an identifier. */
typedef void (*paper_values_found)(void *data, int64_t seq, const char *text);

/** Call a function for the id, or the DOI, of each paper. */
bool paper_values_foreach_id(
    struct store *store, paper_values_found found, void *data, GError **error);
bool paper_values_foreach_doi(
    struct store *store, paper_values_found found, void *data, GError **error);

#endif
