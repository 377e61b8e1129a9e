/*
 * bounce_admin.h - explain and clear the evidence against an address.
 */
#ifndef PAPERBOY_SERVICE_BOUNCE_BOUNCE_ADMIN_H
#define PAPERBOY_SERVICE_BOUNCE_BOUNCE_ADMIN_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/subscriber.h"
#include "store/core/store.h"

/**
 * Describe what follows from the evidence of a subscriber if no further message is
 * returned: one sentence.
 *
 * @return a new string; NULL with an error of the store
 */
char *bounce_admin_explain(struct store *store, const struct subscriber *subscriber,
    int64_t now, GError **error);

/**
 * Clear the evidence and the probe of a subscriber who has not left, and restore one
 * who is suspended: one commit.
 *
 * @param is_restored  set
 * @return the subscriber; NULL with PB_ERROR_NOT_FOUND
 */
struct subscriber *bounce_admin_forget(struct store *store, const char *address,
    const char *who, int64_t now, bool *is_restored, GError **error);

#endif
