/*
 * web_token.c - signed tokens in URLs of the page.
 */
#include "service/web/web_token.h"

#include "base/token.h"
#include "message/subaddress.h"
#include "model/digest.h"
#include "store/mail/digests.h"
#include "store/subscriber/private_feeds.h"
#include "store/subscriber/subscribers.h"

/* Bits of a minute since the epoch, until 2097. */
#define MINUTE_BITS 26
#define MINUTE_S    60

/* ---- preferences ---- */

char *
web_token_format_preferences(
    GBytes *key, const struct subscriber *subscriber, int64_t now)
{
	int64_t minute = (now + WEB_TOKEN_PREFERENCES_S) / MINUTE_S;

	return token_sign(key, SUBADDRESS_TOKEN_PREFERENCES,
	    subscriber->id << MINUTE_BITS | minute, subscriber_get_joined(subscriber));
}

bool
web_token_find_preferences(const struct mail_token *tokens, const char *token,
    struct subscriber **subscriber, int64_t *expires_at, GError **error)
{
	pb_auto(subscriber) found = NULL;
	int64_t id, end;

	*subscriber = NULL;
	if (!token_parse_id(token, &id))
		return true;
	end = (id & ((1 << MINUTE_BITS) - 1)) * MINUTE_S;
	if (tokens->now >= end || end > tokens->now + WEB_TOKEN_PREFERENCES_S)
		return true;
	if (!subscribers_find_id(tokens->store, id >> MINUTE_BITS, &found, error))
		return false;
	if (!found || !subscriber_is_subscribed(found) ||
	    !token_check_signed(tokens->keys, SUBADDRESS_TOKEN_PREFERENCES, id,
	        subscriber_get_joined(found), token))
		return true;
	*expires_at = end;
	*subscriber = g_steal_pointer(&found);
	return true;
}

/* ---- digests ---- */

bool
web_token_find_digest(const struct mail_token *tokens, const char *token,
    int64_t *digest_id, GError **error)
{
	pb_auto(digest) digest = NULL;
	int64_t id;

	*digest_id = 0;
	if (!token_parse_id(token, &id))
		return true;
	if (!digests_find_head(tokens->store, id, &digest, error))
		return false;
	/* One of a former subscription or address would show those of today. */
	if (digest && digest->created_at >= digest->subscriber_since &&
	    token_check_signed(
	        tokens->keys, SUBADDRESS_TOKEN_VIEW, id, digest->created_at, token))
		*digest_id = id;
	return true;
}

/* ---- feeds ---- */

/* Numbers of subscriptions may be used again. */
static int64_t
get_filter_binding(int64_t since, int64_t created_at)
{
	/* Both are below 2^32 until 2106. */
	return (int64_t)((uint64_t)since << 31 ^ (uint64_t)created_at);
}

char *
web_token_format_feed(GBytes *key, int64_t subscriber_id, int64_t since)
{
	return token_sign(key, SUBADDRESS_TOKEN_FEED, subscriber_id, since);
}

char *
web_token_format_filter_feed(
    GBytes *key, const struct subscription *subscription, int64_t since)
{
	return token_sign(key, SUBADDRESS_TOKEN_FILTER_FEED, subscription->id,
	    get_filter_binding(since, subscription->created_at));
}

void
web_token_feed_clear(struct web_token_feed *feed)
{
	g_clear_pointer(&feed->label, g_free);
}

static bool
find_filter_feed(const struct mail_token *tokens, const char *token, int64_t id,
    struct web_token_feed *feed, GError **error)
{
	g_autofree struct private_feed_filter *filter = NULL;
	int64_t since;

	if (!private_feeds_find_filter(tokens->store, id, &filter, error))
		return false;
	if (!filter)
		return true;
	if (!private_feeds_load_since(
	        tokens->store, filter->subscriber_id, &since, error))
		return false;
	if (since < 0 || !token_check_signed(tokens->keys, SUBADDRESS_TOKEN_FILTER_FEED,
	                     id, get_filter_binding(since, filter->created_at), token))
		return true;
	feed->subscriber_id = filter->subscriber_id;
	feed->subscription_id = id;
	feed->label = g_strdup(filter->label);
	return true;
}

bool
web_token_find_feed(const struct mail_token *tokens, const char *token,
    struct web_token_feed *feed, GError **error)
{
	int64_t id, since;

	*feed = (struct web_token_feed){0};
	if (!token_parse_id(token, &id))
		return true;
	if (!private_feeds_load_since(tokens->store, id, &since, error))
		return false;
	if (since >= 0 &&
	    token_check_signed(tokens->keys, SUBADDRESS_TOKEN_FEED, id, since, token)) {
		feed->subscriber_id = id;
		return true;
	}
	return find_filter_feed(tokens, token, id, feed, error);
}
