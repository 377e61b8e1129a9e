/*
 * secret.h - the key that what paperboy prints into mail is derived from.
 */
#ifndef PAPERBOY_SERVICE_SECRET_H
#define PAPERBOY_SERVICE_SECRET_H

#include <glib.h>
#include <stdbool.h>

#define SECRET_KEY_BYTES 32

/**
 * Load the key of a state folder; the first time it is made and kept.
 *
 * @param fresh  SECRET_KEY_BYTES random octets, used when there is no key yet;
 *               NULL when there has to be one
 * @return NULL with PB_ERROR_PERMANENT when the file is no key, is open to others, is
 *         gone or cannot be made
 */
GBytes *secret_load_key(const char *state_dir, const guint8 *fresh, GError **error);

/** Put another key in the place of what is there, if anything is. */
bool secret_replace_key(const char *state_dir, GBytes *key, GError **error);

/** What is wrong with the key's file: mode or length. @return NULL when nothing is */
char *secret_find_problem(const char *state_dir);

#endif
