/*
 * clock_repair.c - when editions are due, though the clock was wrong.
 */
#include "service/digest/clock_repair.h"

#include <glib.h>

#include "base/clock.h"
#include "base/day.h"
#include "base/zone.h"
#include "model/digest.h"
#include "service/log/event.h"
#include "store/subscriber/subscribers.h"

#define PAGE_PEOPLE   50
#define FARTHEST_DAYS 15

/* The clock at the last run, and how far back is more than putting it right. */
#define LAST_RUN   "editions"
#define SET_BACK_S CLOCK_HOUR_S

/* The next edition is on the next slot, were it now; a first one is due at once. */
static bool
plan_again(
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

/*
 * No rhythm has a slot further away than this: the clock was wrong when the due
 * time was written, and without this the person would hear nothing until then.
 */
static bool
pull_in(struct store *store, int64_t now, GError **error)
{
	for (;;) {
		g_autoptr(GPtrArray) people = NULL;
		pb_transaction transaction = {0};

		if (!store_begin(store, &transaction, error))
			return false;
		people = subscribers_load_due_after(store,
		    now + FARTHEST_DAYS * (int64_t)CLOCK_DAY_S, PAGE_PEOPLE, error);
		if (!people)
			return false;
		for (unsigned i = 0; i < people->len; i++)
			if (!plan_again(store, people->pdata[i], now, error))
				return false;
		if (!store_commit(&transaction, error))
			return false;
		if (!people->len)
			return true;
	}
}

/*
 * The clock was set back: it may have been days ahead, and everybody's next edition
 * and what new filters look back to was reckoned by it.  A slot that had its digest
 * meanwhile gets no other, since digests are known by their slots.
 */
static bool
pull_in_all(struct store *store, int64_t now, GError **error)
{
	char today[DAY_BYTES], since[DAY_BYTES];
	int64_t after = 0;

	day_format(now, today);
	day_format(now - DIGEST_FIRST_DAYS * (int64_t)CLOCK_DAY_S, since);
	for (;;) {
		g_autoptr(GPtrArray) people = NULL;
		pb_transaction transaction = {0};

		if (!store_begin(store, &transaction, error))
			return false;
		people = subscribers_load_page(store, after, PAGE_PEOPLE, error);
		if (!people)
			return false;
		for (unsigned i = 0; i < people->len; i++) {
			struct subscriber *subscriber = people->pdata[i];

			if (!plan_again(store, subscriber, now, error))
				return false;
			after = subscriber->id;
		}
		if (!people->len &&
		    !subscribers_limit_since_day(store, today, since, error))
			return false;
		if (!store_commit(&transaction, error))
			return false;
		if (!people->len)
			return true;
	}
}

/* Where the clock stood the last time, to see when it was set back.  Noted so often
 * that no slot lies between, and not at every run: each would be a commit. */
static bool
note_clock(struct store *store, int64_t now, GError **error)
{
	int64_t last;

	if (!store_load_cursor(store, LAST_RUN, 0, &last, error))
		return false;
	if (last - now > SET_BACK_S) {
		event_log(EVENT_CLOCK_SET_BACK, EVENT_SECONDS("by", last - now));
		if (!pull_in_all(store, now, error))
			return false;
	} else if (now - last < SET_BACK_S / 2) {
		return true;
	}
	return store_save_cursor(store, LAST_RUN, now, error);
}

bool
clock_repair_run(struct store *store, int64_t now, GError **error)
{
	return note_clock(store, now, error) && pull_in(store, now, error);
}
