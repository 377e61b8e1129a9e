/*
 * carry_over.h - data that a restored store copies from the database it replaces.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/** Attach the old database for the functions below, until the store is closed. */
bool carry_over_attach(struct store *store, const char *path, GError **error);

/** Copy suppressions. @param count  set; number of new ones */
bool carry_over_suppressions(struct store *store, unsigned *count, GError **error);

/**
 * Find subscribers erased in the old database but present in this one.
 *
 * @return of int64_t, their ids
 */
GArray *carry_over_find_erased(struct store *store, GError **error);

/** Copy the ids of erased subscribers. */
bool carry_over_erased(struct store *store, GError **error);

/**
 * Find subscribers who unsubscribed in the old database after the consent recorded in
 * this one.
 *
 * @return of int64_t, their ids
 */
GArray *carry_over_find_left(struct store *store, GError **error);

/** Copy when private feeds were turned on or off: revoked tokens stay invalid. */
bool carry_over_feeds(struct store *store, GError **error);

/**
 * End shares and follows that have ended, delete what was forgotten of a taste, and
 * copy newer answers to papers and proposals.
 */
bool carry_over_answers(struct store *store, GError **error);
