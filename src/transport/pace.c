/*
 * pace.c - at most so many messages in a time, spread over it.
 */
#include "transport/pace.h"

#include <glib.h>

#define SECOND_US INT64_C(1000000)

void
pace_init(struct pace *pace, unsigned most, int64_t window_s)
{
	*pace = (struct pace){.most = most, .window_s = window_s};
}

/* How many may go at once: with a window of a second, all of them. */
static int64_t
get_burst(const struct pace *pace)
{
	if (pace->window_s <= 1)
		return pace->most;
	return MAX(pace->most / 60, 1);
}

static int64_t
get_interval_us(const struct pace *pace)
{
	int64_t burst = get_burst(pace);
	int64_t rest = pace->window_s <= 1 ? pace->most : (int64_t)pace->most - burst;

	return pace->window_s * SECOND_US / MAX(rest, 1);
}

/* A clock that was set back has left a time that is too far ahead. */
static int64_t
get_due_us(const struct pace *pace, int64_t now)
{
	int64_t latest = (now + pace->window_s) * SECOND_US + get_interval_us(pace);

	return pace->due_us > latest ? now * SECOND_US
	                             : MAX(pace->due_us, now * SECOND_US);
}

unsigned
pace_get_allowance(const struct pace *pace, int64_t now, unsigned wanted)
{
	int64_t ahead_us, room;

	if (!pace->most)
		return wanted;
	ahead_us = get_due_us(pace, now) - now * SECOND_US;
	/* All of the burst is there when nothing is ahead. */
	room = get_burst(pace) -
	       (ahead_us + get_interval_us(pace) - 1) / get_interval_us(pace);
	return (unsigned)CLAMP(room, 0, (int64_t)wanted);
}

void
pace_take(struct pace *pace, int64_t now)
{
	if (pace->most)
		pace->due_us = get_due_us(pace, now) + get_interval_us(pace);
}

int64_t
pace_get_next(const struct pace *pace, int64_t now)
{
	int64_t free_us;

	if (pace_get_allowance(pace, now, 1))
		return now;
	free_us = get_due_us(pace, now) - (get_burst(pace) - 1) * get_interval_us(pace);
	return MAX(now + 1, (free_us + SECOND_US - 1) / SECOND_US);
}

int64_t
pace_get_step_s(const struct pace *pace)
{
	return pace->most ? (get_interval_us(pace) + SECOND_US - 1) / SECOND_US : 1;
}
