/*
 * notify.c - messages to systemd.
 */
#include "base/notify.h"

#include <glib.h>

#ifdef HAVE_SYSTEMD
#include <systemd/sd-daemon.h>
#endif

void
notify_send(const char *state)
{
#ifdef HAVE_SYSTEMD
	sd_notify(0, state);
#else
	(void)state;
#endif
}

int64_t
notify_get_watchdog_s(void)
{
#ifdef HAVE_SYSTEMD
	uint64_t usec;

	if (sd_watchdog_enabled(0, &usec) > 0)
		return (int64_t)(usec / G_USEC_PER_SEC);
#endif
	return 0;
}
