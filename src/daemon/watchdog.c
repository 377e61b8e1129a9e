/*
 * watchdog.c - telling systemd that every thread lives.
 */
#include "daemon/watchdog.h"

#include "daemon/notify.h"
#include "service/log/event.h"

/* So many times in the time of the watchdog it is told that all is well. */
#define BEATS 6

int64_t
watchdog_get_beat_s(void)
{
	return notify_get_watchdog_s() / BEATS;
}

/* Who is late is told once more by the journal: systemd ends the program then. */
static gboolean
feed_watchdog(gpointer data)
{
	struct heartbeats *heartbeats = data;
	g_autofree char *name = NULL;

	if (heartbeats_count_overdue(heartbeats, &name))
		event_log(EVENT_THREAD_STUCK, EVENT_WORD("thread", name));
	else
		notify_alive();
	return G_SOURCE_CONTINUE;
}

guint
watchdog_start(struct heartbeats *heartbeats)
{
	if (!notify_get_watchdog_s())
		return 0;
	return g_timeout_add_seconds(
	    (guint)MAX(watchdog_get_beat_s(), 1), feed_watchdog, heartbeats);
}
