/*
 * confirmations.h - pending actions: double opt-in, undo, erasure.
 *
 * Only the hash of a token is stored.  The action and its address are fixed when the
 * confirmation is created; it can be used once, until it expires.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

enum confirmation_purpose {
	CONFIRMATION_CONFIRM,
	CONFIRMATION_UNDO,
	CONFIRMATION_ADDRESS, /* change of address; both addresses have to confirm */
	CONFIRMATION_FORGET,
	CONFIRMATION_APPROVAL,   /* the owner lets somebody subscribe who confirmed */
	CONFIRMATION_INVITATION, /* somebody else asked for the subscription */
};

struct confirmation {
	int64_t id;       /* never reused */
	const char *hash; /* token_hash_random() */
	enum confirmation_purpose purpose;
	const char *address;     /* address the action applies to, an addr-spec */
	const char *address_key; /* as address_format_key() */
	const char
	    *recipient; /* address the token was sent to: `address`, or a new one */
	int64_t subscriber_id; /* or 0 */
	const char *action;    /* lines for command_run_confirmed(); "" after use */
	const char
	    *details; /* details of the request, for the consent record; or NULL */
	int64_t made_at;
	int64_t expires_at;
	int64_t used_at;       /* or -1 */
	int64_t questioned_at; /* when a question was sent; or -1 */
};

const char *confirmation_purpose_name(enum confirmation_purpose purpose);

/**
 * Delete unused confirmations of a purpose and an address, before creating a new one.
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

/**
 * Find the newest pending confirmation of an address.
 *
 * @param confirmation  set; NULL for none
 */
bool confirmations_find_pending(struct store *store, enum confirmation_purpose purpose,
    const char *address_key, int64_t now, struct confirmation **confirmation,
    GError **error);

/**
 * Mark a confirmation as used, and clear its action.
 *
 * @return false with PB_ERROR_INPUT if it was used before
 */
bool
confirmations_consume(struct store *store, int64_t id, int64_t now, GError **error);

/** Record that a question was sent after an unclear reply. */
bool confirmations_save_questioned(
    struct store *store, int64_t id, int64_t now, GError **error);

bool confirmations_delete(struct store *store, int64_t id, GError **error);

/** Count used confirmations of a purpose and an address. */
bool confirmations_count_used(struct store *store, enum confirmation_purpose purpose,
    const char *address_key, int64_t *count, GError **error);

bool confirmations_count_pending(
    struct store *store, int64_t now, int64_t *count, GError **error);

/** Count the requests to subscribe that the owner has not answered. */
bool confirmations_count_approvals(
    struct store *store, int64_t now, int64_t *count, GError **error);

/**
 * Load a batch of pending confirmations, by id.
 *
 * @param after  the last id of the previous batch, 0 at first
 * @return of struct confirmation *
 */
GPtrArray *confirmations_load_batch(
    struct store *store, int64_t now, int64_t after, unsigned limit, GError **error);
