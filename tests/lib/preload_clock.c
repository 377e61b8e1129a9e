/*
 * preload_clock.c - a library to preload that gives a program another time.
 *
 * CLOCK_SHIFT_S shifts CLOCK_REALTIME by seconds, with the timers that are set to a
 * time of it; the times of files and all other clocks remain.  Mail servers keep the
 * present: they are below /usr/sbin and /usr/lib.
 *
 * CLOCK_SPEED is the factor by which time passes faster.  It applies to CLOCK_REALTIME
 * and CLOCK_MONOTONIC, to timers (timerfd) and to poll(), but not while libcurl
 * connects, whose timeouts are those of the real time.  Waits of condition variables
 * are longer than they should be, so a program that relies on their timeouts is not
 * suitable.
 *
 * libfaketime 0.9.10 does not run Python 3.11: with CLOCK_MONOTONIC left alone
 * time.sleep() fails with EINVAL, otherwise waits for an event do not time out.
 */
#include <curl/curl.h>
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

#define SECOND_NS INT64_C(1000000000)

/* Times of CLOCK_MONOTONIC are below this, those of CLOCK_REALTIME above. */
#define EARLIEST_S 1000000000

static struct {
	int (*clock_gettime)(clockid_t clock, struct timespec *time);
	int (*timerfd_settime)(
	    int fd, int flags, const struct itimerspec *alarm, struct itimerspec *old);
	int (*poll)(struct pollfd *fds, nfds_t count, int timeout_ms);
	CURLcode (*perform)(CURL *easy);
	int64_t speed;
	time_t shift_s;
} real;

static struct {
	pthread_mutex_t lock;
	int64_t since_ns;  /* CLOCK_MONOTONIC of the last change of the speed */
	int64_t gained_ns; /* until then */
	unsigned connecting;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int64_t
get_ns(const struct timespec *time)
{
	return time->tv_sec * SECOND_NS + time->tv_nsec;
}

static struct timespec
make_timespec(int64_t ns)
{
	return (struct timespec){ns / SECOND_NS, ns % SECOND_NS};
}

static int64_t
get_real_ns(clockid_t clock)
{
	struct timespec now;

	real.clock_gettime(clock, &now);
	return get_ns(&now);
}

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
	const char *speed = getenv("CLOCK_SPEED");

	if (real.speed)
		return;
	real.shift_s = get_shift();
	real.timerfd_settime = dlsym(RTLD_NEXT, "timerfd_settime");
	real.poll = dlsym(RTLD_NEXT, "poll");
	real.perform = dlsym(RTLD_NEXT, "curl_easy_perform");
	real.clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
	state.since_ns = get_real_ns(CLOCK_MONOTONIC);
	real.speed = speed ? strtol(speed, NULL, 10) : 1;
}

/* @return the time that the clocks are ahead because they are faster */
static int64_t
get_gained_ns(void)
{
	int64_t since_ns = get_real_ns(CLOCK_MONOTONIC) - state.since_ns;

	return state.gained_ns + (state.connecting ? 0 : since_ns * (real.speed - 1));
}

static void
set_connecting(int change)
{
	pthread_mutex_lock(&state.lock);
	state.gained_ns = get_gained_ns();
	state.since_ns = get_real_ns(CLOCK_MONOTONIC);
	state.connecting += (unsigned)change;
	pthread_mutex_unlock(&state.lock);
}

EXPORT CURLcode
curl_easy_perform(CURL *easy)
{
	CURLcode code;

	init();
	set_connecting(1);
	code = real.perform(easy);
	set_connecting(-1);
	return code;
}

EXPORT int
clock_gettime(clockid_t clock, struct timespec *time)
{
	bool is_real = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
	int status;

	init(); /* another library's constructor may ask before ours has run */
	status = real.clock_gettime(clock, time);
	/* The lock is not taken for a shift only: a child process may find it locked.
	 */
	if (status == 0 && real.speed > 1 && (is_real || clock == CLOCK_MONOTONIC)) {
		pthread_mutex_lock(&state.lock);
		*time = make_timespec(get_ns(time) + get_gained_ns());
		pthread_mutex_unlock(&state.lock);
	}
	if (status == 0 && is_real)
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
	struct itimerspec changed = *alarm;
	int64_t ns = get_ns(&alarm->it_value);
	struct timespec now;

	init();
	if (real.speed > 1) {
		if (flags & TFD_TIMER_ABSTIME && ns) {
			clock_gettime(CLOCK_REALTIME, &now);
			ns = ns > get_ns(&now) ? ns - get_ns(&now) : 1;
		}
		flags = 0;
		changed.it_value = make_timespec(ns ? ns / real.speed + 1 : 0);
	} else if (flags & TFD_TIMER_ABSTIME && alarm->it_value.tv_sec >= EARLIEST_S) {
		changed.it_value.tv_sec -= real.shift_s;
	}
	return real.timerfd_settime(fd, flags, &changed, old);
}

EXPORT int
poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	init();
	if (real.speed > 1 && timeout_ms > 0)
		timeout_ms = (int)(timeout_ms / real.speed) + 1;
	return real.poll(fds, count, timeout_ms);
}
