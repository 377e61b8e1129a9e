/*
 * token.h - tokens that are derived from a secret and so need no row.
 *
 * They stand in what paperboy prints into mail (Message-ID, later the envelope
 * sender and the reply address), so that the same mail can be composed again.
 * Lower case only: some relays fold the case of a local part.
 */
#ifndef PAPERBOY_BASE_TOKEN_H
#define PAPERBOY_BASE_TOKEN_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

/*
 * A key of a state directory.  Functions that take `keys` take the key in use followed
 * by the retired ones, newest first; functions that take `key` use the first of them.
 */
#define TOKEN_KEY_BYTES 32

/* The key's character, then 80 bits of the MAC. */
#define TOKEN_LENGTH 17

/**
 * Derive the token for one purpose and one id: the first character tells which
 * key made it, the other 16 are HMAC-SHA256 (RFC 2104) truncated to 80 bits, in
 * base32 (RFC 4648 section 6) of lower case without padding.
 *
 * A token of one purpose says nothing about that of another.
 *
 * @param key      the secret, at least one octet
 * @param purpose  a word of ours, such as "message-id"
 * @param id       the row it stands for
 * @return TOKEN_LENGTH characters of [a-z2-7], owned by the caller
 */
char *token_derive(GBytes *key, const char *purpose, int64_t id);

/* A signed token: the above, and then the id in base32 of at most 13 digits. */
#define TOKEN_SIGNED_BYTES_MAX (TOKEN_LENGTH + 13)

/**
 * Derive a token that tells its own id: as token_derive(), then the id in base32
 * without leading zeros.  It can be looked up by its id, and then be checked.
 *
 * @param id     not negative
 * @param bound  what else it holds for, such as when the row was made: an id that
 *               is given out again after a restored backup is another then
 * @return at most TOKEN_SIGNED_BYTES_MAX characters of [a-z2-7], owned by the caller
 */
char *token_sign(GBytes *key, const char *purpose, int64_t id, int64_t bound);

/**
 * Tell which id a signed token speaks of.  Nothing is proven by that.
 *
 * @param text  any; a token in capitals is one, since mail servers fold cases
 * @param id    set on success only
 * @return false when it cannot be a signed token
 */
bool token_parse_id(const char *text, int64_t *id);

/** Number of keys in `keys`, at least 1. */
unsigned token_count_keys(GBytes *keys);

/** @return a new reference to one of them; 0 is the one in use */
GBytes *token_get_key(GBytes *keys, unsigned number);

/**
 * Check a signed token under each key, in a time that does not depend on where it
 * differs.
 */
bool token_check_signed(
    GBytes *keys, const char *purpose, int64_t id, int64_t bound, const char *text);

/* A token that is drawn: 128 bits in base32. */
#define TOKEN_RANDOM_BYTES  16
#define TOKEN_RANDOM_LENGTH 26

/** @param octets  TOKEN_RANDOM_BYTES random ones @return [a-z2-7], owned by the caller
 */
char *token_format_random(const uint8_t *bytes);

/**
 * Hash a random token for storage: SHA-256 of it in lower case, 64 hexadecimal digits.
 *
 * @param text  any
 * @return NULL when it cannot be a drawn token; owned by the caller
 */
char *token_hash_random(const char *text);

struct token_signer;

/** Allocate what derives many tokens of one key, which is borrowed by nobody then. */
struct token_signer *token_signer_new(GBytes *key);
void token_signer_free(struct token_signer *maker);
PB_DEFINE_AUTO(token_signer, token_signer_free);

/** Derive as token_derive() does. @return owned by the caller */
char *
token_signer_derive(const struct token_signer *maker, const char *purpose, int64_t id);

/** Sign as token_sign() does. @return owned by the caller */
char *token_signer_sign(
    const struct token_signer *maker, const char *purpose, int64_t id, int64_t bound);

/**
 * Derive a token from a text, as token_signer_derive() does from an id.
 *
 * @param text  NUL-terminated, of any length
 * @return owned by the caller
 */
char *token_signer_derive_text(
    const struct token_signer *maker, const char *purpose, const char *text);

/**
 * Stand for a text without telling it: HMAC-SHA256 under the key and a purpose, as 64
 * lower-case hexadecimal digits.  Who has the key can tell whether a text is
 * the one, nobody can tell the text.
 *
 * @param purpose  as above
 * @param text     NUL-terminated
 * @return owned by the caller
 */
char *token_hash_string(GBytes *key, const char *purpose, const char *text);

#endif
