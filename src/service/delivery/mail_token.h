/*
 * mail_token.h - signed tokens in our addresses: VERP, reply, unsubscribe.
 *
 * A token (base/token.h) contains the number of a row and is checked against the values
 * of that row.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/token.h"
#include "model/subscriber.h"
#include "store/core/store.h"

/* Lifetime of reply addresses. */
#define MAIL_TOKEN_REPLY_DAYS 30

/* Lifetime of a link to the preferences, s; up to ten minutes more. */
#define MAIL_TOKEN_PREFERENCES_S (24 * 3600)

/* Borrowed. */
struct mail_token {
	struct store *store;
	GBytes *keys; /* see base/token.h */
	int64_t now;
};

/**
 * Find the subscriber of a reply address, of a digest or a reply.  The caller must also
 * compare From with the subscriber's address.
 *
 * @param subscriber  set; NULL for an invalid token; owned by the caller
 * @param digest_id   set to the digest, or 0
 * @return false if the store fails
 */
bool mail_token_find_reply(const struct mail_token *mail_token, const char *token,
    struct subscriber **subscriber, int64_t *digest_id, GError **error);

/**
 * Find the subscriber of a digest or a reply by the token of its Message-ID: as
 * mail_token_find_reply(), for mail servers without subaddresses.
 */
bool mail_token_find_parent(const struct mail_token *mail_token, const char *token,
    struct subscriber **subscriber, int64_t *digest_id, GError **error);

/** Find the subscriber of an unsubscribe address, which never expires.  As above. */
bool mail_token_find_unsubscribe(const struct mail_token *mail_token, const char *token,
    struct subscriber **subscriber, GError **error);

/**
 * Format the token of a subscriber's preferences.
 *
 * It contains the subscriber's id and the minute at which it expires, and is bound to
 * the subscription and its address: it ends with either.
 */
char *mail_token_format_preferences(
    GBytes *key, const struct subscriber *subscriber, int64_t now);

/**
 * Find the subscriber of a link to the preferences.
 *
 * @param subscriber  set; NULL for an invalid or expired token, or if unsubscribed
 * @param expires_at  set with it, s
 * @return false if the store fails
 */
bool mail_token_find_preferences(const struct mail_token *tokens, const char *token,
    struct subscriber **subscriber, int64_t *expires_at, GError **error);

/* The message that a bounce address belongs to; all 0 for an invalid token. */
struct mail_token_message {
	int64_t digest_id;
	int64_t confirmation_id;
	int64_t outbox_id;     /* of other system mail */
	int64_t subscriber_id; /* 0 if the message was sent to a former address */
};

/** Find the message of a bounce address. */
bool mail_token_find_bounce(const struct mail_token *mail_token, const char *token,
    struct mail_token_message *message, GError **error);

/** Find the digest of an envelope id (RFC 3461 section 4.4), "digest-12.TOKEN". */
bool mail_token_find_envelope(const struct mail_token *mail_token, const char *id,
    struct mail_token_message *message, GError **error);

/**
 * Format the token that takes the place of an unsubscribe token when the page tests
 * itself (service/health/self_test.h).  It belongs to nobody.
 *
 * @param number  of the test, not negative
 * @return owned by the caller
 */
char *mail_token_format_check(GBytes *key, int64_t number);

/**
 * Record a one-click POST of such a test, for mail_token_find_check().
 *
 * @param is_check  set to whether the token is of a test; then nobody is unsubscribed
 * @return false if the store fails
 */
bool mail_token_record_check(const struct mail_token *mail_token, const char *token,
    bool *is_check, GError **error);

/**
 * Find the POST of a test.  Only the last one is stored, for even and for odd numbers,
 * so that two programs can test at the same time.
 *
 * @param is_recorded  set
 */
bool mail_token_find_check(
    struct store *store, int64_t number, bool *is_recorded, GError **error);

/** Format the envelope id of a digest or, with digest_id 0, of system mail. */
char *mail_token_format_envelope(
    const struct token_signer *signer, int64_t digest_id, int64_t outbox_id);

/** Format the token of the reply address of a reply. @return owned by the caller */
char *
mail_token_format_answer(GBytes *key, const struct subscriber *subscriber, int64_t now);

/** Format the token of the envelope sender of a digest. @param made_at  its created_at
 */
char *mail_token_format_bounce(
    const struct token_signer *signer, int64_t digest_id, int64_t made_at);

/** Format the envelope sender of system mail to a subscriber.
 *
 * @param queued_at  its time in the outbox
 */
char *mail_token_format_bounce_mail(
    const struct token_signer *signer, int64_t outbox_id, int64_t queued_at);
