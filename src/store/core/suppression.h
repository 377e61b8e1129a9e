/*
 * suppression.h - addresses that are never to be mailed.
 *
 * What is kept is an HMAC of the address key (message/address.h) under the key of the
 * state folder: an address can be asked for, and none can be read.  It
 * outlives the person's rows.
 */
#ifndef PAPERBOY_STORE_CORE_SUPPRESSION_H
#define PAPERBOY_STORE_CORE_SUPPRESSION_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

struct sqlite3;

struct suppression {
	char *hash;   /* 64 hexadecimal digits */
	char *reason; /* operator, never-again, complaint or dead */
	int64_t at;   /* s */
};

void suppression_free(struct suppression *suppression);
PB_DEFINE_AUTO(suppression, suppression_free);

/**
 * Hash an address under the key in use.
 *
 * @param address_key  as address_format_key() makes it
 * @return a new string
 */
char *suppression_hash(GBytes *key, const char *address_key);

/**
 * Register suppression_hashes(keys, address_key) for SQL: a JSON array of the hashes
 * under each key, so that an address stays suppressed when the key is rotated.
 *
 * @return SQLite's code
 */
int suppression_register(struct sqlite3 *db);

/** Keep an address from being mailed; the first reason given stays. */
bool suppression_insert(struct store *store, const char *hash, const char *reason,
    int64_t now, GError **error);

/**
 * Delete an address, whichever key it was hashed with.
 *
 * @return false with PB_ERROR_NOT_FOUND too, when the address is not there
 */
bool suppression_delete(
    struct store *store, GBytes *keys, const char *address_key, GError **error);

/**
 * Find an address, whichever key it was hashed with.
 *
 * @param suppression  set; NULL when the address is not suppressed
 */
bool suppression_find(struct store *store, GBytes *keys, const char *address_key,
    struct suppression **suppression, GError **error);

/**
 * Load a page, by hash.
 *
 * @param after  the last hash of the page before, "" at first
 * @return of struct suppression *
 */
GPtrArray *suppression_load_page(
    struct store *store, const char *after, unsigned limit, GError **error);

/** Count the addresses. */
bool suppression_count(struct store *store, int64_t *count, GError **error);

#endif
