/*
 * clock_watch.c - detect jumps of the clock, and distrust it until it is confirmed.
 */
#include "service/state/clock_watch.h"

#include "base/clock.h"
#include "service/log/event.h"

/* Interval at which the state of a trusted clock is saved, s. */
#define SAVE_S (CLOCK_WATCH_SLACK_S / 2)

/* The state, in cursors of the store. */
enum field {
	SEEN,     /* the clock at the last save */
	LINE,     /* time without the jump: the last trusted one plus running time */
	JUMP,     /* by_s of struct clock_jump */
	JUMPED,   /* its `at` */
	RAN,      /* its ran_s */
	OBSERVED, /* the running time or a source shows that the clock is wrong */
	N_FIELDS
};

static const char *const names[N_FIELDS] = {"clock seen", "clock line", "clock jump",
    "clock jumped at", "clock ran", "clock is wrong"};

static bool
load(struct store *store, int64_t state[N_FIELDS], GError **error)
{
	for (int i = 0; i < N_FIELDS; i++)
		if (!store_load_cursor(
		        store, names[i], i == SEEN ? -1 : 0, &state[i], error))
			return false;
	return true;
}

/* @param data  the state */
static bool
save(struct store *store, void *data, GError **error)
{
	const int64_t *state = data;

	for (int i = 0; i < N_FIELDS; i++)
		if (!store_save_cursor(store, names[i], state[i], error))
			return false;
	return true;
}

static void
trust(int64_t state[N_FIELDS], int64_t now)
{
	if (state[JUMP])
		event_log(EVENT_CLOCK_TRUSTED);
	state[LINE] = now;
	state[JUMP] = state[RAN] = state[OBSERVED] = 0;
}

static void
distrust(int64_t state[N_FIELDS], int64_t now, int64_t by_s, bool is_observed)
{
	event_log(EVENT_CLOCK_JUMPED, EVENT_SECONDS("by", by_s));
	state[JUMP] = by_s;
	state[JUMPED] = now;
	state[RAN] = 0;
	state[OBSERVED] = is_observed;
}

/* @param elapsed_s since the last save; -1 if only the clock itself shows it */
static void
advance(int64_t state[N_FIELDS], int64_t now, int64_t elapsed_s)
{
	bool is_known = elapsed_s >= 0;
	int64_t request_interval_s = now - state[SEEN], off_s;

	if (!is_known)
		elapsed_s =
		    request_interval_s >= 0 && request_interval_s <= CLOCK_WATCH_GAP_S
		        ? request_interval_s
		        : 0;
	state[LINE] += elapsed_s;
	off_s = now - state[LINE];
	if (off_s >= -CLOCK_WATCH_SLACK_S &&
	    off_s <= (is_known ? CLOCK_WATCH_SLACK_S : CLOCK_WATCH_GAP_S))
		trust(state, now);
	else if (!state[JUMP] || ABS(off_s - state[JUMP]) > CLOCK_WATCH_SLACK_S)
		distrust(state, now, off_s, is_known);
	else if ((state[RAN] += elapsed_s) >= CLOCK_WATCH_TRUST_S)
		trust(state, now);
}

bool
clock_watch_check(struct clock_watch *watch, struct store *store, int64_t now,
    int64_t running_s, GError **error)
{
	bool is_known = watch->is_started && running_s >= watch->ran_at;
	int64_t state[N_FIELDS], jump;

	if (!load(store, state, error))
		return false;
	jump = state[JUMP];
	if (state[SEEN] < 0)
		state[LINE] = now;
	else
		advance(state, now, is_known ? running_s - watch->ran_at : -1);
	if (is_known && !jump && !state[JUMP] && ABS(now - state[SEEN]) < SAVE_S)
		return true;
	state[SEEN] = now;
	if (!store_transact(store, save, state, error))
		return false;
	*watch = (struct clock_watch){running_s >= 0, running_s};
	return true;
}

bool
clock_watch_confirm(struct store *store, int64_t now, int64_t served_at, GError **error)
{
	int64_t state[N_FIELDS];

	if (!load(store, state, error))
		return false;
	if (served_at < 0 || !state[JUMP])
		return true;
	if (ABS(served_at - now) <= CLOCK_WATCH_SLACK_S)
		trust(state, state[SEEN]);
	else
		state[OBSERVED] = 1;
	return store_transact(store, save, state, error);
}

bool
clock_watch_load(struct store *store, struct clock_jump *jump, GError **error)
{
	int64_t state[N_FIELDS];

	if (!load(store, state, error))
		return false;
	*jump = (struct clock_jump){
	    .by_s = state[JUMP],
	    .at = state[JUMPED],
	    .ran_s = state[RAN],
	    .is_held = state[JUMP] < 0 || (state[JUMP] > 0 && state[OBSERVED]),
	};
	return true;
}
