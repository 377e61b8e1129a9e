/*
 * clock.h - the time, handed down from the program that knows it.
 *
 * Nothing below src/daemon and src/ctl asks the system for the time, so that
 * months can be run in a second.  Seconds since the Unix epoch, UTC.
 */
#ifndef PAPERBOY_BASE_CLOCK_H
#define PAPERBOY_BASE_CLOCK_H

#include <stdint.h>

#define CLOCK_HOUR_S 3600
#define CLOCK_DAY_S  86400

struct clock {
	int64_t (*read)(const struct clock *clock);
	int64_t offset_s; /* of a running clock: its difference from the real time */
	int64_t at_s;     /* of a stopped clock: its time */
};

static inline int64_t
clock_get_now(const struct clock *clock)
{
	return clock->read(clock);
}

#endif
