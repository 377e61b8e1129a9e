/*
 * subscribe.h - add and remove subscribers and their filters.
 *
 * Every way in (the control tool now, mail and web later) calls these.  Each
 * is one commit with its line in the audit.
 */
#ifndef PAPERBOY_SERVICE_PEOPLE_SUBSCRIBE_H
#define PAPERBOY_SERVICE_PEOPLE_SUBSCRIBE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/subscriber.h"
#include "query/query_error.h"
#include "store/core/store.h"

struct subscribe_filter {
	const char *text; /* as typed */
	const char *name; /* what the person calls it, or NULL */
	int number;       /* a free one, or 0 for the smallest that is */
	int max_papers;   /* in one digest, 1..BOUNDS_DIGEST_FULL_MAX; 0: no limit */
	const char *note; /* of the person to itself, or NULL */
	bool is_block;    /* what it finds is taken away from all the others */
};

struct subscribe_request {
	const char *address; /* `addr` or `Name <addr>` */
	const char *name;    /* or NULL */
	const char *consent; /* how the person agreed, in words; not empty */
	const char *zone;    /* IANA name */
	struct schedule schedule;
	int max_full;
	const struct subscribe_filter *filters;
	unsigned filter_count;
	const char *who; /* for the audit */
	GBytes *key; /* the secret of the state folder: suppressions are told by it */
};

/**
 * Check a request without its filters, and fill the subscriber; nothing is stored.
 *
 * @return with id 0 if the address is new; NULL with PB_ERROR_INPUT as subscribe_add()
 */
struct subscriber *subscribe_prepare(struct store *store,
    const struct subscribe_request *request, int64_t now, GError **error);

/**
 * Add a subscriber whose consent is known, or take one back who had left.
 *
 * The first edition is due at once: it has the papers of the last days.
 *
 * @param problem  NULL, or cleared by the caller: filled when a filter is refused
 * @param refused  NULL, or set to the index of that filter
 * @return NULL with PB_ERROR_INPUT when something is wrong, the address is there, or
 *         no mail may go to it
 */
struct subscriber *
subscribe_add(struct store *store, const struct subscribe_request *request, int64_t now,
    struct query_error *problem, unsigned *refused, GError **error);

/** Find a subscriber by address, in any state. @param subscriber  set; NULL for none */
bool subscribe_find(struct store *store, const char *address,
    struct subscriber **subscriber, GError **error);

/** Load a subscriber who has not left. @return NULL with PB_ERROR_NOT_FOUND for none */
struct subscriber *
subscribe_load(struct store *store, const char *address, GError **error);

/** Load a subscriber in any state. @return NULL with PB_ERROR_NOT_FOUND for none */
struct subscriber *
subscribe_load_any(struct store *store, const char *address, GError **error);

/** Load the id of a subscriber who has not left. */
bool subscribe_load_id(
    struct store *store, const char *address, int64_t *id, GError **error);

/** Let a subscriber go: filters are removed, unsent mail is cancelled. */
bool subscribe_remove(struct store *store, const char *address, const char *who,
    int64_t now, GError **error);

/** Apply a new address to a subscriber in memory; errors as the next. */
bool subscribe_apply_address(struct store *store, struct subscriber *subscriber,
    const char *wanted, GBytes *key, int64_t now, GError **error);

/**
 * Let a subscriber's mail go to another address; all else stays.
 *
 * @param key  the secret of the state folder
 * @return as the person is now; NULL with PB_ERROR_INPUT when the address is none, is
 *         somebody's already, or no mail may go to it
 */
struct subscriber *subscribe_change_address(struct store *store, const char *address,
    const char *wanted, GBytes *key, const char *who, int64_t now, GError **error);

/**
 * Let somebody go who was found: no more mail, no filters; in the caller's
 * transaction, and without a line in the audit.
 */
bool subscribe_remove_now(
    struct store *store, struct subscriber *subscriber, int64_t now, GError **error);

/**
 * Check that an address may be mailed.
 *
 * @param address_key  as address_format_key() makes it
 * @return false with PB_ERROR_INPUT when it is suppressed
 */
bool subscribe_check_suppression(
    struct store *store, GBytes *key, const char *address_key, GError **error);

/**
 * Give a person a filter.
 *
 * @param warnings  NULL, or set to of struct msg * on success
 * @return NULL with PB_ERROR_INPUT or PB_ERROR_LIMIT
 */
struct subscription *subscribe_add_filter(struct store *store, const char *address,
    const struct subscribe_filter *filter, const char *who, int64_t now,
    struct query_error *problem, GPtrArray **warnings, GError **error);

/** Take the filter with that number away. */
bool subscribe_remove_filter(struct store *store, const char *address, int number,
    const char *who, int64_t now, GError **error);

#endif
