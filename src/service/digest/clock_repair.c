/*
 * clock_repair.c - repairs due times that a wrong clock produced.
 */
#include "service/digest/clock_repair.h"

#include <glib.h>

#include "base/clock.h"
#include "base/day.h"
#include "base/zone.h"
#include "model/digest.h"
#include "service/log/event.h"
#include "store/subscriber/subscribers.h"

#define PAGE_SUBSCRIBERS 50
#define DUE_DAYS_MAX     15

/* Time of the last run, and the minimum step back that counts. */
#define LAST_RUN   "digests"
#define SET_BACK_S CLOCK_HOUR_S

/* Move a due time that is too late to the next slot; a first digest is due at once. */
static bool
reschedule(
    struct store *store, struct subscriber *subscriber, int64_t now, GError **error)
{
	g_autoptr(GTimeZone) zone = zone_load_or_utc(subscriber->zone);
	struct schedule_slot next;

	schedule_get_next(&subscriber->schedule, zone, now - 1, &next);
	if (subscriber->state != SUBSCRIBER_ACTIVE ||
	    subscriber->next_due_at <= next.at)
		return true;
	subscriber->next_due_at = subscriber->is_first_due ? now : next.at;
	return subscribers_update(store, subscriber, error);
}

/* Repair due times further away than any slot: the clock was wrong when these were
 * written. */
static bool
reschedule_far(struct store *store, int64_t now, GError **error)
{
	for (;;) {
		g_autoptr(GPtrArray) subscribers = NULL;
		pb_transaction transaction = {0};

		if (!store_begin(store, &transaction, error))
			return false;
		subscribers = subscribers_load_due_after(store,
		    now + DUE_DAYS_MAX * (int64_t)CLOCK_DAY_S, PAGE_SUBSCRIBERS, error);
		if (!subscribers)
			return false;
		for (unsigned i = 0; i < subscribers->len; i++)
			if (!reschedule(store, subscribers->pdata[i], now, error))
				return false;
		if (!store_commit(&transaction, error))
			return false;
		if (!subscribers->len)
			return true;
	}
}

/*
 * Repair all due times and first days of filters after the clock was set back: it may
 * have been days ahead. A slot that has a digest already gets no second one, since
 * digests are identified by slot.
 */
static bool
reschedule_all(struct store *store, int64_t now, GError **error)
{
	char today[DAY_BYTES], since[DAY_BYTES];
	int64_t after = 0;

	day_format(now, today);
	day_format(now - DIGEST_FIRST_DAYS * (int64_t)CLOCK_DAY_S, since);
	for (;;) {
		g_autoptr(GPtrArray) subscribers = NULL;
		pb_transaction transaction = {0};

		if (!store_begin(store, &transaction, error))
			return false;
		subscribers =
		    subscribers_load_page(store, after, PAGE_SUBSCRIBERS, error);
		if (!subscribers)
			return false;
		for (unsigned i = 0; i < subscribers->len; i++) {
			struct subscriber *subscriber = subscribers->pdata[i];

			if (!reschedule(store, subscriber, now, error))
				return false;
			after = subscriber->id;
		}
		if (!subscribers->len &&
		    !subscribers_limit_since_day(store, today, since, error))
			return false;
		if (!store_commit(&transaction, error))
			return false;
		if (!subscribers->len)
			return true;
	}
}

/*
 * Detect a step back since the last run.  The time is stored often enough that there is
 * no slot in between, but not at every run: each would be a commit.
 */
static bool
check_clock(struct store *store, int64_t now, GError **error)
{
	int64_t last;

	if (!store_load_cursor(store, LAST_RUN, 0, &last, error))
		return false;
	if (last - now > SET_BACK_S) {
		event_log(EVENT_CLOCK_SET_BACK, EVENT_SECONDS("by", last - now));
		if (!reschedule_all(store, now, error))
			return false;
	} else if (now - last < SET_BACK_S / 2) {
		return true;
	}
	return store_save_cursor(store, LAST_RUN, now, error);
}

bool
clock_repair_run(struct store *store, int64_t now, GError **error)
{
	return check_clock(store, now, error) && reschedule_far(store, now, error);
}
