/*
 * known.h - works that a subscriber knows already, which no digest has.
 *
 * They are kept by names as in paper_alias, so that also a paper that is not here yet
 * can be known.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/* Maximum number of names for a subscriber. */
#define KNOWN_MAX 20000

/** Add a name. @param is_new  set: it was not known */
bool known_add(struct store *store, int64_t subscriber_id, const char *name,
    int64_t now, bool *is_new, GError **error);

bool
known_count(struct store *store, int64_t subscriber_id, int64_t *count, GError **error);

/**
 * Load the works that are known, of the papers that are here.
 *
 * @return set of int64_t: their numbers; of papers with one record, their seqs
 */
GHashTable *
known_load_works(struct store *store, int64_t subscriber_id, GError **error);
