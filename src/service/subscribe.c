/*
 * subscribe.c - people come, go, and change their filters.
 */
#include "service/subscribe.h"

#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "base/day.h"
#include "base/error.h"
#include "base/zone.h"
#include "mail/address.h"
#include "query/query.h"
#include "service/edition.h"
#include "service/match.h"
#include "store/audit.h"
#include "store/outbox.h"
#include "store/papers.h"
#include "store/people.h"

static bool
set_input_error(GError **error, const char *message)
{
	g_set_error_literal(error, PB_ERROR, PB_ERROR_INPUT, message);
	return false;
}

/*
 * What people say goes into headers, tables and terminals: one line of text, not
 * too long.
 *
 * @param what  "the name"
 * @param text  NULL is fine
 */
static bool
check_text(const char *what, const char *text, size_t most, GError **error)
{
	const char *problem = NULL;

	if (!text)
		return true;
	if (!*text)
		problem = "is empty";
	else if (strlen(text) > most)
		problem = "is too long";
	else if (!g_utf8_validate(text, -1, NULL))
		problem = "is not UTF-8";
	for (; !problem && *text; text = g_utf8_next_char(text))
		if (g_unichar_iscntrl(g_utf8_get_char(text)))
			problem = "has a control character";
	if (problem)
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT, "%s %s", what, problem);
	return !problem;
}

/* Give a filter to somebody; in the caller's transaction. */
static struct subscription *
insert_filter(struct store *store, int64_t subscriber_id,
    const struct subscribe_filter *filter, int64_t now, struct query_problem *problem,
    GPtrArray **warnings, GError **error)
{
	g_autoptr(GPtrArray) own =
	    people_load_subscriptions(store, subscriber_id, error);
	g_autoptr(GPtrArray) notes = NULL;
	pb_auto(subscription) subscription = subscription_new();
	pb_auto(query) query = NULL;
	g_autofree char *hash = NULL;
	char oldest_day[DAY_BYTES];
	int64_t through;

	if (!own ||
	    !check_text("the filter's name", filter->name, BOUNDS_FILTER_NAME, error))
		return NULL;
	if (own->len >= BOUNDS_FILTERS_PERSON) {
		g_set_error(error, PB_ERROR, PB_ERROR_LIMIT,
		    "a person can have %d filters, and that many are there",
		    BOUNDS_FILTERS_PERSON);
		return NULL;
	}
	query = query_parse(
	    filter->text, store_get_tokenizer(store), &notes, problem, error);
	if (!query)
		return NULL;
	hash = query_hash(query);
	subscription->subscriber_id = subscriber_id;
	subscription->name = g_strdup(filter->name);
	subscription->text = g_strdup(filter->text);
	subscription->canonical = query_format(query);
	subscription->is_block = filter->is_block;
	day_format(
	    now - EDITION_FIRST_DAYS * (int64_t)CLOCK_DAY_S, subscription->since_day);
	day_format(now - MATCH_WAIT_DAYS * (int64_t)CLOCK_DAY_S, oldest_day);
	if (!papers_load_revision_before(store, oldest_day, &through, error) ||
	    !people_insert_subscription(store, subscription, hash, through, now, error))
		return NULL;
	if (warnings)
		*warnings = g_steal_pointer(&notes);
	return g_steal_pointer(&subscription);
}

/* Fill a new or returning subscriber from what was asked for. */
static bool
apply_request(struct subscriber *subscriber, const struct subscribe_request *request,
    int64_t now, GError **error)
{
	g_autoptr(GTimeZone) zone = zone_load(request->zone, error);

	if (!zone)
		return false;
	if (!request->consent || !*request->consent)
		return set_input_error(
		    error, "how the person agreed is wanted, in words: the consent");
	if (!check_text("the consent", request->consent, BOUNDS_CONSENT_BYTES, error) ||
	    !check_text(
	        "the person's name", subscriber->name, BOUNDS_PERSON_NAME_BYTES, error))
		return false;
	if (request->max_full < 1 || request->max_full > BOUNDS_DIGEST_FULL_MAX) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT, "max must be from 1 to %d",
		    BOUNDS_DIGEST_FULL_MAX);
		return false;
	}
	subscriber->state = SUBSCRIBER_ACTIVE;
	subscriber->rhythm = request->rhythm;
	subscriber->rhythm.weekdays = request->rhythm.cadence == RHYTHM_WEEKLY
	                                  ? request->rhythm.weekdays & RHYTHM_ALL
	                                  : RHYTHM_ALL;
	if (!subscriber->rhythm.weekdays)
		subscriber->rhythm.weekdays = RHYTHM_MONDAY;
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

