/*
 * suppression.h - addresses that are never to be mailed.
 *
 * What is kept is an HMAC of the address key (mail/address.h) under the key of the
 * state folder: an address can be asked for, and none can be read.  It
 * outlives the person's rows.
 */
#ifndef PAPERBOY_STORE_SUPPRESSION_H
#define PAPERBOY_STORE_SUPPRESSION_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

struct sqlite3;

struct suppression {
	char *hash;   /* 64 hexadecimal digits */
	char *reason; /* operator, never-again, complaint or dead */
	int64_t at;   /* s */
};

void suppression_free(struct suppression *suppression);
PB_DEFINE_AUTO(suppression, suppression_free);

/**
 * What an address is told by.
 *
 * @param key          the secret of the state folder
 * @param address_key  as address_format_key() makes it
 * @return a new string
 */
char *suppression_hash(GBytes *key, const char *address_key);

/**
 * Let SQL on a handle call suppression_hash(key, address_key).
 *
 * @return SQLite's code
 */
int suppression_register(struct sqlite3 *db);

/** Keep an address from being mailed; the first reason given stays. */
bool suppression_insert(struct store *store, const char *hash, const char *reason,
    int64_t now, GError **error);

/** @return false with PB_ERROR_NOT_FOUND too, when the address is not there */
bool suppression_delete(struct store *store, const char *hash, GError **error);

/** @return NULL without an error when the address is not there */
struct suppression *
suppression_find(struct store *store, const char *hash, GError **error);

/**
 * Load a page, by hash.
 *
 * @param after  the last hash of the page before, "" at first
 * @return of struct suppression *
 */
GPtrArray *suppression_load_page(
    struct store *store, const char *after, unsigned limit, GError **error);

/** Whether anything is suppressed, and so hangs on the key. */
bool suppression_has_any(struct store *store, bool *has, GError **error);

#endif
