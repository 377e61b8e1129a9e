/*
 * person.h - find subscribers by address, and change one in a transaction.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/subscriber.h"
#include "store/core/store.h"

/** Find a subscriber by address, in any state. @param subscriber  set; NULL if none */
bool person_find(struct store *store, const char *text, struct subscriber **subscriber,
    GError **error);

/** Load a subscriber who has not left. @return NULL with PB_ERROR_NOT_FOUND */
struct subscriber *person_load(struct store *store, const char *text, GError **error);

/* A change of one subscriber. */
struct person_change {
	const char *address;
	const char *who; /* for the audit log */
	int64_t now;
	/* As a work function (store_transact()). */
	bool (*run)(struct store *store, struct subscriber *subscriber,
	    const struct person_change *change, GError **error);
	void *data; /* for it */
};

/**
 * Load a subscriber who has not left, and run a change, in one transaction.
 *
 * @return the changed subscriber; NULL with PB_ERROR_NOT_FOUND or the error of run()
 */
struct subscriber *person_transact(
    struct store *store, const struct person_change *change, GError **error);

/** Load a subscriber in any state. @return NULL with PB_ERROR_NOT_FOUND */
struct subscriber *
person_load_any(struct store *store, const char *text, GError **error);

/** Load the id of a subscriber who has not left. */
bool person_load_id(struct store *store, const char *text, int64_t *id, GError **error);
