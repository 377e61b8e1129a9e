/*
 * key_check.h - the MAC of the key file, by which another or a damaged key is noticed.
 */
#ifndef PAPERBOY_STORE_CORE_KEY_CHECK_H
#define PAPERBOY_STORE_CORE_KEY_CHECK_H

#include <glib.h>
#include <stdbool.h>

#include "store/core/store.h"

/** @param mac  set on success: a new string, NULL when no key has been made yet */
bool key_check_load(struct store *store, char **mac, GError **error);
bool key_check_save(struct store *store, const char *mac, GError **error);

#endif
