/*
 * filter_index.h - index of filters by the terms that a matching paper must contain.
 *
 * Every filter is indexed: the schema adds a new one under TERM_ALWAYS, and
 * filter_index_save() replaces that by the terms that query/eval/terms.h selects, by
 * word frequencies in the archive.  Outdated frequencies affect speed only.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "query/eval/terms.h"
#include "store/core/store.h"

/**
 * Index a filter under its terms, and remove its other entries.
 *
 * @param canonical  indexed under TERM_ALWAYS if it cannot be parsed
 */
bool filter_index_save(
    struct store *store, int64_t filter_id, const char *canonical, GError **error);

/* Filter ids in (after, through]. */
struct filter_index_range {
	int64_t after;
	int64_t through;
};

/* Terms of one kind, of char *; fastest when sorted by bytes. */
struct filter_index_terms {
	enum term_kind kind;
	const GPtrArray *texts;
};

/**
 * Find the filters of a range that are indexed under some terms.
 *
 * @param found  called for each term and filter, with the index of the term, from 0
 */
bool filter_index_find(struct store *store, const struct filter_index_terms *terms,
    const struct filter_index_range *range,
    void (*found)(void *data, unsigned term, int64_t filter_id), void *data,
    GError **error);

/**
 * Index the filters without a term, which appear after damage or manual changes only.
 *
 * @param limit  filters in a transaction
 */
bool filter_index_repair(struct store *store, unsigned limit, GError **error);

/**
 * Once the archive has doubled or halved in size since the last rebuild, index each
 * filter in turn: one batch of them.
 *
 * @param is_done  set; whether nothing is left to do
 */
bool filter_index_rebuild(
    struct store *store, unsigned limit, bool *is_done, GError **error);
