/*
 * mail_token.c - signed tokens in our addresses: VERP, reply, unsubscribe.
 */
#include "service/delivery/mail_token.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "message/subaddress.h"
#include "model/digest.h"
#include "store/mail/digests.h"
#include "store/mail/outbox.h"
#include "store/subscriber/confirmations.h"
#include "store/subscriber/subscribers.h"

/* Number of the last self-test of the page that has arrived. */
static const char *const check_cursors[] = {"web check 0", "web check 1"};

/* Bind a token to the day and the subscription, not to a later one of the address. */
static int64_t
get_reply_binding(const struct subscriber *subscriber, int64_t day)
{
	/* Days since the epoch stay below 100000, so pairs are unique. */
	return subscriber_get_joined(subscriber) * 100000 + day;
}

char *
mail_token_format_answer(GBytes *key, const struct subscriber *subscriber, int64_t now)
{
	return token_sign(key, SUBADDRESS_TOKEN_ANSWER, subscriber->id,
	    get_reply_binding(subscriber, now / CLOCK_DAY_S));
}

char *
mail_token_format_bounce(
    const struct token_signer *signer, int64_t digest_id, int64_t made_at)
{
	return token_signer_sign(signer, SUBADDRESS_TOKEN_BOUNCE, digest_id, made_at);
}

/* The token does not contain the day; try all valid ones. */
static bool
is_reply_token(const struct mail_token *mail_token, const struct subscriber *subscriber,
    const char *token)
{
	int64_t today = mail_token->now / CLOCK_DAY_S;

	for (int64_t day = today; day >= today - MAIL_TOKEN_REPLY_DAYS; day--)
		if (token_check_signed(mail_token->keys, SUBADDRESS_TOKEN_ANSWER,
		        subscriber->id, get_reply_binding(subscriber, day), token))
			return true;
	return false;
}

/* Whether replies to a digest still authenticate its subscriber. */
static bool
is_recent(const struct mail_token *mail_token, const struct digest *digest)
{
	return digest->created_at >=
	       mail_token->now - MAIL_TOKEN_REPLY_DAYS * (int64_t)CLOCK_DAY_S;
}

static bool
is_digest_token(
    const struct mail_token *mail_token, const struct digest *digest, const char *token)
{
	return is_recent(mail_token, digest) &&
	       token_check_signed(mail_token->keys, SUBADDRESS_TOKEN_REPLY, digest->id,
	           digest->created_at, token);
}

bool
mail_token_find_reply(const struct mail_token *mail_token, const char *token,
    struct subscriber **subscriber, int64_t *digest_id, GError **error)
{
	pb_auto(digest) digest = NULL;
	pb_auto(subscriber) found = NULL;
	int64_t id;

	*subscriber = NULL;
	*digest_id = 0;
	if (!token_parse_id(token, &id))
		return true;
	if (!digests_find_head(mail_token->store, id, &digest, error))
		return false;
	if (digest && is_digest_token(mail_token, digest, token)) {
		if (!subscribers_find_id(
		        mail_token->store, digest->subscriber_id, &found, error))
			return false;
		/* It may have been sent to a former address. */
		if (found && digest->created_at >= found->moved_at) {
			*digest_id = digest->id;
			*subscriber = g_steal_pointer(&found);
		}
		return true;
	}
	if (!subscribers_find_id(mail_token->store, id, &found, error))
		return false;
	if (found && is_reply_token(mail_token, found, token))
		*subscriber = g_steal_pointer(&found);
	return true;
}

bool
mail_token_find_parent(const struct mail_token *mail_token, const char *token,
    struct subscriber **subscriber, int64_t *digest_id, GError **error)
{
	pb_auto(digest) digest = NULL;
	int64_t id, subscriber_id;

