/*
 * clock.h - injectable clock, in seconds since the Unix epoch (UTC).
 *
 * Only src/daemon and src/ctl read the system time, so that tests can simulate months
 * in a second.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_HOUR_S 3600
#define CLOCK_DAY_S  86400

struct clock {
	int64_t (*read)(const struct clock *clock);
	int64_t offset_s; /* running clock: difference from the real time */
	int64_t at_s;     /* stopped clock: its time */
	bool is_stopped;
};

static inline int64_t
clock_get_now(const struct clock *clock)
{
	return clock->read(clock);
}
