/*
 * erase.h - erase a person (GDPR article 17), and manage the suppression list.
 */
#ifndef PAPERBOY_SERVICE_PEOPLE_ERASE_H
#define PAPERBOY_SERVICE_PEOPLE_ERASE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/* The reasons that suppressions are given here. */
#define ERASE_NEVER_AGAIN "never-again"
#define ERASE_OPERATOR    "operator"

struct erase_request {
	const char *address;
	bool is_never_again; /* keep an HMAC of the address, so that nobody adds it
	                        again */
	GBytes *key;         /* the secret of the state folder */
	const char *who;     /* for the audit */
};

/**
 * Erase all that is kept about a person, also one who left before or was only ever
 * asked or answered: the row, digests, messages with their replies, filters that
 * nobody else has with their matches, the audit of the person.  One commit; then the
 * store's file is written anew and its log cut, so that the bytes are gone too.
 *
 * A message that is being sent at this moment reaches its reader, and what the
 * relay says of it is dropped.  What is elsewhere stays: backups, the relay's own log
 * and queue, mail that has arrived.
 *
 * @return false with PB_ERROR_NOT_FOUND; or with PB_ERROR_TEMPORARY when the rows are
 *         gone and the file could not be cleaned: erase_clean() goes on with that
 */
bool erase_person(struct store *store, const struct erase_request *request, int64_t now,
    GError **error);

/**
 * Erase everybody whose last answer is out, or was given up.  Not in a transaction.
 *
 * @param count  increased
 * @return as erase_person(); what is left is done by the next call
 */
bool erase_finish(
    struct store *store, GBytes *key, int64_t now, unsigned *count, GError **error);

/** Clean the file when an erasure before could not; does nothing else. */
bool erase_clean(struct store *store, GError **error);

/**
 * Keep an address from ever being mailed.  Who is a subscriber there leaves, as by
 * subscribe_remove().
 *
 * @param reason  operator, never-again, complaint or dead
 */
bool erase_suppress(struct store *store, const struct erase_request *request,
    const char *reason, int64_t now, GError **error);

/** Let an address be mailed again; who left stays away. @return PB_ERROR_NOT_FOUND */
bool erase_release(struct store *store, const struct erase_request *request,
    int64_t now, GError **error);

#endif
