/*
 * erasure.h - delete all rows about a person (personal_data.h), immediately or after
 * delivery of the last message has ended.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/**
 * Delete all rows about a subscriber, and filters that no subscriber has any more.
 *
 * A message in flight is still delivered; its result is dropped.  The database files
 * contain the deleted rows until store_erase().
 */
bool erasure_delete_person(struct store *store, int64_t subscriber_id, GError **error);

/** Delete all rows about an address that never subscribed. @param count  set: rows */
bool erasure_delete_address(struct store *store, const char *address_key,
    const char *address, unsigned *count, GError **error);

/** Request an erasure after delivery of a message has ended. */
bool erasure_insert_pending(struct store *store, const char *address_key,
    const char *address, int64_t outbox_id, int64_t now, GError **error);

/**
 * Find a pending erasure whose message has ended. @param address  set; NULL for none
 */
bool erasure_find_pending(struct store *store, char **address, GError **error);

bool erasure_has_pending(struct store *store, bool *has, GError **error);
