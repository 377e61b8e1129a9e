/*
 * send_limits.h - rate limits of the relay: messages per second, hour and day.
 *
 * Those per second and hour are spread evenly (transport/token_bucket.h).  Those per
 * day may be used up at once, as digests are, and are counted in a sliding window of 24
 * hours, which is read from the outbox after a restart.  Messages above a limit wait.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "store/core/store.h"
#include "transport/token_bucket.h"

/* Resolution of the sliding window: a message counts for up to this much longer. */
#define SEND_LIMITS_SLOT_S 300

/* Number of slots: a day, and the current one. */
#define SEND_LIMITS_SLOTS (CLOCK_DAY_S / SEND_LIMITS_SLOT_S + 1)

/* Zeroed: no limits. */
struct send_limits {
	struct token_bucket per_second, per_hour;
	unsigned per_day;                  /* 0: no limit */
	unsigned slots[SEND_LIMITS_SLOTS]; /* messages; slot n at n modulo the size */
	unsigned sum;                      /* of the slots */
	int64_t newest;                    /* number of the current slot; 0: not read */
};

/** Set the limits; a changed one starts again, that of the day is read again. */
void send_limits_set(struct send_limits *limits, unsigned per_second, unsigned per_hour,
    unsigned per_day);

/**
 * Forget the messages that are more than a day old; read the others from the outbox if
 * that is needed: at first, and after the clock was set back.
 */
bool send_limits_update(
    struct send_limits *limits, struct store *store, int64_t now, GError **error);

/** @param in_flight  messages that are not counted yet @return number allowed now */
unsigned send_limits_get_available(
    const struct send_limits *limits, int64_t now, unsigned wanted, unsigned in_flight);

/** Count a message that starts, per second and hour. */
void send_limits_take(struct send_limits *limits, int64_t now);

/** Count a message that the relay has, or may have, accepted, for the day. */
void send_limits_count(struct send_limits *limits);

/** @return when the next message is allowed, s */
int64_t send_limits_get_next(const struct send_limits *limits, int64_t now);
