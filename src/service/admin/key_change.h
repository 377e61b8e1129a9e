/*
 * key_change.h - rotate the key of a state directory, or restore it from a backup.
 *
 * A rotation commits the new keys and their MAC to the store.  The next program that
 * loads the key writes them to the key file (startup_load_key()), as after a restore.
 * After a crash either the old or the new key is in use, never a mixture.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/settings.h"

struct key_change {
	bool is_lost; /* the old key is lost: start with a new one alone */
	const char *who;
	int64_t now;
};

/**
 * Put a new key in front of the keys in use.  Tokens of the old keys stay valid, and
 * suppressed addresses stay suppressed.
 *
 * @param suppressed  set on success: addresses that the keys no longer match
 * @return false with PB_ERROR_TEMPORARY while another program uses the store,
 *         PB_ERROR_INPUT while a message is in doubt (it would be sent as a different
 *         message), PB_ERROR_LIMIT after BOUNDS_KEYS keys
 */
bool key_rotate(const struct settings *settings, const struct key_change *change,
    int64_t *suppressed, GError **error);

/**
 * Replace the key file by the keys of a backup; the store is not changed.
 *
 * @return false with PB_ERROR_PERMANENT if they are not the keys of this store
 */
bool key_restore(const struct settings *settings, const char *path, GError **error);
