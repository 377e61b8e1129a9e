/*
 * shift_clock.c - a library to preload that shifts the real-time clock of a program.
 *
 * CLOCK_SHIFT_S is the shift in seconds.  Only CLOCK_REALTIME is shifted, with the
 * timers that are set to a time of it; the times of files and all other clocks remain.
 * Mail servers keep the present: they are below /usr/sbin and /usr/lib.
 *
 * libfaketime 0.9.10 does not run Python 3.11: with CLOCK_MONOTONIC left alone
 * time.sleep() fails with EINVAL, otherwise waits for an event do not time out.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* Times of CLOCK_MONOTONIC are below this, those of CLOCK_REALTIME above. */
#define EARLIEST_S 1000000000

static struct {
	int (*clock_gettime)(clockid_t clock, struct timespec *time);
	int (*timerfd_settime)(
	    int fd, int flags, const struct itimerspec *alarm, struct itimerspec *old);
	time_t shift_s;
} real;

static time_t
get_shift(void)
{
	const char *shift = getenv("CLOCK_SHIFT_S");
	char path[4096];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[size > 0 ? size : 0] = '\0';
	if (!shift || strncmp(path, "/usr/sbin/", strlen("/usr/sbin/")) == 0 ||
	    strncmp(path, "/usr/lib/", strlen("/usr/lib/")) == 0)
		return 0;
	return strtol(shift, NULL, 10);
}

__attribute__((constructor)) static void
init(void)
{
	if (real.clock_gettime)
		return;
	real.shift_s = get_shift();
	real.timerfd_settime = dlsym(RTLD_NEXT, "timerfd_settime");
	real.clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
}

EXPORT int
clock_gettime(clockid_t clock, struct timespec *time)
{
	int status;

	init(); /* another library's constructor may ask before ours has run */
	status = real.clock_gettime(clock, time);
	if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		time->tv_sec += real.shift_s;
	return status;
}

EXPORT int
gettimeofday(struct timeval *restrict time, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	*time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
	return 0;
}

EXPORT time_t
time(time_t *time)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	if (time)
		*time = now.tv_sec;
	return now.tv_sec;
}

EXPORT int
timerfd_settime(
    int fd, int flags, const struct itimerspec *alarm, struct itimerspec *old)
{
	struct itimerspec unshifted = *alarm;

	init();
	if (flags & TFD_TIMER_ABSTIME && unshifted.it_value.tv_sec >= EARLIEST_S)
		unshifted.it_value.tv_sec -= real.shift_s;
	return real.timerfd_settime(fd, flags, &unshifted, old);
}
