/*
 * erase.h - erase a subscriber (GDPR article 17), and manage the suppression list.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/* Reasons stored with suppressions. */
#define ERASE_NEVER_AGAIN "never-again"
#define ERASE_OPERATOR    "operator"

struct erase_request {
	const char *address;
	bool is_never_again; /* keep an HMAC of the address, so that it cannot be
	                        added again */
	GBytes *key;         /* the secret of the state directory */
	const char *who;     /* for the audit log */
};

/**
 * Erase all data about an address, including that of former subscribers and of senders
 * who never subscribed: the row, digests, messages with their replies, filters without
 * another subscriber with their matches, and audit entries.  This is one commit; then
 * the database file is rewritten and its log truncated, to remove the bytes as well.
 *
 * A message that is being sent is still delivered, and the relay's reply is dropped.
 * Data elsewhere is not erased: backups, the relay's log and queue, delivered mail.
 *
 * @return false with PB_ERROR_NOT_FOUND; or with PB_ERROR_TEMPORARY if the rows are
 *         erased but the file could not be rewritten: retry with erase_clean()
 */
bool erase_person(struct store *store, const struct erase_request *request, int64_t now,
    GError **error);

/**
 * Erase subscribers whose erasure waited for a last reply that has been sent or has
 * expired since.  Must not be called in a transaction.
 *
 * @param count  increased by the number erased
 * @return as erase_person(); the next call continues after an error
 */
bool erase_finish(
    struct store *store, GBytes *key, int64_t now, unsigned *count, GError **error);

/** Rewrite the database file if an earlier erasure failed to. */
bool erase_clean(struct store *store, GError **error);

/**
 * Put an address on the suppression list: it is never mailed again.  A subscriber with
 * that address is removed as by subscribe_remove().
 *
 * @param reason  operator, never-again, complaint or dead
 */
bool erase_suppress(struct store *store, const struct erase_request *request,
    const char *reason, int64_t now, GError **error);

/**
 * Take an address off the suppression list; a removed subscriber is not restored.
 *
 * @return false with PB_ERROR_NOT_FOUND
 */
bool erase_release(struct store *store, const struct erase_request *request,
    int64_t now, GError **error);
