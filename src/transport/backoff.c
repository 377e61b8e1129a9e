/*
 * backoff.c - retry schedule of failed deliveries.
 */
#include "transport/backoff.h"

#include "base/error.h"

#define MINUTE_S 60

static const int64_t waits_s[] = {
    1 * MINUTE_S, 5 * MINUTE_S, 15 * MINUTE_S, 30 * MINUTE_S, 60 * MINUTE_S};

/* Deterministic number in [0, limit) (splitmix64). */
static int64_t
choose_below(uint64_t id, unsigned attempts, int64_t limit)
{
	uint64_t mixed = id + attempts * UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
	mixed ^= mixed >> 31;
	return (int64_t)(mixed % (uint64_t)limit);
}

bool
backoff_next(const struct backoff_policy *attempt, int64_t *next_at, GError **error)
{
	int64_t now = MAX(attempt->now, attempt->queued_at);
	int64_t left_s = attempt->expire_s - (now - attempt->queued_at);
	size_t step;
	int64_t wait_s;

	g_assert(attempt->attempts > 0);
	if (left_s < MINUTE_S)
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "expired after %" G_GINT64_FORMAT " minutes of retries",
		    (now - attempt->queued_at) / MINUTE_S);
	step = MIN(attempt->attempts - 1, G_N_ELEMENTS(waits_s) - 1);
	wait_s = waits_s[step];
	wait_s += choose_below(attempt->id, attempt->attempts, wait_s / 10 + 1);
	*next_at = now + MIN(wait_s, left_s);
	return true;
}
