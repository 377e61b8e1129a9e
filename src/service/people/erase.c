/*
 * erase.c - erase a subscriber (GDPR article 17), and manage the suppression list.
 */
#include "service/people/erase.h"

#include <string.h>

#include "base/error.h"
#include "message/address.h"
#include "service/people/subscribe.h"
#include "store/core/audit.h"
#include "store/core/suppression.h"
#include "store/subscriber/erasure.h"
#include "store/subscriber/subscribers.h"

/* Set in the erasing commit, cleared once the file is rewritten. */
#define UNCLEAN "erasure"

/* @param key  set to the address key @return the address */
static char *
parse_address(const struct erase_request *request, char **key, GError **error)
{
	pb_local(address) address = {0};
	char *text;

	if (!address_parse(request->address, &address, error))
		return NULL;
	*key = address_format_key(&address);
	text = g_strdup(address.text);
	return text;
}

/* @return the hash for the suppression list; NULL with PB_ERROR_INPUT */
static char *
hash_address(const struct erase_request *request, GError **error)
{
	g_autofree char *key = NULL;
	g_autofree char *text = parse_address(request, &key, error);

	return text ? suppression_hash(request->key, key) : NULL;
}

/*
 * Erase the subscriber, and mail of the address that does not belong to a subscription.
 */
static bool
erase_all(struct store *store, const struct erase_request *request, GError **error)
{
	g_autofree char *key = NULL;
	g_autofree char *text = parse_address(request, &key, error);
	pb_auto(subscriber) subscriber = NULL;
	unsigned count;

	if (!text || !subscribers_find(store, key, &subscriber, error) ||
	    (subscriber && !erasure_delete_person(store, subscriber->id, error)) ||
	    !erasure_delete_address(store, key, text, &count, error))
		return false;
	return subscriber || count ||
	       pb_error_set(
	           error, PB_ERROR_NOT_FOUND, MSG_PERSON_NONE, "address", text, NULL);
}

/* Erase the rows, in one commit. */
static bool
erase_rows(struct store *store, const struct erase_request *request, int64_t now,
    GError **error)
{
	g_autofree char *hash = hash_address(request, error);
	pb_transaction transaction = {0};

	if (!hash || !store_begin(store, &transaction, error) ||
	    !erase_all(store, request, error))
		return false;
	if (request->is_never_again &&
	    !suppression_insert(store, hash, ERASE_NEVER_AGAIN, now, error))
		return false;
	/* Omit the address, which was just erased. */
	return audit_insert(store, now, request->who, "subscriber forgotten", 0,
	           request->is_never_again ? ERASE_NEVER_AGAIN : NULL, error) &&
	       store_save_cursor(store, UNCLEAN, 1, error) &&
	       store_commit(&transaction, error);
}

bool
erase_clean(struct store *store, GError **error)
{
	int64_t is_unclean;

	if (!store_load_cursor(store, UNCLEAN, 0, &is_unclean, error))
		return false;
	if (!is_unclean)
		return true;
	return store_erase(store, error) && store_save_cursor(store, UNCLEAN, 0, error);
}

bool
erase_person(struct store *store, const struct erase_request *request, int64_t now,
    GError **error)
{
	if (!erase_rows(store, request, now, error)) {
		/*
		 * The rows may be erased already, and only the rewrite of the file
		 * pending.
		 */
		erase_clean(store, NULL);
		return false;
	}
	if (erase_clean(store, error))
		return true;
	g_prefix_error(error,
	    "the data is erased, but traces may remain in the database file until no "
	    "other program uses it, at most a day: ");
	return false;
}

/* Unsubscribe the address, if it is subscribed. */
static bool
unsubscribe(struct store *store, const struct erase_request *request, int64_t now,
    GError **error)
{
	pb_auto(subscriber) subscriber = NULL;

	if (!subscribe_find(store, request->address, &subscriber, error))
		return false;
	if (!subscriber || subscriber->state == SUBSCRIBER_GONE)
		return true;
	return subscribe_remove_now(store, subscriber, now, error) &&
	       audit_insert(store, now, request->who, "subscriber removed",
	           subscriber->id, "the address is suppressed", error);
}

bool
erase_suppress(struct store *store, const struct erase_request *request,
    const char *reason, int64_t now, GError **error)
{
	static const char *const reasons[] = {
	    ERASE_OPERATOR, ERASE_NEVER_AGAIN, "complaint", "dead", NULL};
	g_autofree char *hash = hash_address(request, error);
	pb_transaction transaction = {0};

	if (!hash)
		return false;
	if (!g_strv_contains(reasons, reason))
		return pb_fail(error, PB_ERROR_INPUT,
		    "invalid reason '%.20s' (expected operator, never-again, "
		    "complaint or dead)",
		    reason);
	return store_begin(store, &transaction, error) &&
	       unsubscribe(store, request, now, error) &&
	       suppression_insert(store, hash, reason, now, error) &&
	       audit_insert(
	           store, now, request->who, "suppression added", 0, reason, error) &&
	       store_commit(&transaction, error);
}

bool
erase_release(struct store *store, const struct erase_request *request, int64_t now,
    GError **error)
{
	g_autofree char *key = NULL;
	g_autofree char *text = parse_address(request, &key, error);
	pb_transaction transaction = {0};

	return text && store_begin(store, &transaction, error) &&
	       suppression_delete(store, request->key, key, error) &&
	       audit_insert(
	           store, now, request->who, "suppression removed", 0, NULL, error) &&
	       store_commit(&transaction, error);
}

bool
erase_finish(
    struct store *store, GBytes *key, int64_t now, unsigned *count, GError **error)
{
	for (;;) {
		g_autofree char *address = NULL;
		struct erase_request request = {.key = key, .who = "mail"};

		if (!erasure_find_pending(store, &address, error))
			return false;
		if (!address)
			return true;
		request.address = address;
		if (!erase_person(store, &request, now, error))
			return false;
		(*count)++;
	}
}
