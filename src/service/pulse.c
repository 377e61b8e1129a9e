/*
 * pulse.c - one number that one thread writes and another reads, and all of them.
 */
#include "service/pulse.h"

#include <glib.h>

/* Who sleeps is late when it has missed so many beats. */
#define BEATS_MISSED 3

struct pulse {
	struct pulses *pulses;
	char *name;
	_Atomic int64_t until; /* us, as g_get_monotonic_time(); 0: nothing promised */
};

struct pulses {
	int64_t beat_s;
	GMutex lock;
	GPtrArray *all; /* of struct pulse *; under the lock */
};

struct pulses *
pulses_new(int64_t beat_s)
{
	struct pulses *pulses = g_new0(struct pulses, 1);

	pulses->beat_s = beat_s;
	g_mutex_init(&pulses->lock);
	pulses->all = g_ptr_array_new();
	return pulses;
}

void
pulses_free(struct pulses *pulses)
{
	if (!pulses)
		return;
	g_assert(!pulses->all->len);
	g_ptr_array_unref(pulses->all);
	g_mutex_clear(&pulses->lock);
	g_free(pulses);
}

/* Its promise was broken. */
static bool
is_late(const struct pulse *pulse)
{
	int64_t until = pulse->until;

	return until && g_get_monotonic_time() > until;
}

unsigned
pulses_count_late(struct pulses *pulses, char **name)
{
	const struct pulse *late = NULL;
	unsigned count = 0;

	if (name)
		*name = NULL;
	if (!pulses)
		return 0;
	g_mutex_lock(&pulses->lock);
	for (unsigned i = 0; i < pulses->all->len; i++) {
		if (!is_late(pulses->all->pdata[i]))
			continue;
		late = pulses->all->pdata[i];
		count++;
	}
	if (late && name)
		*name = g_strdup(late->name);
	g_mutex_unlock(&pulses->lock);
	return count;
}

struct pulse *
pulse_new(struct pulses *pulses, const char *name)
{
	struct pulse *pulse;

	if (!pulses)
		return NULL;
	pulse = g_new0(struct pulse, 1);
	pulse->pulses = pulses;
	pulse->name = g_strdup(name);
	g_mutex_lock(&pulses->lock);
	g_ptr_array_add(pulses->all, pulse);
	g_mutex_unlock(&pulses->lock);
	return pulse;
}

void
pulse_free(struct pulse *pulse)
{
	if (!pulse)
		return;
	g_mutex_lock(&pulse->pulses->lock);
	g_ptr_array_remove_fast(pulse->pulses->all, pulse);
	g_mutex_unlock(&pulse->pulses->lock);
	g_free(pulse->name);
	g_free(pulse);
}

void
pulse_promise(struct pulse *pulse, int64_t seconds)
{
	if (pulse)
		pulse->until = g_get_monotonic_time() + seconds * G_USEC_PER_SEC;
}

int64_t
pulse_rest(struct pulse *pulse)
{
	if (!pulse)
		return 0;
	if (pulse->pulses->beat_s)
		pulse_promise(pulse, BEATS_MISSED * pulse->pulses->beat_s);
	else
		pulse->until = 0;
	return pulse->pulses->beat_s;
}
