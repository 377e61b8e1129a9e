/*
 * skipped.h - messages that were left in a mailbox, since they cannot be stored.
 *
 * A receiver identifies them by name: the file in a Maildir, UIDVALIDITY and UID in
 * IMAP.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/**
 * Record a message.
 *
 * @param is_new  set: it was not recorded before
 */
bool skipped_insert(struct store *store, const char *receiver, const char *name,
    const char *reason, int64_t now, bool *is_new, GError **error);

/** Delete a record. @param was_there  set */
bool skipped_delete(struct store *store, const char *receiver, const char *name,
    bool *was_there, GError **error);

/** Delete all records of a receiver. */
bool skipped_delete_all(struct store *store, const char *receiver, GError **error);

/** Load the names of one receiver. @return of char * */
GPtrArray *
skipped_load_names(struct store *store, const char *receiver, GError **error);

/** Load the reasons of all receivers, oldest first. @return of char * */
GPtrArray *skipped_load_reasons(struct store *store, unsigned limit, GError **error);

bool skipped_count(struct store *store, int64_t *count, GError **error);
