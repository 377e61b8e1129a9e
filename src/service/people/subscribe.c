/*
 * subscribe.c - add and remove subscribers and their filters.
 */
#include "service/people/subscribe.h"
#include "service/people/person.h"

#include <string.h>

#include "base/bounds.h"
#include "base/day.h"
#include "base/error.h"
#include "base/text.h"
#include "base/zone.h"
#include "message/address.h"
#include "service/people/filters.h"
#include "service/people/profile.h"
#include "store/mail/bounces.h"
#include "store/mail/outbox.h"
#include "store/subscriber/audit.h"
#include "store/subscriber/confirmations.h"
#include "store/subscriber/private_feeds.h"
#include "store/subscriber/subscribers.h"
#include "store/subscriber/suppression.h"

/* Fill a new or returning subscriber from the request. */
static bool
apply_request(struct subscriber *subscriber, const struct subscribe_request *request,
    int64_t now, GError **error)
{
	g_autoptr(GTimeZone) zone = zone_load(request->zone, error);

	if (!zone)
		return false;
	if (!request->consent || !*request->consent)
		return pb_error_set(error, PB_ERROR_INPUT,
		    N_("missing consent: how the person agreed, in words"), NULL);
	if (!text_check_line(
	        "consent", request->consent, BOUNDS_CONSENT_BYTES, error) ||
	    !text_check_line(
	        "name", subscriber->name, BOUNDS_PERSON_NAME_BYTES, error) ||
	    !profile_check_max(request->max_full, error))
		return false;
	subscriber->state = SUBSCRIBER_ACTIVE;
	subscriber->schedule = schedule_normalize(&request->schedule);
	subscriber->max_full = request->max_full;
	g_free(subscriber->zone);
	subscriber->zone = g_strdup(request->zone);
	g_free(subscriber->consent_text);
	subscriber->consent_text = g_strdup(request->consent);
	subscriber->consent_at = now;
	subscriber->is_first_due = true;
	subscriber->next_due_at = now;
	return true;
}

/*
 * Check that an address may be mailed.
 *
 * @param is_return  whether the person confirms a request to come back
 * @return false with PB_ERROR_INPUT if it is suppressed
 */
static bool
check_suppression(struct store *store, GBytes *key, const char *address_key,
    bool is_return, GError **error)
{
	g_autofree struct suppression *found = NULL;
	char day[DAY_BYTES];

	if (!suppression_find(store, key, address_key, &found, error))
		return false;
	if (!found || (is_return && suppression_can_end(found->reason)))
		return true;
	day_format(found->at, day);
	return pb_error_set(error, PB_ERROR_INPUT,
	    N_("this address is suppressed since {day} ({reason}): it gets no mail"),
	    "day", day, "reason", found->reason, NULL);
}

/* After check_suppression(). */
static bool
end_suppression(struct store *store, const struct subscribe_request *request,
    const struct subscriber *subscriber, int64_t now, GError **error)
{
	const char *address_key = subscriber->address_key;
	g_autofree struct suppression *found = NULL;

	return suppression_find(store, request->key, address_key, &found, error) &&
	       (!found ||
	           (suppression_delete(store, request->key, address_key, error) &&
	               audit_insert(store, now, request->who, "suppression removed",
	                   subscriber->id, found->reason, error)));
}

struct subscriber *
subscribe_prepare(struct store *store, const struct subscribe_request *request,
    int64_t now, GError **error)
{
	pb_local(address) address = {0};
	g_autofree char *name = NULL;
	g_autofree char *key = NULL;
	pb_auto(subscriber) subscriber = NULL;
	bool is_new, is_ok;

	if (!address_parse_mailbox(request->address, &address, &name, error))
		return NULL;
	key = address_format_key(&address);
	if (!subscribers_find(store, key, &subscriber, error) ||
	    !check_suppression(store, request->key, key, request->is_return, error))
		return NULL;
	is_new = !subscriber;
	if (!is_new && subscriber->state != SUBSCRIBER_GONE) {
		pb_error_set(error, PB_ERROR_INPUT,
		    N_("this address is already subscribed"), NULL);
		return NULL;
	}
	if (is_new) {
		subscriber = subscriber_new();
		subscriber->address_key = g_steal_pointer(&key);
		subscriber->created_at = now;
	}
	g_free(subscriber->address);
	subscriber->address = g_strdup(address.text);
	g_free(subscriber->name);
	subscriber->name =
	    request->name ? g_strdup(request->name) : g_steal_pointer(&name);
	is_ok = apply_request(subscriber, request, now, error);
	return is_ok ? g_steal_pointer(&subscriber) : NULL;
}

