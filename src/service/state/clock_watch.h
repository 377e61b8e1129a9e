/*
 * clock_watch.h - detect jumps of the clock, and distrust it until it is confirmed.
 *
 * Within a process, the clock is compared with CLOCK_BOOTTIME, which also advances
 * during a suspend; at start, with the time at which the state was last saved.  After a
 * jump nothing is deleted by age (maintenance.h) until the Date header of a source (RFC
 * 9110 section 6.6.1) confirms the clock, the jump is undone, or CLOCK_WATCH_TRUST_S of
 * running time have passed.  No digest is built while the clock is set back, while the
 * running time shows that it is wrong, or while a source contradicts it.
 *
 * The state is kept in the store.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/* Running time after which a clock is trusted again, s. */
#define CLOCK_WATCH_TRUST_S 86400

/* Larger differences are jumps, s; and between two processes, forward jumps. */
#define CLOCK_WATCH_SLACK_S 3600
#define CLOCK_WATCH_GAP_S   (2 * 86400)

/* State of one process; zero-initialised. */
struct clock_watch {
	bool is_started;
	int64_t ran_at; /* running time at the last save, s */
};

struct clock_jump {
	int64_t by_s;  /* forward, or back when negative; 0: the clock is trusted */
	int64_t at;    /* the wrong time at which it was detected, s */
	int64_t ran_s; /* running time since */
	bool is_held;  /* no digest is built */
};

/**
 * Check the clock.  Called before anything that depends on it.
 *
 * @param running_s  CLOCK_BOOTTIME, s; -1 if unavailable
 */
bool clock_watch_check(struct clock_watch *watch, struct store *store, int64_t now,
    int64_t running_s, GError **error);

/**
 * Compare the clock with that of a source.
 *
 * @param served_at  its Date, s; negative: unknown
 */
bool clock_watch_confirm(
    struct store *store, int64_t now, int64_t served_at, GError **error);

/** Load the unconfirmed jump, if any. */
bool clock_watch_load(struct store *store, struct clock_jump *jump, GError **error);
