/*
 * subscriber.h - a person who gets digests, and that person's filters.
 */
#ifndef PAPERBOY_MODEL_SUBSCRIBER_H
#define PAPERBOY_MODEL_SUBSCRIBER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/day.h"
#include "model/preferences.h"
#include "model/schedule.h"

enum subscriber_state {
	SUBSCRIBER_PENDING, /* asked, not confirmed */
	SUBSCRIBER_ACTIVE,
	SUBSCRIBER_PAUSED,
	SUBSCRIBER_SUSPENDED, /* mail does not arrive */
	SUBSCRIBER_GONE,
};

struct subscriber {
	int64_t id;
	char *address;     /* addr-spec, as given, domain as A-labels in lower case */
	char *address_key; /* what makes it the same address (message/address.h) */
	char *name;        /* or NULL */
	enum subscriber_state state;
	struct schedule schedule;
	char *zone;   /* IANA name */
	int max_full; /* papers with abstract in one digest, 1..200 */
	int64_t created_at;
	int64_t moved_at;   /* to the address it has, or -1 */
	int64_t consent_at; /* or -1 */
	char *consent_text; /* how this person agreed, in words; or NULL */
	bool is_first_due;  /* the next edition is out of rhythm: the first one, or what
	                       was missed in a pause */
	int64_t next_due_at; /* s since the epoch, or -1 for none */
	struct preferences preferences;
	char language[3]; /* "de"; "" for that of the settings */
	int catch_up; /* papers of the digest that follows a pause; 0: as any other */
	char paused_until[DAY_BYTES]; /* the local day from which there is mail again,
	                                 or "" */
};

/* One of a person's filters. */
struct subscription {
	int64_t id;
	int64_t subscriber_id;
	int number; /* how the person names it, from 1 */
	int64_t filter_id;
	char *name; /* or NULL */
	char *text; /* as typed */
	char *canonical;
	char since_day[DAY_BYTES]; /* papers listed before this day are not for it */
	int64_t created_at;
	int max_papers; /* in one digest, 1..200; 0: no limit of its own */
	char *note;     /* of the person to itself, or NULL */
	bool is_block;  /* takes papers away that other filters of the person find */
};

struct subscriber *subscriber_new(void);
void subscriber_free(struct subscriber *subscriber);
PB_DEFINE_AUTO(subscriber, subscriber_free);
struct subscriber *subscriber_copy(const struct subscriber *subscriber);

struct subscription *subscription_new(void);
void subscription_free(struct subscription *subscription);
PB_DEFINE_AUTO(subscription, subscription_free);
struct subscription *subscription_copy(const struct subscription *subscription);

/**
 * Since when the address has been this person's: tokens in mail hold for that, so that
 * those in mail to an address before it prove nothing.
 */
int64_t subscriber_get_joined(const struct subscriber *subscriber);

/** "active", ...: as in the store and for people. */
const char *subscriber_state_name(enum subscriber_state state);

/** @return SUBSCRIBER_GONE for a name that is none */
enum subscriber_state subscriber_parse_state(const char *name);

#endif
