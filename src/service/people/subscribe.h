/*
 * subscribe.h - add and remove subscribers and their filters.
 *
 * Shared by all interfaces.  Unless noted, each change is one commit, with its entry in
 * the audit log.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/subscriber.h"
#include "query/query_error.h"
#include "store/core/store.h"

struct subscribe_filter {
	const char *text; /* as typed */
	const char *name; /* or NULL */
	int number;       /* an unused one, or 0 for the smallest unused */
	int max_papers;   /* in one digest, 1..BOUNDS_DIGEST_FULL_MAX; 0: no limit */
	const char *note; /* the subscriber's own note, or NULL */
	bool is_block;    /* its matches are removed from the other filters' */
	/* Number of filters and blocks that the person may have; 0:
	 * BOUNDS_FILTERS_PERSON */
	int most;
};

struct subscribe_request {
	const char *address; /* `addr` or `Name <addr>` */
	const char *name;    /* or NULL */
	const char *consent; /* how consent was given, as text; not empty */
	const char *zone;    /* IANA name */
	struct schedule schedule;
	int max_full;
	const struct subscribe_filter *filters;
	unsigned filter_count;
	const char *who; /* for the audit log */
	GBytes *key;     /* secret of the state directory, for suppressions */
	bool is_return;  /* the person confirms it: see suppression_can_end() */
};

/**
 * Check a request except for its filters; nothing is stored.
 *
 * @return the subscriber, with id 0 if the address is new; NULL with PB_ERROR_INPUT as
 *         subscribe_add()
 */
struct subscriber *subscribe_prepare(struct store *store,
    const struct subscribe_request *request, int64_t now, GError **error);

/**
 * Add a subscriber who has consented, or restore one who left.
 *
 * The first digest is due at once, with the papers of the last DIGEST_FIRST_DAYS days.
 *
 * @param problem  NULL, or cleared by the caller: filled if a filter is rejected
 * @param refused  NULL, or set to the index of that filter
 * @return NULL with PB_ERROR_INPUT if the request is invalid, or the address is already
 *         subscribed or suppressed
 */
struct subscriber *
subscribe_add(struct store *store, const struct subscribe_request *request, int64_t now,
    struct query_error *problem, unsigned *refused, GError **error);

/** Unsubscribe: remove the filters and cancel unsent mail. */
bool subscribe_remove(struct store *store, const char *address, const char *who,
    int64_t now, GError **error);

/**
 * Change a subscriber's address; all else is unchanged.
 *
 * @param key  the secret of the state directory
 * @return the changed subscriber; NULL with PB_ERROR_INPUT if the address is invalid,
 *         already subscribed, or suppressed
 */
struct subscriber *subscribe_change_address(struct store *store, const char *address,
    const char *wanted, GBytes *key, const char *who, int64_t now, GError **error);

/**
 * Unsubscribe a loaded subscriber, in the caller's transaction, and without an entry in
 * the audit log.
 */
bool subscribe_remove_now(
    struct store *store, struct subscriber *subscriber, int64_t now, GError **error);

/**
 * Add a filter to a subscriber.
 *
 * @param warnings  NULL, or set on success: of struct msg *
 * @return NULL with PB_ERROR_INPUT or PB_ERROR_LIMIT
 */
struct subscription *subscribe_add_filter(struct store *store, const char *address,
    const struct subscribe_filter *filter, const char *who, int64_t now,
    struct query_error *problem, GPtrArray **warnings, GError **error);

bool subscribe_remove_filter(struct store *store, const char *address, int number,
    const char *who, int64_t now, GError **error);
