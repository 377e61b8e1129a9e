/*
 * paper_values.h - votes, days and lengths of all papers, in memory.
 *
 * Searches look at these for each paper with a word.  They are read at the first search
 * of a handle, and again after a paper has changed; 24 bytes for each paper.
 */
#ifndef PAPERBOY_STORE_PAPER_PAPER_VALUES_H
#define PAPERBOY_STORE_PAPER_PAPER_VALUES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

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

#endif