/* A request in its transaction. */
struct addition {
	const struct subscribe_request *request;
	int64_t now;
	struct query_error *problem;
	/* Set: index of the filter that was tried last; on failure the refused one. */
	unsigned refused;
	struct subscriber *subscriber; /* set */
};

static bool
add_filters(struct store *store, struct addition *addition,
    const struct filters_start *start, GError **error)
{
	const struct filters_insertion to = {
	    .subscriber_id = addition->subscriber->id,
	    .start = start,
	    .now = addition->now,
	    .problem = addition->problem,
	};

	for (unsigned i = 0; i < addition->request->filter_count; i++) {
		pb_auto(subscription) subscription =
		    filters_insert(store, &to, &addition->request->filters[i], error);

		addition->refused = i;
		if (!subscription)
			return false;
	}
	return true;
}

static bool
add(struct store *store, void *data, GError **error)
{
	struct addition *addition = data;
	const struct subscribe_request *request = addition->request;
	struct subscriber *subscriber;
	struct filters_start start;

	g_clear_pointer(&addition->subscriber, subscriber_free);
	if (!filters_load_start(store, addition->now, &start, error))
		return false;
	subscriber = subscribe_prepare(store, request, addition->now, error);
	addition->subscriber = subscriber;
	return subscriber &&
	       (subscriber->id ? subscribers_update(store, subscriber, error)
	                       : subscribers_insert(store, subscriber, error)) &&
	       end_suppression(store, request, subscriber, addition->now, error) &&
	       /* The owner need not decide any more. */
	       confirmations_revoke(
	           store, CONFIRMATION_APPROVAL, subscriber->address_key, error) &&
	       add_filters(store, addition, &start, error) &&
	       audit_insert(store, addition->now, request->who, "subscriber added",
	           subscriber->id, request->consent, error);
}

struct subscriber *
subscribe_add(struct store *store, const struct subscribe_request *request, int64_t now,
    struct query_error *problem, unsigned *refused, GError **error)
{
	struct addition addition = {.request = request, .now = now, .problem = problem};

	if (store_transact(store, add, &addition, error))
		return addition.subscriber;
	if (refused)
		*refused = addition.refused;
	subscriber_free(addition.subscriber);
	return NULL;
}

static bool
apply_address(struct store *store, struct subscriber *subscriber,
    const struct address *parsed, GBytes *key, int64_t now, GError **error)
{
	g_autofree char *address_key = address_format_key(parsed);
	pb_auto(subscriber) other = NULL;

	if (!subscribers_find(store, address_key, &other, error))
		return false;
	if (other && other->id != subscriber->id)
		return pb_error_set(error, PB_ERROR_INPUT,
		    N_("this address cannot be used: it is or was subscribed here"),
		    NULL);
	if (!check_suppression(store, key, address_key, false, error))
		return false;
	/* An address that differs only in case is not a different mailbox. */
	if (strcmp(subscriber->address_key, address_key) != 0)
		subscriber->moved_at = MAX(now, subscriber_get_joined(subscriber) + 1);
	g_free(subscriber->address);
	subscriber->address = g_strdup(parsed->text);
	g_free(subscriber->address_key);
	subscriber->address_key = g_steal_pointer(&address_key);
	return true;
}

/* The evidence is about the former address.  As by bounce_restore(). */
static bool
clear_bounces(
    struct store *store, struct subscriber *subscriber, int64_t now, GError **error)
{
	if (!bounces_reset(store, subscriber->id, error))
		return false;
	if (subscriber->state != SUBSCRIBER_SUSPENDED)
		return true;
	subscriber->state = SUBSCRIBER_ACTIVE;
	subscriber->is_first_due = true;
	subscriber->next_due_at = now;
	return subscribers_update(store, subscriber, error);
}

struct new_address {
	const char *wanted;
	GBytes *key;
};

