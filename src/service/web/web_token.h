/*
 * web_token.h - signed tokens in URLs of the page.
 *
 * Each contains the number of a row (base/token.h) and is checked against values of
 * that row.  The token of an unsubscribe page is that of the address
 * (service/delivery/mail_token.h).
 */
#ifndef PAPERBOY_SERVICE_WEB_WEB_TOKEN_H
#define PAPERBOY_SERVICE_WEB_WEB_TOKEN_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/subscriber.h"
#include "service/delivery/mail_token.h"

/* Lifetime of a link to the preferences. */
#define WEB_TOKEN_PREFERENCES_S (24 * 3600)

/**
 * Format the token of a subscriber's preferences.
 *
 * It contains the subscriber's id and the minute at which it expires, and is bound to
 * the subscription and its address: it ends with either.
 */
char *web_token_format_preferences(
    GBytes *key, const struct subscriber *subscriber, int64_t now);

/**
 * Find the subscriber of a link to the preferences.
 *
 * @param subscriber  set; NULL for an invalid or expired token, or if unsubscribed
 * @param expires_at  set with it, s
 * @return false if the store fails
 */
bool web_token_find_preferences(const struct mail_token *tokens, const char *token,
    struct subscriber **subscriber, int64_t *expires_at, GError **error);

/** Find the digest of a link to it. @param digest_id  set; 0: invalid */
bool web_token_find_digest(const struct mail_token *tokens, const char *token,
    int64_t *digest_id, GError **error);

/** Format the token of the feed of all filters. @param since  when feeds were turned
 * on */
char *web_token_format_feed(GBytes *key, int64_t subscriber_id, int64_t since);

/** Likewise of one filter. */
char *web_token_format_filter_feed(
    GBytes *key, const struct subscription *subscription, int64_t since);

/* The owner and the filter of a feed. */
struct web_token_feed {
	int64_t subscriber_id;   /* 0: an invalid token */
	int64_t subscription_id; /* of one filter; 0: all */
	char *label;             /* of the filter, or NULL */
};

void web_token_feed_clear(struct web_token_feed *feed);

/** Find the feed of a token. @param feed  set; web_token_feed_clear() it */
bool web_token_find_feed(const struct mail_token *tokens, const char *token,
    struct web_token_feed *feed, GError **error);

#endif
