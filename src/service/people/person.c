/*
 * person.c - find subscribers by address, and change one in a transaction.
 */
#include "service/people/person.h"

#include "base/error.h"
#include "message/address.h"
#include "store/subscriber/subscribers.h"

bool
person_find(struct store *store, const char *text, struct subscriber **subscriber,
    GError **error)
{
	pb_local(address) address = {0};
	g_autofree char *key = NULL;

	if (!address_parse(text, &address, error))
		return false;
	key = address_format_key(&address);
	return subscribers_find(store, key, subscriber, error);
}

static struct subscriber *
load(struct store *store, const char *text, bool is_any, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;

	if (!person_find(store, text, &subscriber, error))
		return NULL;
	if (subscriber && (is_any || subscriber->state != SUBSCRIBER_GONE))
		return g_steal_pointer(&subscriber);
	pb_error_set(error, PB_ERROR_NOT_FOUND, N_("{address} is not a subscriber"),
	    "address", text, NULL);
	return NULL;
}

struct subscriber *
person_load(struct store *store, const char *text, GError **error)
{
	return load(store, text, false, error);
}

struct changing {
	const struct person_change *change;
	struct subscriber *subscriber; /* set */
};

static bool
load_and_change(struct store *store, void *data, GError **error)
{
	struct changing *changing = data;
	const struct person_change *change = changing->change;

	g_clear_pointer(&changing->subscriber, subscriber_free);
	changing->subscriber = person_load(store, change->address, error);
	return changing->subscriber &&
	       change->run(store, changing->subscriber, change, error);
}

struct subscriber *
person_transact(struct store *store, const struct person_change *change, GError **error)
{
	struct changing changing = {change, NULL};

	if (store_transact(store, load_and_change, &changing, error))
		return changing.subscriber;
	subscriber_free(changing.subscriber);
	return NULL;
}

struct subscriber *
person_load_any(struct store *store, const char *text, GError **error)
{
	return load(store, text, true, error);
}

bool
person_load_id(struct store *store, const char *text, int64_t *id, GError **error)
{
	pb_auto(subscriber) subscriber = person_load(store, text, error);

	if (subscriber)
		*id = subscriber->id;
	return subscriber != NULL;
}
