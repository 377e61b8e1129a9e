/*
 * takeover.h - messages whose results are lost: they may have arrived.
 *
 * They become UNKNOWN and are sent again with the same Message-ID and bytes, or HELD,
 * or given up (store/mail/outbox.h).
 */
#ifndef PAPERBOY_SERVICE_DELIVERY_TAKEOVER_H
#define PAPERBOY_SERVICE_DELIVERY_TAKEOVER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/**
 * End the instances whose lease has expired, and take over what they held, in one
 * commit.  Their messages were in flight when they were killed or cut off.
 *
 * @param key    keys of the state directory
 * @param count  set on success: number of messages
 */
bool takeover_run(
    struct store *store, GBytes *key, int64_t now, unsigned *count, GError **error);

/** Recover SENDING messages of the handle's own instance while none is in flight: the
 * store has rejected their results. */
bool takeover_recover(
    struct store *store, GBytes *key, int64_t now, unsigned *count, GError **error);

#endif
