/*
 * mail_token.h - what a token in one of our addresses proves.
 *
 * Such tokens are derived (base/token.h): they are looked up by the number in them, and
 * then checked against what was true when that row was made.
 */
#ifndef PAPERBOY_SERVICE_DELIVERY_MAIL_TOKEN_H
#define PAPERBOY_SERVICE_DELIVERY_MAIL_TOKEN_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/token.h"
#include "model/subscriber.h"
#include "store/core/store.h"

/* An answer proves who wrote it for so long after what it answers. */
#define MAIL_TOKEN_REPLY_DAYS 30

/* How tokens are checked.  Borrowed. */
struct mail_token {
	struct store *store;
	GBytes *keys; /* see base/token.h */
	int64_t now;
};

/**
 * Whose reply address a token is: that of a digest or an answer of the last 30 days.
 * A letter to it is that person's own only with that person's From.
 *
 * @param subscriber  set: NULL when the token is no good; owned by the caller
 * @param digest_id   set when it is good: of the digest, or 0
 * @return false when the store fails
 */
bool mail_token_find_reply(const struct mail_token *mail_token, const char *token,
    struct subscriber **subscriber, int64_t *digest_id, GError **error);

/** Whom a token unsubscribes, who may be gone; it never expires.  As above. */
bool mail_token_find_leave(const struct mail_token *mail_token, const char *token,
    struct subscriber **subscriber, GError **error);

/** What came back: a digest or a confirmation; 0 for each that it is not. */
bool mail_token_find_bounce(const struct mail_token *mail_token, const char *token,
    int64_t *digest_id, int64_t *ticket_id, GError **error);

/** The token of the reply address of an answer. @return owned by the caller */
char *
mail_token_format_answer(GBytes *key, const struct subscriber *subscriber, int64_t now);

/** The token of the envelope sender of a digest; made_at is its created_at. */
char *mail_token_format_bounce(
    const struct token_signer *maker, int64_t digest_id, int64_t made_at);

#endif
