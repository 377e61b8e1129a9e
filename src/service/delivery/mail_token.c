/*
 * mail_token.c - what a token in one of our addresses proves.
 */
#include "service/delivery/mail_token.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/token.h"
#include "message/subaddress.h"
#include "model/digest.h"
#include "store/mail/digests.h"
#include "store/subscriber/confirmations.h"
#include "store/subscriber/subscribers.h"

/* The day of an answer, and whom it was for: not who has the address since. */
static int64_t
bind_answer(const struct subscriber *subscriber, int64_t day)
{
	/* Both count from the epoch: no two pairs that can be come to the same. */
	return subscriber_get_joined(subscriber) * 100000 + day;
}

char *
mail_token_format_answer(GBytes *key, const struct subscriber *subscriber, int64_t now)
{
	return token_sign(key, SUBADDRESS_TOKEN_ANSWER, subscriber->id,
	    bind_answer(subscriber, now / CLOCK_DAY_S));
}

char *
mail_token_format_bounce(
    const struct token_signer *maker, int64_t digest_id, int64_t made_at)
{
	return token_signer_sign(maker, SUBADDRESS_TOKEN_BOUNCE, digest_id, made_at);
}

/* The day is not in the token: there are few that it can be. */
static bool
is_of_answer(const struct mail_token *mail_token, const struct subscriber *subscriber,
    const char *token)
{
	int64_t today = mail_token->now / CLOCK_DAY_S;

	for (int64_t day = today; day >= today - MAIL_TOKEN_REPLY_DAYS; day--)
		if (token_check_signed(mail_token->keys, SUBADDRESS_TOKEN_ANSWER,
		        subscriber->id, bind_answer(subscriber, day), token))
			return true;
	return false;
}

static bool
is_of_digest(
    const struct mail_token *mail_token, const struct digest *digest, const char *token)
{
	int64_t oldest = mail_token->now - MAIL_TOKEN_REPLY_DAYS * (int64_t)CLOCK_DAY_S;

	return digest->created_at >= oldest &&
	       token_check_signed(mail_token->keys, SUBADDRESS_TOKEN_REPLY, digest->id,
	           digest->created_at, token);
}

bool
mail_token_find_reply(const struct mail_token *mail_token, const char *token,
    struct subscriber **subscriber, int64_t *digest_id, GError **error)
{
	pb_auto(digest) digest = NULL;
	pb_auto(subscriber) person = NULL;
	int64_t id;

	*subscriber = NULL;
	*digest_id = 0;
	if (!token_parse_id(token, &id))
		return true;
	if (!digests_find_head(mail_token->store, id, &digest, error))
		return false;
	if (digest && is_of_digest(mail_token, digest, token)) {
		if (!subscribers_find_id(
		        mail_token->store, digest->subscriber_id, &person, error))
			return false;
		/* It may have gone to an address that the person has no more. */
		if (person && digest->created_at >= person->moved_at) {
			*digest_id = digest->id;
			*subscriber = g_steal_pointer(&person);
		}
		return true;
	}
	if (!subscribers_find_id(mail_token->store, id, &person, error))
		return false;
	if (person && is_of_answer(mail_token, person, token))
		*subscriber = g_steal_pointer(&person);
	return true;
}

bool
mail_token_find_leave(const struct mail_token *mail_token, const char *token,
    struct subscriber **subscriber, GError **error)
{
	pb_auto(subscriber) person = NULL;
	int64_t id;

	*subscriber = NULL;
	if (!token_parse_id(token, &id))
		return true;
	if (!subscribers_find_id(mail_token->store, id, &person, error))
		return false;
	if (person && token_check_signed(mail_token->keys, SUBADDRESS_TOKEN_LEAVE, id,
	                  subscriber_get_joined(person), token))
		*subscriber = g_steal_pointer(&person);
	return true;
}

bool
mail_token_find_bounce(const struct mail_token *mail_token, const char *token,
    int64_t *digest_id, int64_t *ticket_id, GError **error)
{
	pb_auto(digest) digest = NULL;
	pb_auto(confirmation) ticket = NULL;
	int64_t id;

	*digest_id = *ticket_id = 0;
	if (!token_parse_id(token, &id))
		return true;
	if (!digests_find_head(mail_token->store, id, &digest, error) ||
	    !confirmations_find_id(mail_token->store, id, &ticket, error))
		return false;
	if (digest && token_check_signed(mail_token->keys, SUBADDRESS_TOKEN_BOUNCE, id,
	                  digest->created_at, token))
		*digest_id = id;
	if (ticket &&
	    token_check_signed(mail_token->keys, SUBADDRESS_TOKEN_BOUNCE_CONFIRMATION,
	        id, ticket->made_at, token))
		*ticket_id = id;
	return true;
}
