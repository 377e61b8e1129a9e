/*
 * notify.c - telling systemd how the service is; nothing without it.
 */
#include "daemon/notify.h"

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
notify_status(const char *text)
{
	(void)text;
}

#endif
