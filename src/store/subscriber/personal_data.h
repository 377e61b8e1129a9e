/*
 * personal_data.h - what is kept about a person in passing: mail, tickets, letters,
 * refusals.
 *
 * The same rows that erasure.h takes away, for who asks what there is.
 */
#ifndef PAPERBOY_STORE_SUBSCRIBER_PERSONAL_DATA_H
#define PAPERBOY_STORE_SUBSCRIBER_PERSONAL_DATA_H

#include <glib.h>
#include <stdint.h>

#include "store/core/store.h"

#define PERSONAL_DATA_FIELDS 8

/* The kinds, and the names of their fields; both end with NULL. */
struct personal_data_kind {
	const char *name;
	const char *fields[PERSONAL_DATA_FIELDS + 1];
};

extern const struct personal_data_kind personal_data_kinds[];

/**
 * Load all rows of a kind, the oldest first.
 *
 * @param kind  its index
 * @return of char **, a string or NULL for each of PERSONAL_DATA_FIELDS; times are UTC
 */
GPtrArray *personal_data_load(
    struct store *store, unsigned kind, int64_t subscriber_id, GError **error);

#endif
