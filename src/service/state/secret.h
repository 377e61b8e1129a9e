/*
 * secret.h - the key file: secrets from which tokens in mail are derived.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/token.h"

#define SECRET_KEY_BYTES TOKEN_KEY_BYTES

/**
 * Load the keys of a state directory, or create the key file.
 *
 * @param fresh  SECRET_KEY_BYTES random bytes for a new key file; NULL if it must exist
 * @return NULL with PB_ERROR_PERMANENT if the file is not a key, accessible to others,
 *         missing, or cannot be created
 */
GBytes *secret_load_key(const char *state_dir, const guint8 *fresh, GError **error);

/** Replace or create the key file. */
bool secret_replace_key(const char *state_dir, GBytes *key, GError **error);

/** Compute the MAC by which a store recognises its keys. @return a new string */
char *secret_format_mac(GBytes *keys);

/**
 * Check that keys belong to a store.
 *
 * @param mac  of the store; NULL if it has none yet
 * @return false with PB_ERROR_PERMANENT, and the action
 */
bool
secret_check_mac(const char *state_dir, GBytes *keys, const char *mac, GError **error);

/**
 * Check mode, length and MAC of the key file.
 *
 * @return a problem, a new string; or NULL
 */
char *secret_find_problem(const char *state_dir, const char *mac);
