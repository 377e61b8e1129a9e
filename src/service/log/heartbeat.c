/*
 * heartbeat.c - heartbeats of threads, for the watchdog.
 */
#include "service/log/heartbeat.h"

#include <glib.h>

/* An idle thread is overdue after this number of intervals. */
#define BEATS_MISSED 3

struct heartbeat {
	struct heartbeats *heartbeats;
	char *name;
	_Atomic int64_t due_at; /* us, as g_get_monotonic_time(); 0: never */
};

struct heartbeats {
	int64_t beat_s;
	GMutex lock;
	GPtrArray *all; /* of struct heartbeat *; under the lock */
};

struct heartbeats *
heartbeats_new(int64_t beat_s)
{
	struct heartbeats *heartbeats = g_new0(struct heartbeats, 1);

	heartbeats->beat_s = beat_s;
	g_mutex_init(&heartbeats->lock);
	heartbeats->all = g_ptr_array_new();
	return heartbeats;
}

void
heartbeats_free(struct heartbeats *heartbeats)
{
	if (!heartbeats)
		return;
	g_assert(!heartbeats->all->len);
	g_ptr_array_unref(heartbeats->all);
	g_mutex_clear(&heartbeats->lock);
	g_free(heartbeats);
}

static bool
is_overdue(const struct heartbeat *heartbeat)
{
	int64_t due_at = heartbeat->due_at;

	return due_at && g_get_monotonic_time() > due_at;
}

unsigned
heartbeats_count_overdue(struct heartbeats *heartbeats, char **name)
{
	const struct heartbeat *overdue = NULL;
	unsigned count = 0;

	if (name)
		*name = NULL;
	if (!heartbeats)
		return 0;
	g_mutex_lock(&heartbeats->lock);
	for (unsigned i = 0; i < heartbeats->all->len; i++) {
		if (!is_overdue(heartbeats->all->pdata[i]))
			continue;
		overdue = heartbeats->all->pdata[i];
		count++;
	}
	if (overdue && name)
		*name = g_strdup(overdue->name);
	g_mutex_unlock(&heartbeats->lock);
	return count;
}

struct heartbeat *
heartbeat_new(struct heartbeats *heartbeats, const char *name)
{
	struct heartbeat *heartbeat;

	if (!heartbeats)
		return NULL;
	heartbeat = g_new0(struct heartbeat, 1);
	heartbeat->heartbeats = heartbeats;
	heartbeat->name = g_strdup(name);
	g_mutex_lock(&heartbeats->lock);
	g_ptr_array_add(heartbeats->all, heartbeat);
	g_mutex_unlock(&heartbeats->lock);
	return heartbeat;
}

void
heartbeat_free(struct heartbeat *heartbeat)
{
	if (!heartbeat)
		return;
	g_mutex_lock(&heartbeat->heartbeats->lock);
	g_ptr_array_remove_fast(heartbeat->heartbeats->all, heartbeat);
	g_mutex_unlock(&heartbeat->heartbeats->lock);
	g_free(heartbeat->name);
	g_free(heartbeat);
}

void
heartbeat_arm(struct heartbeat *heartbeat, int64_t seconds)
{
	if (heartbeat)
		heartbeat->due_at = g_get_monotonic_time() + seconds * G_USEC_PER_SEC;
}

int64_t
heartbeat_idle(struct heartbeat *heartbeat)
{
	if (!heartbeat)
		return 0;
	if (heartbeat->heartbeats->beat_s)
		heartbeat_arm(heartbeat, BEATS_MISSED * heartbeat->heartbeats->beat_s);
	else
		heartbeat->due_at = 0;
	return heartbeat->heartbeats->beat_s;
}
