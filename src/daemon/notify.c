/*
 * notify.c - sd_notify(3) messages; no-ops without systemd.
 */
#include "daemon/notify.h"

#include <glib.h>

#ifdef HAVE_SYSTEMD
#include <systemd/sd-daemon.h>

void
notify_ready(void)
{
	sd_notify(0, "READY=1");
}

void
notify_stopping(void)
{
	sd_notify(0, "STOPPING=1");
}

void
notify_reloading(void)
{
	/* CLOCK_MONOTONIC in us, as sd_notify(3) expects. */
	sd_notifyf(
	    0, "RELOADING=1\nMONOTONIC_USEC=%" G_GINT64_FORMAT, g_get_monotonic_time());
}

int64_t
notify_get_watchdog_s(void)
{
	uint64_t usec;

	return sd_watchdog_enabled(0, &usec) > 0 ? (int64_t)(usec / G_USEC_PER_SEC) : 0;
}

void
notify_alive(void)
{
	sd_notify(0, "WATCHDOG=1");
}

void
notify_status(const char *text)
{
	sd_notifyf(0, "STATUS=%s", text);
}

#else

void
notify_ready(void)
{
}

void
notify_stopping(void)
{
}

void
notify_reloading(void)
{
}

int64_t
notify_get_watchdog_s(void)
{
	return 0;
}

void
notify_alive(void)
{
}

void
notify_status(const char *text)
{
	(void)text;
}

#endif
