/*
 * audit.h - audit log of changes, with the actor.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/**
 * Record a change, in the caller's transaction.
 *
 * @param who            such as "operator root"
 * @param what           a stable verb, such as "subscriber added"
 * @param subscriber_id  0 for none
 * @param detail         or NULL
 */
bool audit_insert(struct store *store, int64_t now, const char *who, const char *what,
    int64_t subscriber_id, const char *detail, GError **error);

/** Add the number of rows of a change to a sum. @param since  s */
bool audit_add_count(
    struct store *store, const char *what, int64_t since, int64_t *sum, GError **error);

struct audit_row {
	int64_t at;
	const char *who;
	const char *what;
	const char *address; /* of the subscriber, or NULL */
	const char *detail;  /* or NULL */
};

/**
 * Load the newest changes, in chronological order.
 *
 * @param subscriber_id  0 for all
 * @param since          s
 * @return of struct audit_row *
 */
GPtrArray *audit_load(struct store *store, int64_t subscriber_id, int64_t since,
    unsigned limit, GError **error);
