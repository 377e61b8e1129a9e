/*
 * notify.c - telling systemd how the service is; nothing without it.
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
	/* GLib's monotonic time is CLOCK_MONOTONIC in microseconds, as is wanted. */
	sd_notifyf(
	    0, "RELOADING=1\nMONOTONIC_USEC=%" G_GINT64_FORMAT, g_get_monotonic_time());
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

void
notify_status(const char *text)
{
	(void)text;
}

#endif
