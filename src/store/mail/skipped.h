/*
 * skipped.h - messages that stay in a mailbox, since they cannot be taken in.
 *
 * A mailbox finds its messages again by name: the file of a Maildir, UIDVALIDITY and
 * UID of IMAP.  None of these functions opens a transaction.
 */
#ifndef PAPERBOY_STORE_MAIL_SKIPPED_H
#define PAPERBOY_STORE_MAIL_SKIPPED_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/**
 * Record one.
 *
 * @param is_new  set on success: false when it was recorded before, which stays
 */
bool skipped_insert(struct store *store, const char *receiver, const char *name,
    const char *reason, int64_t now, bool *is_new, GError **error);

/** Forget one. @param was_there  set on success */
bool skipped_delete(struct store *store, const char *receiver, const char *name,
    bool *was_there, GError **error);

/** Forget all of a mailbox. */
bool skipped_delete_all(struct store *store, const char *receiver, GError **error);

/** Load the names of one mailbox. @return of char *, or NULL */
GPtrArray *
skipped_load_names(struct store *store, const char *receiver, GError **error);

/** Load why, the oldest first, of all mailboxes. @return of char *, or NULL */
GPtrArray *skipped_load_reasons(struct store *store, unsigned limit, GError **error);

bool skipped_count(struct store *store, int64_t *count, GError **error);

#endif
