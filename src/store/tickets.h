/*
 * tickets.h - what waits for somebody's word: confirmations, undoing, leaving for good.
 *
 * Of a token only its hash is kept.  A ticket does what was fixed when it was made, for
 * the address it was made for, once, and not after its time.  None of these functions
 * opens a transaction.
 */
#ifndef PAPERBOY_STORE_TICKETS_H
#define PAPERBOY_STORE_TICKETS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/auto.h"
#include "store/store.h"

enum ticket_purpose {
	TICKET_CONFIRM,
	TICKET_UNDO,
	TICKET_ADDRESS, /* a change of address, which both have to confirm */
	TICKET_FORGET,
};

struct ticket {
	int64_t id; /* never used twice */
	char *hash; /* token_hash_drawn() */
	enum ticket_purpose purpose;
	char *address;     /* whom it acts for, an addr-spec */
	char *address_key; /* as address_format_key() */
	char *recipient;   /* to whom the token was mailed: that, or a new address */
	int64_t subscriber_id; /* or 0 */
	char *action;  /* lines for command_run_pending(); "" once it was used */
	char *details; /* how it was asked for, for the consent; or NULL */
	int64_t made_at;
	int64_t expires_at;
	int64_t used_at; /* or -1 */
	int64_t
	    questioned_at; /* an unclear reply was answered with a question; or -1 */
};

void ticket_free(struct ticket *ticket);
PB_DEFINE_AUTO(ticket, ticket_free);

/** "confirm", "undo", "address" or "forget". */
const char *ticket_purpose_name(enum ticket_purpose purpose);

/** Take away what is not used of a purpose and an address: a new one takes its place.
 */
bool tickets_kill(struct store *store, enum ticket_purpose purpose,
    const char *address_key, GError **error);

/** Store a ticket. @param ticket  its id is set */
bool tickets_insert(struct store *store, struct ticket *ticket, GError **error);

/** @return NULL without an error when there is none of that hash */
struct ticket *tickets_find(struct store *store, const char *hash, GError **error);

/** Find by number, for what came back. @return NULL without an error */
struct ticket *tickets_find_id(struct store *store, int64_t id, GError **error);

/** Find the newest that waits for an address. @return NULL without an error when none
 * does */
struct ticket *tickets_find_waiting(struct store *store, enum ticket_purpose purpose,
    const char *address_key, int64_t now, GError **error);

/**
 * Use a ticket: it does nothing any more, and forgets what it did.
 *
 * @return false with PB_ERROR_INPUT when it was used before
 */
bool tickets_use(struct store *store, int64_t id, int64_t now, GError **error);

/** Record that an unclear reply to it was answered. */
bool
tickets_save_questioned(struct store *store, int64_t id, int64_t now, GError **error);

/** Take one away, as if it had never been made. */
bool tickets_delete(struct store *store, int64_t id, GError **error);

/** How many tickets of a purpose and an address were used. */
bool tickets_count_used(struct store *store, enum ticket_purpose purpose,
    const char *address_key, int64_t *count, GError **error);

/** How many of all wait for a confirmation. */
bool
tickets_count_pending(struct store *store, int64_t now, int64_t *count, GError **error);

/**
 * Load a page of those that wait, by number.
 *
 * @param after  the last number of the page before, 0 at first
 * @return of struct ticket *
 */
GPtrArray *tickets_load_page(
    struct store *store, int64_t now, int64_t after, unsigned limit, GError **error);

/** Forget up to a limit of tickets whose time was over before a time. @param count set
 */
bool tickets_prune(struct store *store, int64_t before, unsigned limit, unsigned *count,
    GError **error);

#endif
