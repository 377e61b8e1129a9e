/*
 * filter_index.h - filters filed under the terms that a paper must have for them.
 *
 * Every filter is filed: the schema puts one that comes under TERM_ALWAYS, and
 * filter_index_save() under what query/eval/terms.h chooses, by the words that the
 * archive has seen.  What it had seen then matters for speed alone.
 */
#ifndef PAPERBOY_STORE_PAPER_FILTER_INDEX_H
#define PAPERBOY_STORE_PAPER_FILTER_INDEX_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "query/eval/terms.h"
#include "store/core/store.h"

/**
 * File a filter under its terms, and under no others.
 *
 * @param canonical  what cannot be read is filed under TERM_ALWAYS
 */
bool filter_index_save(
    struct store *store, int64_t filter_id, const char *canonical, GError **error);

/* Filter ids in (after, through]. */
struct filter_index_range {
	int64_t after;
	int64_t through;
};

/* Terms of one kind: a JSON array of their texts, best in the order of their octets. */
struct filter_index_terms {
	enum term_kind kind;
	const char *texts;
};

/**
 * Find the filters of a range that are filed under some terms.
 *
 * @param found  called for each term and filter; the term by its place, from 0
 */
bool filter_index_find(struct store *store, const struct filter_index_terms *terms,
    const struct filter_index_range *range,
    void (*found)(void *data, unsigned term, int64_t filter_id), void *data,
    GError **error);

/**
 * Walk all that the filters of a range are filed under, in the order of the terms:
 * what many terms cost to be looked up one by one, all together.
 *
 * @param found  called for each term and filter; the term lives for the call
 */
bool filter_index_foreach(struct store *store, const struct filter_index_range *range,
    void (*found)(void *data, const struct term *term, int64_t filter_id), void *data,
    GError **error);

/**
 * File anew a page of what is filed badly: what is under no term at all, and, when the
 * archive has grown to twice its size since all were filed, each of them in turn.
 *
 * A transaction of its own.  @param is_done  set to whether there is no more to do
 */
bool filter_index_rebuild(
    struct store *store, unsigned limit, bool *is_done, GError **error);

#endif
