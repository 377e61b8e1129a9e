/*
 * secret.h - the key that what paperboy prints into mail is derived from.
 */
#ifndef PAPERBOY_SERVICE_STATE_SECRET_H
#define PAPERBOY_SERVICE_STATE_SECRET_H

#include <glib.h>
#include <stdbool.h>

#include "base/token.h"

#define SECRET_KEY_BYTES TOKEN_KEY_BYTES

/**
 * Load the keys of a state directory; the first time one is made and kept.
 *
 * @param fresh  SECRET_KEY_BYTES random octets, used when there is no key yet;
 *               NULL when there has to be one
 * @return NULL with PB_ERROR_PERMANENT when the file is no key, is open to others, is
 *         gone or cannot be made
 */
GBytes *secret_load_key(const char *state_dir, const guint8 *fresh, GError **error);

/** Put another key in the place of what is there, if anything is. */
bool secret_replace_key(const char *state_dir, GBytes *key, GError **error);

/** Compute the MAC by which a store knows its keys. @return a new string */
char *secret_format_mac(GBytes *keys);

/**
 * Check that keys are those of a store.
 *
 * @param mac  of the store; NULL when it has none yet
 * @return false with PB_ERROR_PERMANENT, and what to do
 */
bool
secret_check_mac(const char *state_dir, GBytes *keys, const char *mac, GError **error);

/**
 * Find what is wrong with the key file: mode, length, or not the key of this store.
 *
 * @return NULL when nothing is, else a new string
 */
char *secret_find_problem(const char *state_dir, const char *mac);

#endif
