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

/* A page of subscribers. */
struct page {
	int64_t now;
	int64_t after; /* the last subscriber of the page before */
	int64_t last;  /* of this one */
	unsigned count;
};

static bool
reschedule_page(struct store *store, struct page *page, const GPtrArray *subscribers,
    GError **error)
{
	if (!subscribers)
		return false;
	page->count = subscribers->len;
	for (unsigned i = 0; i < subscribers->len; i++) {
		struct subscriber *subscriber = subscribers->pdata[i];

		page->last = subscriber->id;
		if (!reschedule(store, subscriber, page->now, error))
			return false;
	}
	return true;
}

static bool
reschedule_far_page(struct store *store, void *data, GError **error)
{
	struct page *page = data;
	g_autoptr(GPtrArray) subscribers = subscribers_load_due_after(store,
	    page->now + DUE_DAYS_MAX * (int64_t)CLOCK_DAY_S, PAGE_SUBSCRIBERS, error);

	return reschedule_page(store, page, subscribers, error);
}

/* Repair due times further away than any slot: the clock was wrong when these were
 * written. */
static bool
reschedule_far(struct store *store, int64_t now, GError **error)
{
	struct page page = {.now = now};

	do {
		if (!store_transact(store, reschedule_far_page, &page, error))
			return false;
	} while (page.count);
	return true;
}

/* The last page also repairs the first days of filters. */
static bool
reschedule_next_page(struct store *store, void *data, GError **error)
{
	struct page *page = data;
	char today[DAY_BYTES], since[DAY_BYTES];
	g_autoptr(GPtrArray) subscribers =
	    subscribers_load_page(store, page->after, PAGE_SUBSCRIBERS, error);

	if (!reschedule_page(store, page, subscribers, error))
		return false;
	day_format(page->now, today);
	day_format(page->now - DIGEST_FIRST_DAYS * (int64_t)CLOCK_DAY_S, since);
	return page->count || subscribers_limit_since_day(store, today, since, error);
}

/*
 * Repair all due times and first days of filters after the clock was set back: it may
 * have been days ahead. A slot that has a digest already gets no second one, since
 * digests are identified by slot.
 */
static bool
reschedule_all(struct store *store, int64_t now, GError **error)
{
	struct page page = {.now = now};

	do {
		if (!store_transact(store, reschedule_next_page, &page, error))
			return false;
		page.after = page.last;
	} while (page.count);
	return true;
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
