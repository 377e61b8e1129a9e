/*
 * erase.c - erase a subscriber (GDPR article 17), and manage the suppression list.
 */
#include "service/people/erase.h"

#include <string.h>

#include "base/error.h"
#include "message/address.h"
#include "service/people/person.h"
#include "service/people/subscribe.h"
#include "store/subscriber/audit.h"
#include "store/subscriber/erasure.h"
#include "store/subscriber/subscribers.h"
#include "store/subscriber/suppression.h"

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
	       pb_error_set(error, PB_ERROR_NOT_FOUND,
	           N_("{address} is not a subscriber"), "address", text, NULL);
}

/* A request in its transaction. */
struct work {
	const struct erase_request *request;
	const char *reason; /* of a suppression; NULL: none */
	int64_t now;
};

static bool
suppress(struct store *store, const struct work *work, GError **error)
{
	g_autofree char *hash = hash_address(work->request, error);

	return hash && suppression_insert(store, hash, work->reason, work->now, error);
}

static bool
erase_rows(struct store *store, void *data, GError **error)
{
	const struct work *work = data;

	/* Omit the address, which was just erased. */
	return erase_all(store, work->request, error) &&
	       (!work->reason || suppress(store, work, error)) &&
	       audit_insert(store, work->now, work->request->who,
	           "subscriber forgotten", 0, work->reason, error) &&
	       store_save_cursor(store, UNCLEAN, 1, error);
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
	struct work work = {
	    request, request->is_never_again ? ERASE_NEVER_AGAIN : NULL, now};

	if (!store_transact(store, erase_rows, &work, error)) {
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

	if (!person_find(store, request->address, &subscriber, error))
		return false;
	if (!subscriber || subscriber->state == SUBSCRIBER_GONE)
		return true;
	return subscribe_remove_now(store, subscriber, now, error) &&
	       audit_insert(store, now, request->who, "subscriber removed",
	           subscriber->id, "the address is suppressed", error);
}

static bool
unsubscribe_and_suppress(struct store *store, void *data, GError **error)
{
	const struct work *work = data;

	return unsubscribe(store, work->request, work->now, error) &&
	       suppress(store, work, error) &&
	       audit_insert(store, work->now, work->request->who, "suppression added",
	           0, work->reason, error);
}

bool
erase_suppress(struct store *store, const struct erase_request *request,
    const char *reason, int64_t now, GError **error)
{
	static const char *const reasons[] = {
	    ERASE_OPERATOR, ERASE_NEVER_AGAIN, "complaint", "dead", NULL};
	struct work work = {request, reason, now};

	if (!g_strv_contains(reasons, reason))
		return pb_fail(error, PB_ERROR_INPUT,
		    "invalid reason '%.20s' (expected operator, never-again, "
		    "complaint or dead)",
		    reason);
	return store_transact(store, unsubscribe_and_suppress, &work, error);
}

static bool
release(struct store *store, void *data, GError **error)
{
	const struct work *work = data;
	const struct erase_request *request = work->request;
	g_autofree char *key = NULL;
	g_autofree char *text = parse_address(request, &key, error);

	return text && suppression_delete(store, request->key, key, error) &&
	       audit_insert(store, work->now, request->who, "suppression removed", 0,
	           NULL, error);
}

bool
erase_release(struct store *store, const struct erase_request *request, int64_t now,
    GError **error)
{
	struct work work = {request, NULL, now};

	return store_transact(store, release, &work, error);
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