	*subscriber = NULL;
	*digest_id = 0;
	/* No subscriber if it was sent to a former address. */
	if (!digests_find_by_token(
	        mail_token->store, token, &id, &subscriber_id, error))
		return false;
	if (!subscriber_id)
		return mail_token_find_reply(
		    mail_token, token, subscriber, digest_id, error);
	if (!digests_find_head(mail_token->store, id, &digest, error))
		return false;
	if (!digest || !is_recent(mail_token, digest))
		return true;
	*digest_id = id;
	return subscribers_find_id(mail_token->store, subscriber_id, subscriber, error);
}

bool
mail_token_find_unsubscribe(const struct mail_token *mail_token, const char *token,
    struct subscriber **subscriber, GError **error)
{
	pb_auto(subscriber) found = NULL;
	int64_t id;

	*subscriber = NULL;
	if (!token_parse_id(token, &id))
		return true;
	if (!subscribers_find_id(mail_token->store, id, &found, error))
		return false;
	if (found && token_check_signed(mail_token->keys, SUBADDRESS_TOKEN_LEAVE, id,
	                 subscriber_get_joined(found), token))
		*subscriber = g_steal_pointer(&found);
	return true;
}

/* The end of a token, in steps since the epoch, is beside the id of the subscriber.
 * Until 2129, and with room for the ids after a restore (store/admin/backup.c) until
 * 2318. */
#define STEP_BITS 23
#define STEP_S    600

char *
mail_token_format_preferences(
    GBytes *key, const struct subscriber *subscriber, int64_t now)
{
	int64_t end = (now + MAIL_TOKEN_PREFERENCES_S + STEP_S - 1) / STEP_S;

	return token_sign(key, SUBADDRESS_TOKEN_PREFERENCES,
	    subscriber->id << STEP_BITS | end, subscriber_get_joined(subscriber));
}

bool
mail_token_find_preferences(const struct mail_token *tokens, const char *token,
    struct subscriber **subscriber, int64_t *expires_at, GError **error)
{
	pb_auto(subscriber) found = NULL;
	int64_t id, end;

	*subscriber = NULL;
	if (!token_parse_id(token, &id))
		return true;
	end = (id & ((1 << STEP_BITS) - 1)) * STEP_S;
	if (tokens->now >= end || end - STEP_S > tokens->now + MAIL_TOKEN_PREFERENCES_S)
		return true;
	if (!subscribers_find_id(tokens->store, id >> STEP_BITS, &found, error))
		return false;
	if (!found || !subscriber_is_subscribed(found) ||
	    !token_check_signed(tokens->keys, SUBADDRESS_TOKEN_PREFERENCES, id,
	        subscriber_get_joined(found), token))
		return true;
	*expires_at = end;
	*subscriber = g_steal_pointer(&found);
	return true;
}

char *
mail_token_format_check(GBytes *key, int64_t number)
{
	return token_sign(key, SUBADDRESS_TOKEN_CHECK, number, 0);
}

bool
mail_token_record_check(const struct mail_token *mail_token, const char *token,
    bool *is_check, GError **error)
{
	int64_t number;

	*is_check = token_parse_id(token, &number) &&
	            token_check_signed(
	                mail_token->keys, SUBADDRESS_TOKEN_CHECK, number, 0, token);
	return !*is_check || store_save_cursor(mail_token->store,
	                         check_cursors[number % 2], number, error);
}

bool
mail_token_find_check(
    struct store *store, int64_t number, bool *is_recorded, GError **error)
{
	int64_t last;

	if (!store_load_int64(store, check_cursors[number % 2], -1, &last, error))
		return false;
	*is_recorded = last == number;
	return true;
}

char *
mail_token_format_bounce_mail(
    const struct token_signer *signer, int64_t outbox_id, int64_t queued_at)
{
	return token_signer_sign(
	    signer, SUBADDRESS_TOKEN_BOUNCE_MAIL, outbox_id, queued_at);
}

