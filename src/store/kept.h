/*
 * kept.h - what is kept about a person in passing: mail, tickets, letters, refusals.
 *
 * The same rows that erasure.h takes away, for who asks what there is.
 */
#ifndef PAPERBOY_STORE_KEPT_H
#define PAPERBOY_STORE_KEPT_H

#include <glib.h>
#include <stdint.h>

#include "store/store.h"

#define KEPT_FIELDS 8

/* The kinds, and the names of their fields; both end with NULL. */
struct kept_kind {
	const char *name;
	const char *fields[KEPT_FIELDS + 1];
};

extern const struct kept_kind kept_kinds[];

/**
 * Load all rows of a kind, the oldest first.
 *
 * @param kind  its index
 * @return of char **, a string or NULL for each of KEPT_FIELDS; times are UTC
 */
GPtrArray *
kept_load(struct store *store, unsigned kind, int64_t subscriber_id, GError **error);

#endif
