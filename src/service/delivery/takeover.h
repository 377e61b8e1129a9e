/*
 * takeover.h - messages whose results are lost: they may have arrived.
 *
 * They become UNKNOWN and are sent again with the same Message-ID and bytes, or HELD,
 * or given up (store/mail/outbox.h).
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/**
 * Take over messages in flight, in one commit.
 *
 * @param key       keys of the state directory
 * @param is_crash  those of the instances whose lease has expired, which end: they were
 *                  killed or cut off.  Else those of the handle's own instance, while
 *                  none is in flight: the store has rejected their results
 * @param count     set on success: number of messages
 */
bool takeover_run(struct store *store, GBytes *key, bool is_crash, int64_t now,
    unsigned *count, GError **error);
