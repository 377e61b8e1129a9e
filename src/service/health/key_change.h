/*
 * key_change.h - rotate the key of a state directory, or take it from a backup.
 *
 * A rotation commits the new keys and their MAC to the store; whoever loads the key
 * next puts them into the key file (startup_load_key()), as after a restore.  So a
 * crash leaves either the old or the new key in force, never half of each.
 */
#ifndef PAPERBOY_SERVICE_HEALTH_KEY_CHANGE_H
#define PAPERBOY_SERVICE_HEALTH_KEY_CHANGE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/settings.h"

struct key_change {
	bool is_lost; /* the old key cannot be had: begin with a new one alone */
	const char *who;
	int64_t now;
};

/**
 * Put a new key in front of the keys in use.  Tokens of the old ones stay valid, and
 * suppressed addresses stay suppressed.
 *
 * @param suppressed  set on success: addresses that the keys cannot match any more
 * @return false with PB_ERROR_TEMPORARY while another program uses the store,
 *         PB_ERROR_INPUT while a message is in doubt (it would become another message),
 *         PB_ERROR_LIMIT after BOUNDS_KEYS keys
 */
bool key_rotate(const struct settings *settings, const struct key_change *change,
    int64_t *suppressed, GError **error);

/**
 * Replace the key file by the keys of a backup; the store stays as it is.
 *
 * @return false with PB_ERROR_PERMANENT when they are not the keys of this store
 */
bool key_restore(const struct settings *settings, const char *path, GError **error);

#endif
