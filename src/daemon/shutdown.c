/*
 * shutdown.c - deadline of a shutdown, as a file descriptor to poll.
 */
#include "daemon/shutdown.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/error.h"

bool
shutdown_open(int *fd, GError **error)
{
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (timer < 0)
		return pb_fail(error, PB_ERROR_TEMPORARY, "cannot create a timer: %s",
		    g_strerror(errno));
	*fd = timer;
	return true;
}

void
shutdown_cut_short(int fd, int wait_s)
{
	const struct itimerspec once = {.it_value.tv_sec = wait_s};

	/* Fails only for a bad descriptor.  Never read, so it stays readable. */
	if (timerfd_settime(fd, 0, &once, NULL) != 0)
		g_assert_not_reached();
}

void
shutdown_close(int fd)
{
	if (fd >= 0)
		close(fd);
}