static struct subscriber *
save_subscriber(struct store *store, const struct subscribe_request *request,
    int64_t now, GError **error)
{
	struct address address = {0};
	g_autofree char *name = NULL;
	g_autofree char *key = NULL;
	g_autoptr(GError) missing = NULL;
	pb_auto(subscriber) subscriber = NULL;
	bool is_new, is_ok;

	if (!address_parse_mailbox(request->address, &address, &name, error))
		return NULL;
	key = address_format_key(&address);
	subscriber = people_find(store, key, &missing);
	is_new = !subscriber;
	if (is_new && !g_error_matches(missing, PB_ERROR, PB_ERROR_NOT_FOUND)) {
		g_propagate_error(error, g_steal_pointer(&missing));
		address_clear(&address);
		return NULL;
	}
	if (!is_new && subscriber->state != SUBSCRIBER_GONE) {
		set_input_error(error, "this address is a subscriber already");
		address_clear(&address);
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
	address_clear(&address);
	is_ok = apply_request(subscriber, request, now, error) &&
	        (is_new ? people_insert(store, subscriber, error)
	                : people_update(store, subscriber, error));
	return is_ok ? g_steal_pointer(&subscriber) : NULL;
}

struct subscriber *
subscribe_add(struct store *store, const struct subscribe_request *request, int64_t now,
    struct query_problem *problem, unsigned *refused, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	pb_transaction transaction = {0};

	if (!store_begin(store, &transaction, error))
		return NULL;
	subscriber = save_subscriber(store, request, now, error);
	if (!subscriber)
		return NULL;
	for (unsigned i = 0; i < request->filter_count; i++) {
		pb_auto(subscription) subscription = insert_filter(store,
		    subscriber->id, &request->filters[i], now, problem, NULL, error);

		if (!subscription) {
			if (refused)
				*refused = i;
			return NULL;
		}
	}
	if (!audit_insert(store, now, request->who, "subscriber added", subscriber->id,
	        request->consent, error) ||
	    !store_commit(&transaction, error))
		return NULL;
	return g_steal_pointer(&subscriber);
}

struct subscriber *
subscribe_find(struct store *store, const char *text, GError **error)
{
	struct address address = {0};
	g_autofree char *key = NULL;
	g_autoptr(GError) problem = NULL;
	pb_auto(subscriber) subscriber = NULL;

	if (!address_parse(text, &address, error))
		return NULL;
	key = address_format_key(&address);
	address_clear(&address);
	subscriber = people_find(store, key, &problem);
	if (subscriber && subscriber->state != SUBSCRIBER_GONE)
		return g_steal_pointer(&subscriber);
	if (subscriber || g_error_matches(problem, PB_ERROR, PB_ERROR_NOT_FOUND))
		g_set_error(
		    error, PB_ERROR, PB_ERROR_NOT_FOUND, "%s is no subscriber", text);
	else
		g_propagate_error(error, g_steal_pointer(&problem));
	return NULL;
}

bool
subscribe_remove(struct store *store, const char *address, const char *who, int64_t now,
    GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	pb_transaction transaction = {0};

	if (!store_begin(store, &transaction, error))
		return false;
	subscriber = subscribe_find(store, address, error);
	if (!subscriber)
		return false;
	subscriber->state = SUBSCRIBER_GONE;
	subscriber->next_due_at = -1;
	return people_update(store, subscriber, error) &&
	       people_delete_subscriptions(store, subscriber->id, error) &&
	       outbox_cancel(store, subscriber->id, now, error) &&
	       audit_insert(store, now, who, "subscriber removed", subscriber->id, NULL,
	           error) &&
	       store_commit(&transaction, error);
}

struct subscription *
subscribe_add_filter(struct store *store, const char *address,
    const struct subscribe_filter *filter, const char *who, int64_t now,
    struct query_problem *problem, GPtrArray **warnings, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	pb_auto(subscription) subscription = NULL;
	g_autoptr(GPtrArray) notes = NULL;
	pb_transaction transaction = {0};

	if (!store_begin(store, &transaction, error))
		return NULL;
	subscriber = subscribe_find(store, address, error);
	if (!subscriber)
		return NULL;
	subscription =
	    insert_filter(store, subscriber->id, filter, now, problem, &notes, error);
	if (!subscription ||
	    !audit_insert(store, now, who,
	        filter->is_block ? "block added" : "filter added", subscriber->id,
	        subscription->canonical, error) ||
	    !store_commit(&transaction, error))
		return NULL;
	if (warnings)
		*warnings = g_steal_pointer(&notes);
	return g_steal_pointer(&subscription);
}

bool
subscribe_remove_filter(struct store *store, const char *address, int number,
    const char *who, int64_t now, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	g_autofree char *detail = g_strdup_printf("filter %d", number);
	pb_transaction transaction = {0};

	if (!store_begin(store, &transaction, error))
		return false;
	subscriber = subscribe_find(store, address, error);
	return subscriber &&
	       people_delete_subscription(store, subscriber->id, number, error) &&
	       audit_insert(
	           store, now, who, "filter removed", subscriber->id, detail, error) &&
	       store_commit(&transaction, error);
}
