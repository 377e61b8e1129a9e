/*
 * erasure.h - taking a person out of every table.
 */
#ifndef PAPERBOY_STORE_SUBSCRIBER_ERASURE_H
#define PAPERBOY_STORE_SUBSCRIBER_ERASURE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/**
 * Delete all rows about a person, whatever state their mail is in, and every filter
 * that nobody has any more with its matches; in the caller's transaction.
 *
 * A message that is being sent goes its way; what becomes of it is not recorded.
 * What was deleted is in the files until store_erase().
 */
bool erasure_delete_person(struct store *store, int64_t subscriber_id, GError **error);

/**
 * Erase what is kept about an address that was never a person's here: what it was asked
 * or answered.
 *
 * @param count  set to how many rows there were
 */
bool erasure_delete_address(struct store *store, const char *address_key,
    const char *address, unsigned *count, GError **error);

/** Let a person be erased once a message has ended; in the caller's transaction. */
bool erasure_insert_pending(struct store *store, const char *address_key,
    const char *address, int64_t outbox_id, int64_t now, GError **error);

/** Find a pending erasure whose last message has ended. @param address  set; NULL: none
 */
bool erasure_find_pending(struct store *store, char **address, GError **error);

/** Whether anybody waits to be erased. */
bool erasure_has_pending(struct store *store, bool *has, GError **error);

#endif
