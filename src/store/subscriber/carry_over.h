/*
 * carry_over.h - what a restored store takes from the database that it replaces.
 */
#ifndef PAPERBOY_STORE_SUBSCRIBER_CARRY_OVER_H
#define PAPERBOY_STORE_SUBSCRIBER_CARRY_OVER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/** Attach the database at a path, for the functions below, until the store is closed.
 */
bool carry_over_attach(struct store *store, const char *path, GError **error);

/** Copy suppressions. @param count  those that were not there */
bool carry_over_suppressions(struct store *store, unsigned *count, GError **error);

/**
 * Find subscribers who were erased there and are here.
 *
 * @return of int64_t, their ids
 */
GArray *carry_over_find_erased(struct store *store, GError **error);

/** Copy which numbers were erased there. */
bool carry_over_erased(struct store *store, GError **error);

/**
 * Find subscribers who have left there since the consent by which they are subscribed
 * here.
 *
 * @return of int64_t, their ids
 */
GArray *carry_over_find_left(struct store *store, GError **error);

#endif