/* The subscriber of a digest, unless it was sent to a former address. */
static bool
find_digest_subscriber(const struct mail_token *mail_token, const struct digest *digest,
    struct mail_token_message *message, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;

	if (!subscribers_find_id(
	        mail_token->store, digest->subscriber_id, &subscriber, error))
		return false;
	message->digest_id = digest->id;
	if (subscriber && digest->created_at >= subscriber->moved_at)
		message->subscriber_id = subscriber->id;
	return true;
}

/* System mail is found as long as its row is kept. */
static bool
find_mail(const struct mail_token *mail_token, int64_t id, const char *token,
    struct mail_token_message *message, GError **error)
{
	g_autoptr(GError) problem = NULL;
	g_autofree struct outbox_message *mail =
	    outbox_load_message(mail_token->store, id, &problem);
	pb_auto(subscriber) subscriber = NULL;

	if (!mail)
		return g_error_matches(problem, PB_ERROR, PB_ERROR_NOT_FOUND) ||
		       pb_error_forward(error, &problem);
	if (mail->digest_id > 0 || mail->subscriber_id < 0 ||
	    !token_check_signed(mail_token->keys, SUBADDRESS_TOKEN_BOUNCE_MAIL, id,
	        mail->queued_at, token))
		return true;
	message->outbox_id = id;
	if (!subscribers_find_id(
	        mail_token->store, mail->subscriber_id, &subscriber, error))
		return false;
	if (subscriber && g_ascii_strcasecmp(subscriber->address, mail->recipient) == 0)
		message->subscriber_id = subscriber->id;
	return true;
}

bool
mail_token_find_bounce(const struct mail_token *mail_token, const char *token,
    struct mail_token_message *message, GError **error)
{
	pb_auto(digest) digest = NULL;
	g_autofree struct confirmation *confirmation = NULL;
	int64_t id;

	*message = (struct mail_token_message){0};
	if (!token_parse_id(token, &id))
		return true;
	if (!digests_find_head(mail_token->store, id, &digest, error) ||
	    !confirmations_find_id(mail_token->store, id, &confirmation, error))
		return false;
	if (digest && token_check_signed(mail_token->keys, SUBADDRESS_TOKEN_BOUNCE, id,
	                  digest->created_at, token))
		return find_digest_subscriber(mail_token, digest, message, error);
	if (confirmation &&
	    token_check_signed(mail_token->keys, SUBADDRESS_TOKEN_BOUNCE_CONFIRMATION,
	        id, confirmation->made_at, token)) {
		message->confirmation_id = id;
		return true;
	}
	return find_mail(mail_token, id, token, message, error);
}

char *
mail_token_format_envelope(
    const struct token_signer *signer, int64_t digest_id, int64_t outbox_id)
{
	int64_t id = digest_id > 0 ? digest_id : outbox_id;
	g_autofree char *token =
	    token_signer_derive(signer, digest_id > 0 ? "envelope" : "letter", id);

	return g_strdup_printf("%s-%" G_GINT64_FORMAT ".%s",
	    digest_id > 0 ? "digest" : "letter", id, token);
}

bool
mail_token_find_envelope(const struct mail_token *mail_token, const char *id,
    struct mail_token_message *message, GError **error)
{
	struct token_signer *signer = token_signer_new(mail_token->keys);
	g_autofree char *expected = NULL;
	pb_auto(digest) digest = NULL;
	gint64 digest_id = 0;

	*message = (struct mail_token_message){0};
	if (g_str_has_prefix(id, "digest-"))
		digest_id = g_ascii_strtoll(id + strlen("digest-"), NULL, 10);
	if (digest_id > 0)
		expected = mail_token_format_envelope(signer, digest_id, 0);
	token_signer_free(signer);
	if (!expected || g_ascii_strcasecmp(expected, id) != 0)
		return true;
	if (!digests_find_head(mail_token->store, digest_id, &digest, error))
		return false;
	return !digest || find_digest_subscriber(mail_token, digest, message, error);
}
