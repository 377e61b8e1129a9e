/*
 * send_limits.c - rate limits of the relay: messages per second, hour and day.
 */
#include "service/delivery/send_limits.h"

#include <string.h>

#include "store/mail/outbox.h"

void
send_limits_set(struct send_limits *limits, unsigned per_second, unsigned per_hour,
    unsigned per_day)
{
	if (limits->per_second.limit != per_second)
		token_bucket_init(&limits->per_second, per_second, 1);
	if (limits->per_hour.limit != per_hour)
		token_bucket_init(&limits->per_hour, per_hour, CLOCK_HOUR_S);
	if (limits->per_day != per_day)
		limits->newest = 0;
	limits->per_day = per_day;
}

static int64_t
get_slot(int64_t at)
{
	return MAX(at, 0) / SEND_LIMITS_SLOT_S;
}

/* @param data  struct send_limits * */
static void
add_sent(void *data, int64_t at, int64_t count)
{
	struct send_limits *limits = data;
	/* Mail sent while the clock was ahead counts as sent now. */
	int64_t slot = MIN(get_slot(at), limits->newest);

	if (slot <= limits->newest - SEND_LIMITS_SLOTS)
		return;
	limits->slots[slot % SEND_LIMITS_SLOTS] += (unsigned)count;
	limits->sum += (unsigned)count;
}

static void
advance(struct send_limits *limits, int64_t slot)
{
	int64_t count = MIN(slot - limits->newest, SEND_LIMITS_SLOTS);

	limits->newest = slot;
	for (int64_t i = 0; i < count; i++) {
		unsigned *freed = &limits->slots[(slot - i) % SEND_LIMITS_SLOTS];

		limits->sum -= *freed;
		*freed = 0;
	}
}

bool
send_limits_update(
    struct send_limits *limits, struct store *store, int64_t now, GError **error)
{
	int64_t slot = get_slot(now);

	if (!limits->per_day)
		return true;
	if (limits->newest && slot >= limits->newest) {
		advance(limits, slot);
		return true;
	}
	memset(limits->slots, 0, sizeof(limits->slots));
	limits->sum = 0;
	limits->newest = slot;
	return outbox_foreach_sent(store, now - CLOCK_DAY_S - SEND_LIMITS_SLOT_S,
	    SEND_LIMITS_SLOT_S, add_sent, limits, error);
}

static unsigned
get_available_in_day(const struct send_limits *limits, unsigned wanted, unsigned others)
{
	int64_t room = (int64_t)limits->per_day - limits->sum - others;

	return limits->per_day ? (unsigned)CLAMP(room, 0, (int64_t)wanted) : wanted;
}

unsigned
send_limits_get_available(
    const struct send_limits *limits, int64_t now, unsigned wanted, unsigned in_flight)
{
	wanted = get_available_in_day(limits, wanted, in_flight);
	wanted = token_bucket_get_available(&limits->per_hour, now, wanted);
	return token_bucket_get_available(&limits->per_second, now, wanted);
}

void
send_limits_take(struct send_limits *limits, int64_t now)
{
	token_bucket_take(&limits->per_second, now);
	token_bucket_take(&limits->per_hour, now);
}

void
send_limits_count(struct send_limits *limits)
{
	if (!limits->per_day || !limits->newest)
		return;
	limits->slots[limits->newest % SEND_LIMITS_SLOTS]++;
	limits->sum++;
}

/* When enough slots are more than a day old. */
static int64_t
get_next_in_day(const struct send_limits *limits, int64_t now)
{
	unsigned sum = limits->sum;

	if (!limits->per_day || sum < limits->per_day)
		return now;
	for (int64_t i = SEND_LIMITS_SLOTS - 1; i >= 0; i--) {
		int64_t slot = MAX(limits->newest - i, 0);

		sum -= limits->slots[slot % SEND_LIMITS_SLOTS];
		if (sum < limits->per_day)
			return (slot + SEND_LIMITS_SLOTS) * SEND_LIMITS_SLOT_S;
	}
	return now + CLOCK_DAY_S;
}

int64_t
send_limits_get_next(const struct send_limits *limits, int64_t now)
{
	int64_t next = get_next_in_day(limits, now);

	next = MAX(next, token_bucket_get_next(&limits->per_hour, now));
	return MAX(next, token_bucket_get_next(&limits->per_second, now));
}
