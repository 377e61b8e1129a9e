/*
 * suppression.h - suppression list: addresses that must not be mailed.
 *
 * Stores an HMAC of the address key (message/address.h) under the key of the state
 * directory: an address can be looked up, but the list cannot be read.  It survives the
 * erasure of the subscriber.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

struct suppression {
	const char *hash;   /* 64 hexadecimal digits */
	const char *reason; /* operator, never-again, complaint or dead */
	int64_t at;         /* s */
};

/**
 * Hash an address with the current key.
 *
 * @param address_key  from address_format_key()
 * @return a new string
 */
char *suppression_hash(GBytes *key, const char *address_key);

/* SQL: of two reasons for an address the lasting one is kept, or else the first. */
#define SUPPRESSION_ON_CONFLICT                                      \
	" ON CONFLICT (hash) DO UPDATE SET reason = excluded.reason" \
	" WHERE excluded.reason IN ('operator', 'never-again')"      \
	" AND suppression.reason IN ('complaint', 'dead')"

/**
 * Whether the person can come back by a confirmed request: after a complaint and for a
 * dead address, but not against the operator or an own wish.  Answers to the requests
 * of such a person are sent.
 */
bool suppression_can_end(const char *reason);

/** Suppress an address; a lasting reason is kept, or else the first one. */
bool suppression_insert(struct store *store, const char *hash, const char *reason,
    int64_t now, GError **error);

/**
 * Delete an address, hashed with any of the keys.
 *
 * @return false with PB_ERROR_NOT_FOUND when it is not suppressed
 */
bool suppression_delete(
    struct store *store, GBytes *keys, const char *address_key, GError **error);

/**
 * Find an address, hashed with any of the keys; of several reasons a lasting one.
 *
 * @param suppression  set; NULL when the address is not suppressed
 */
bool suppression_find(struct store *store, GBytes *keys, const char *address_key,
    struct suppression **suppression, GError **error);

/* An address to look up. */
struct suppression_lookup {
	const char *address_key; /* or NULL */
	bool is_answer;          /* of mail that is sent unless the reason is lasting */
	bool is_suppressed;      /* set if it is */
};

/**
 * Look up addresses, hashed with each of the keys, so that an address stays suppressed
 * when the key is rotated.  Hashes nothing while no address is suppressed.
 */
bool suppression_mark(struct store *store, GBytes *keys,
    struct suppression_lookup *lookups, unsigned count, GError **error);

/**
 * Load a batch, by hash.
 *
 * @param after  the last hash of the batch before, "" at first
 * @return of struct suppression *
 */
GPtrArray *suppression_load_batch(
    struct store *store, const char *after, unsigned limit, GError **error);

bool suppression_count(struct store *store, int64_t *count, GError **error);
