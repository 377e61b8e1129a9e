/*
 * confirmations.h - pending actions: double opt-in, undo, erasure.
 *
 * Of a token only its hash is kept.  A confirmation does what was fixed when it was
 * made, for the address it was made for, once, and not after its time.  None of these
 * functions opens a transaction.
 */
#ifndef PAPERBOY_STORE_SUBSCRIBER_CONFIRMATIONS_H
#define PAPERBOY_STORE_SUBSCRIBER_CONFIRMATIONS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "store/core/store.h"

enum confirmation_purpose {
	CONFIRMATION_CONFIRM,
	CONFIRMATION_UNDO,
	CONFIRMATION_ADDRESS, /* a change of address, which both have to confirm */
	CONFIRMATION_FORGET,
};

struct confirmation {
	int64_t id; /* never used twice */
	char *hash; /* token_hash_random() */
	enum confirmation_purpose purpose;
	char *address;     /* whom it acts for, an addr-spec */
	char *address_key; /* as address_format_key() */
	char *recipient;   /* to whom the token was mailed: that, or a new address */
	int64_t subscriber_id; /* or 0 */
	char *action;  /* lines for command_run_confirmed(); "" once it was used */
	char *details; /* how it was asked for, for the consent; or NULL */
	int64_t made_at;
	int64_t expires_at;
	int64_t used_at; /* or -1 */
	int64_t
	    questioned_at; /* an unclear reply was answered with a question; or -1 */
};

void confirmation_free(struct confirmation *confirmation);
PB_DEFINE_AUTO(confirmation, confirmation_free);

/** "confirm", "undo", "address" or "forget". */
const char *confirmation_purpose_name(enum confirmation_purpose purpose);

/** Take away what is not used of a purpose and an address: a new one takes its place.
 */
bool confirmations_revoke(struct store *store, enum confirmation_purpose purpose,
    const char *address_key, GError **error);

/** Store a confirmation. @param confirmation  its id is set */
bool confirmations_insert(
    struct store *store, struct confirmation *confirmation, GError **error);

/** Find by hash, or by id for a bounce. @param confirmation  set; NULL for none */
bool confirmations_find(struct store *store, const char *hash,
    struct confirmation **confirmation, GError **error);
bool confirmations_find_id(struct store *store, int64_t id,
    struct confirmation **confirmation, GError **error);

/** Find the newest pending one of an address. @param confirmation  set; NULL for none
 */
bool confirmations_find_pending(struct store *store, enum confirmation_purpose purpose,
    const char *address_key, int64_t now, struct confirmation **confirmation,
    GError **error);

/**
 * Use a confirmation: it does nothing any more, and forgets what it did.
 *
 * @return false with PB_ERROR_INPUT when it was used before
 */
bool
confirmations_consume(struct store *store, int64_t id, int64_t now, GError **error);

/** Record that an unclear reply to it was answered. */
bool confirmations_save_questioned(
    struct store *store, int64_t id, int64_t now, GError **error);

/** Take one away, as if it had never been made. */
bool confirmations_delete(struct store *store, int64_t id, GError **error);

/** How many tickets of a purpose and an address were used. */
bool confirmations_count_used(struct store *store, enum confirmation_purpose purpose,
    const char *address_key, int64_t *count, GError **error);

/** How many of all wait for a confirmation. */
bool confirmations_count_pending(
    struct store *store, int64_t now, int64_t *count, GError **error);

/**
 * Load a page of those that wait, by number.
 *
 * @param after  the last number of the page before, 0 at first
 * @return of struct confirmation *
 */
GPtrArray *confirmations_load_page(
    struct store *store, int64_t now, int64_t after, unsigned limit, GError **error);

/** Forget up to a limit of tickets whose time was over before a time. @param count set
 */
bool confirmations_prune(struct store *store, int64_t before, unsigned limit,
    unsigned *count, GError **error);

#endif
