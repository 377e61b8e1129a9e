/*
 * personal_data.h - the inventory of personal data: export and erasure of every table.
 *
 * A test fails for a table that is neither in personal_data[] nor in its own list of
 * tables without personal data.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

#define PERSONAL_DATA_FIELDS 9

struct personal_data {
	const char *table;
	const char *section; /* in an export; NULL: none */
	const char
	    *fields[PERSONAL_DATA_FIELDS + 1]; /* of the section; NULL-terminated */
	const char *load;  /* SQL of these fields; ?1 is the subscriber; or NULL */
	const char *erase; /* SQL; ?1 is the subscriber; NULL: deleted by cascade, or
	                      personal_data_erase_inbox() */
	const char *erase_address; /* SQL; ?1 address key, ?2 address; or NULL */
};

/* In the order of an export; erased in reverse order.  Ends with a NULL table. */
extern const struct personal_data personal_data[];

/**
 * Load the rows of a section, oldest first.
 *
 * @return of char **, a string or NULL for each of PERSONAL_DATA_FIELDS; times are UTC
 */
GPtrArray *personal_data_load(struct store *store, const struct personal_data *data,
    int64_t subscriber_id, GError **error);

/**
 * Delete quarantined messages that are from one of these addresses, or contain one.
 *
 * @param count  set to their number
 */
bool personal_data_erase_inbox(
    struct store *store, const GPtrArray *addresses, unsigned *count, GError **error);
