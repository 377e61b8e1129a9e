/*
 * subscriber.h - a subscriber and its filters.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/day.h"
#include "model/preferences.h"
#include "model/schedule.h"

enum subscriber_state {
	SUBSCRIBER_PENDING, /* requested, not confirmed */
	SUBSCRIBER_ACTIVE,
	SUBSCRIBER_PAUSED,
	SUBSCRIBER_SUSPENDED, /* mail to the address bounces */
	SUBSCRIBER_GONE,
};

struct subscriber {
	int64_t id;
	char *address;     /* addr-spec as given, domain as A-labels in lower case */
	char *address_key; /* for comparing addresses (message/address.h) */
	char *name;        /* or NULL */
	enum subscriber_state state;
	struct schedule schedule;
	char *zone;   /* IANA name */
	int max_full; /* papers with abstract in one digest, 1..200 */
	int64_t created_at;
	int64_t moved_at;    /* last change of address, or -1 */
	int64_t wrote_at;    /* last mail or change on a page, or -1 */
	int64_t consent_at;  /* or -1 */
	char *consent_text;  /* how consent was given, as text; or NULL */
	bool is_first_due;   /* the next digest is off schedule: the first one, or the
	                        one after a pause */
	int64_t next_due_at; /* s since the epoch, or -1 for none */
	struct preferences preferences;
	char language[3]; /* "de"; "" for the configured default */
	int catch_up;     /* papers in the digest after a pause; 0: max_full */
	char paused_until[DAY_BYTES]; /* local day on which mail resumes, or "" */
};

/* A filter of a subscriber. */
struct subscription {
	int64_t id;
	int64_t subscriber_id;
	int number; /* the subscriber's number for it, from 1 */
	int64_t filter_id;
	char *name; /* or NULL */
	char *text; /* as typed */
	char *canonical;
	char since_day[DAY_BYTES]; /* papers listed before this day do not match */
	int64_t created_at;
	int max_papers; /* in one digest, 1..200; 0: no limit */
	char *note;     /* the subscriber's own note, or NULL */
	bool is_block;  /* removes papers that the other filters match */
};

struct subscriber *subscriber_new(void);
void subscriber_free(struct subscriber *subscriber);
PB_DEFINE_AUTO(subscriber, subscriber_free);
struct subscriber *subscriber_copy(const struct subscriber *subscriber);

struct subscription *subscription_new(void);
void subscription_free(struct subscription *subscription);
PB_DEFINE_AUTO(subscription, subscription_free);
struct subscription *subscription_copy(const struct subscription *subscription);

/** Find a filter in a list of struct subscription *. @return an element, or NULL */
struct subscription *subscription_find_number(const GPtrArray *own, int number);
struct subscription *subscription_find_id(const GPtrArray *own, int64_t id);

/**
 * Get the time since which the subscriber has its current address.  It is part of the
 * tokens in mail, so that tokens sent to an earlier address are invalid.
 */
int64_t subscriber_get_joined(const struct subscriber *subscriber);

/** Whether the subscriber has confirmed and not left. */
bool subscriber_is_subscribed(const struct subscriber *subscriber);

/** "active", ..., in the store and in messages. */
const char *subscriber_state_name(enum subscriber_state state);

/** @return SUBSCRIBER_GONE if the name is unknown */
enum subscriber_state subscriber_parse_state(const char *name);
