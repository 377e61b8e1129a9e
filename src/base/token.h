/*
 * token.h - tokens derived from a secret key, which need no database row.
 *
 * They are used in Message-ID, envelope sender and reply address, and are
 * deterministic, so that the same message can be composed again.
 * Lower case only: some relays fold the case of a local part.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

/*
 * Size of a key.  Functions with a `keys` parameter expect the current key followed by
 * the retired ones, newest first; functions with a `key` parameter use the first one.
 */
#define TOKEN_KEY_BYTES 32

/* Key character, then 80 bits of the MAC in base32. */
#define TOKEN_LENGTH 17

/**
 * Derive the token for a purpose and an id: the first character identifies the
 * key, the other 16 are HMAC-SHA256 (RFC 2104) truncated to 80 bits, in
 * lower-case base32 (RFC 4648 section 6) without padding.
 *
 * Tokens of different purposes are independent.
 *
 * @param key      secret, at least one byte
 * @param purpose  fixed string such as "message-id"
 * @param id       row id
 * @return TOKEN_LENGTH characters of [a-z2-7], owned by the caller
 */
char *token_derive(GBytes *key, const char *purpose, int64_t id);

/* Maximum length of a signed token: a token and up to 13 base32 digits of the id. */
#define TOKEN_SIGNED_BYTES_MAX (TOKEN_LENGTH + 13)

/**
 * Create a token that contains its id: token_derive() followed by the id in base32
 * without leading zeros.  The row can be looked up by the id before the token is
 * verified.
 *
 * @param id     not negative
 * @param bound  additional signed value, such as the creation time of the row: it
 *               invalidates the token if the id is reused after restoring a backup
 * @return at most TOKEN_SIGNED_BYTES_MAX characters of [a-z2-7], owned by the caller
 */
char *token_sign(GBytes *key, const char *purpose, int64_t id, int64_t bound);

/**
 * Append an id to a stored token, by which its row can be looked up.
 *
 * @param id  not negative
 * @return as token_sign()
 */
char *token_format_with_id(const char *token, int64_t id);

/**
 * Extract the id of a signed token, without verifying the token.
 *
 * @param text  untrusted; upper case is accepted, since mail servers fold case
 * @param id    set on success only
 * @return false if it is not a well-formed signed token
 */
bool token_parse_id(const char *text, int64_t *id);

/** @return number of keys, at least 1 */
unsigned token_count_keys(GBytes *keys);

/** @param number  0 is the current key @return a new reference */
GBytes *token_get_key(GBytes *keys, unsigned number);

/** Compare two tokens, in a time that depends on their lengths only. */
bool token_is_equal(const char *one, const char *other);

/** Verify a signed token against each key, comparing in constant time. */
bool token_check_signed(
    GBytes *keys, const char *purpose, int64_t id, int64_t bound, const char *text);

/* Random token: 128 bits in base32. */
#define TOKEN_RANDOM_BYTES  16
#define TOKEN_RANDOM_LENGTH 26

/** @param bytes  TOKEN_RANDOM_BYTES of them @return [a-z2-7], owned by the caller */
char *token_format_random(const uint8_t *bytes);

/**
 * Hash a random token for storage: SHA-256 of its lower-case form, 64 hex digits.
 *
 * @param text  untrusted
 * @return NULL if it is not a well-formed random token; owned by the caller
 */
char *token_hash_random(const char *text);

struct token_signer;

/** Create a signer that derives many tokens from one key.  Keeps no reference to it. */
struct token_signer *token_signer_new(GBytes *key);
void token_signer_free(struct token_signer *signer);
PB_DEFINE_AUTO(token_signer, token_signer_free);

/** Like token_derive(). @return owned by the caller */
char *
token_signer_derive(const struct token_signer *signer, const char *purpose, int64_t id);

/** Like token_sign(). @return owned by the caller */
char *token_signer_sign(
    const struct token_signer *signer, const char *purpose, int64_t id, int64_t bound);

/**
 * Like token_signer_derive(), for a string instead of an id.
 *
 * @param text  of any length
 * @return owned by the caller
 */
char *token_signer_derive_text(
    const struct token_signer *signer, const char *purpose, const char *text);

/**
 * Hash a string with HMAC-SHA256 under the key and a purpose, as 64 lower-case
 * hexadecimal digits.  With the key, a candidate string can be compared with the hash;
 * the string cannot be recovered from it.
 *
 * @return owned by the caller
 */
char *token_hash_string(GBytes *key, const char *purpose, const char *text);
