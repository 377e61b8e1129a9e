/*
 * pulse.c - one number that one thread writes and another reads.
 */
#include "daemon/pulse.h"

#include <glib.h>

void
pulse_promise(struct pulse *pulse, int64_t seconds)
{
	pulse->until = g_get_monotonic_time() + seconds * G_USEC_PER_SEC;
}

void
pulse_end(struct pulse *pulse)
{
	pulse->until = 0;
}

bool
pulse_is_late(const struct pulse *pulse)
{
	int64_t until = pulse->until;

	return until && g_get_monotonic_time() > until;
}
