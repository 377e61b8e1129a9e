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
#include <stdint.h>

#include "base/auto.h"

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

struct token_maker;

/** Allocate what derives many tokens of one key, which is borrowed by nobody then. */
struct token_maker *token_maker_new(GBytes *key);
void token_maker_free(struct token_maker *maker);
PB_DEFINE_AUTO(token_maker, token_maker_free);

/** Derive as token_derive() does. @return owned by the caller */
char *
token_maker_derive(const struct token_maker *maker, const char *purpose, int64_t id);

/**
 * Stand for a text without telling it: HMAC-SHA256 under the key and a purpose, as 64
 * lower-case hexadecimal digits.  Who has the key can tell whether a text is
 * the one, nobody can tell the text.
 *
 * @param purpose  as above
 * @param text     NUL-terminated
 * @return owned by the caller
 */
char *token_hash_text(GBytes *key, const char *purpose, const char *text);

#endif
