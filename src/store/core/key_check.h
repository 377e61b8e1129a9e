/*
 * key_check.h - MAC of the key file, to detect a wrong or damaged key.
 */
#ifndef PAPERBOY_STORE_CORE_KEY_CHECK_H
#define PAPERBOY_STORE_CORE_KEY_CHECK_H

#include <glib.h>
#include <stdbool.h>

#include "store/core/store.h"

/** @param mac  set: a new string; NULL when there is no key yet */
bool key_check_load(struct store *store, char **mac, GError **error);
bool key_check_save(struct store *store, const char *mac, GError **error);

#endif