static bool
change_address(struct store *store, struct subscriber *subscriber,
    const struct person_change *change, GError **error)
{
	const struct new_address *to = change->data;
	pb_local(address) parsed = {0};

	return address_parse(to->wanted, &parsed, error) &&
	       apply_address(store, subscriber, &parsed, to->key, change->now, error) &&
	       subscribers_change_address(store, subscriber, error) &&
	       clear_bounces(store, subscriber, change->now, error) &&
	       audit_insert(store, change->now, change->who, "address changed",
	           subscriber->id, NULL, error);
}

struct subscriber *
subscribe_change_address(struct store *store, const char *address, const char *wanted,
    GBytes *key, const char *who, int64_t now, GError **error)
{
	struct new_address to = {wanted, key};
	const struct person_change change = {address, who, now, change_address, &to};

	return person_transact(store, &change, error);
}

bool
subscribe_remove_now(
    struct store *store, struct subscriber *subscriber, int64_t now, GError **error)
{
	subscriber->state = SUBSCRIBER_GONE;
	subscriber->next_due_at = -1;
	*subscriber->paused_until = '\0';
	return subscribers_update(store, subscriber, error) &&
	       subscribers_delete_subscriptions(store, subscriber->id, error) &&
	       private_feeds_turn_off(store, subscriber->id, error) &&
	       bounces_reset(store, subscriber->id, error) &&
	       outbox_cancel(store, subscriber->id, now, error);
}

static bool
remove_with_audit(struct store *store, struct subscriber *subscriber,
    const struct person_change *change, GError **error)
{
	return subscribe_remove_now(store, subscriber, change->now, error) &&
	       audit_insert(store, change->now, change->who, "subscriber removed",
	           subscriber->id, NULL, error);
}

bool
subscribe_remove(struct store *store, const char *address, const char *who, int64_t now,
    GError **error)
{
	const struct person_change change = {
	    address, who, now, remove_with_audit, NULL};
	pb_auto(subscriber) removed = person_transact(store, &change, error);

	return removed != NULL;
}

/* A filter that is being added. */
struct filter_addition {
	const struct subscribe_filter *filter;
	struct query_error *problem;
	/* Set. */
	struct subscription *subscription;
	GPtrArray *warnings;
};

static void
filter_addition_clear(struct filter_addition *addition)
{
	g_clear_pointer(&addition->subscription, subscription_free);
	g_clear_pointer(&addition->warnings, g_ptr_array_unref);
}

static bool
add_filter(struct store *store, struct subscriber *subscriber,
    const struct person_change *change, GError **error)
{
	struct filter_addition *addition = change->data;
	const struct subscribe_filter *filter = addition->filter;
	struct filters_start start;
	const struct filters_insertion to = {.subscriber_id = subscriber->id,
	    .start = &start,
	    .now = change->now,
	    .problem = addition->problem,
	    .warnings = &addition->warnings};

	filter_addition_clear(addition);
	if (!filters_load_start(store, change->now, &start, error))
		return false;
	addition->subscription = filters_insert(store, &to, filter, error);
	return addition->subscription &&
	       audit_insert(store, change->now, change->who,
	           filter->is_block ? "block added" : "filter added", subscriber->id,
	           addition->subscription->canonical, error);
}

struct subscription *
subscribe_add_filter(struct store *store, const char *address,
    const struct subscribe_filter *filter, const char *who, int64_t now,
    struct query_error *problem, GPtrArray **warnings, GError **error)
{
	pb_local(filter_addition) addition = {.filter = filter, .problem = problem};
	const struct person_change change = {address, who, now, add_filter, &addition};
	pb_auto(subscriber) subscriber = person_transact(store, &change, error);

	if (!subscriber)
		return NULL;
	if (warnings)
		*warnings = g_steal_pointer(&addition.warnings);
	return g_steal_pointer(&addition.subscription);
}

static bool
remove_filter(struct store *store, struct subscriber *subscriber,
    const struct person_change *change, GError **error)
{
	const int *number = change->data;
	g_autofree char *detail = g_strdup_printf("filter %d", *number);

	return subscribers_delete_subscription(store, subscriber->id, *number, error) &&
	       audit_insert(store, change->now, change->who, "filter removed",
	           subscriber->id, detail, error);
}

bool
subscribe_remove_filter(struct store *store, const char *address, int number,
    const char *who, int64_t now, GError **error)
{
	const struct person_change change = {address, who, now, remove_filter, &number};
	pb_auto(subscriber) subscriber = person_transact(store, &change, error);

	return subscriber != NULL;
}
