/*
 * subscriber.c - a subscriber and its filters.
 */
#include "model/subscriber.h"

#include <string.h>

static const char *const state_names[] = {
    [SUBSCRIBER_PENDING] = "pending",
    [SUBSCRIBER_ACTIVE] = "active",
    [SUBSCRIBER_PAUSED] = "paused",
    [SUBSCRIBER_SUSPENDED] = "suspended",
    [SUBSCRIBER_GONE] = "gone",
};

struct subscriber *
subscriber_new(void)
{
	struct subscriber *subscriber = g_new0(struct subscriber, 1);

	subscriber->state = SUBSCRIBER_PENDING;
	subscriber->moved_at = -1;
	subscriber->wrote_at = -1;
	subscriber->consent_at = -1;
	subscriber->next_due_at = -1;
	return subscriber;
}

void
subscriber_free(struct subscriber *subscriber)
{
	if (!subscriber)
		return;
	g_free(subscriber->address);
	g_free(subscriber->address_key);
	g_free(subscriber->name);
	g_free(subscriber->zone);
	g_free(subscriber->consent_text);
	g_free(subscriber);
}

struct subscriber *
subscriber_copy(const struct subscriber *subscriber)
{
	struct subscriber *copy = g_memdup2(subscriber, sizeof(*subscriber));

	copy->address = g_strdup(subscriber->address);
	copy->address_key = g_strdup(subscriber->address_key);
	copy->name = g_strdup(subscriber->name);
	copy->zone = g_strdup(subscriber->zone);
	copy->consent_text = g_strdup(subscriber->consent_text);
	return copy;
}

struct subscription *
subscription_new(void)
{
	return g_new0(struct subscription, 1);
}

void
subscription_free(struct subscription *subscription)
{
	if (!subscription)
		return;
	g_free(subscription->name);
	g_free(subscription->note);
	g_free(subscription->text);
	g_free(subscription->canonical);
	g_free(subscription);
}

struct subscription *
subscription_copy(const struct subscription *subscription)
{
	struct subscription *copy = g_memdup2(subscription, sizeof(*subscription));

	copy->name = g_strdup(subscription->name);
	copy->note = g_strdup(subscription->note);
	copy->text = g_strdup(subscription->text);
	copy->canonical = g_strdup(subscription->canonical);
	return copy;
}

struct subscription *
subscription_find_number(const GPtrArray *own, int number)
{
	for (unsigned i = 0; i < own->len; i++)
		if (((struct subscription *)own->pdata[i])->number == number)
			return own->pdata[i];
	return NULL;
}

struct subscription *
subscription_find_id(const GPtrArray *own, int64_t id)
{
	for (unsigned i = 0; i < own->len; i++)
		if (((struct subscription *)own->pdata[i])->id == id)
			return own->pdata[i];
	return NULL;
}

int64_t
subscriber_get_joined(const struct subscriber *subscriber)
{
	return MAX(subscriber->created_at, subscriber->moved_at);
}

const char *
subscriber_state_name(enum subscriber_state state)
{
	return state_names[state];
}

enum subscriber_state
subscriber_parse_state(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(state_names); i++)
		if (strcmp(name, state_names[i]) == 0)
			return (enum subscriber_state)i;
	return SUBSCRIBER_GONE;
}

bool
subscriber_is_subscribed(const struct subscriber *subscriber)
{
	return subscriber->state == SUBSCRIBER_ACTIVE ||
	       subscriber->state == SUBSCRIBER_PAUSED ||
	       subscriber->state == SUBSCRIBER_SUSPENDED;
}
