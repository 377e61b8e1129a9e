/*
 * watchdog.c - watchdog messages to systemd while every thread sends heartbeats.
 */
#include "daemon/watchdog.h"

#include "daemon/notify.h"
#include "service/log/event.h"

/* Messages per WatchdogSec. */
#define BEATS 6

int64_t
watchdog_get_interval_s(void)
{
	return notify_get_watchdog_s() / BEATS;
}

/* Without the message systemd kills and restarts us; the event names the thread. */
static gboolean
notify_watchdog(gpointer data)
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
	    (guint)MAX(watchdog_get_interval_s(), 1), notify_watchdog, heartbeats);
}
