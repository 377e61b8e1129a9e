/*
 * fast_clock.c - a library to preload that lets time pass faster for a program.
 *
 * CLOCK_SPEED is the factor.  It applies to CLOCK_REALTIME and CLOCK_MONOTONIC, to
 * timers (timerfd) and to poll(), but not while libcurl connects, whose timeouts are
 * those of the real time.  Waits of condition variables are longer than they should be,
 * so a program that relies on their timeouts is not suitable.
 */
#include <curl/curl.h>
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

#define SECOND_NS INT64_C(1000000000)

static struct {
	int (*clock_gettime)(clockid_t clock, struct timespec *time);
	int (*timerfd_settime)(
	    int fd, int flags, const struct itimerspec *alarm, struct itimerspec *old);
	int (*poll)(struct pollfd *fds, nfds_t count, int timeout_ms);
	CURLcode (*perform)(CURL *easy);
	int64_t speed;
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

__attribute__((constructor)) static void
init(void)
{
	const char *speed = getenv("CLOCK_SPEED");

	if (real.speed)
		return;
	real.timerfd_settime = dlsym(RTLD_NEXT, "timerfd_settime");
	real.poll = dlsym(RTLD_NEXT, "poll");
	real.perform = dlsym(RTLD_NEXT, "curl_easy_perform");
	real.clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
	state.since_ns = get_real_ns(CLOCK_MONOTONIC);
	real.speed = speed ? strtol(speed, NULL, 10) : 1;
}

/* @return the time that the clocks are ahead */
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
	init(); /* another library's constructor may ask before ours has run */
	if (clock == CLOCK_REALTIME_COARSE)
		clock = CLOCK_REALTIME;
	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
		return real.clock_gettime(clock, time);
	pthread_mutex_lock(&state.lock);
	*time = make_timespec(get_real_ns(clock) + get_gained_ns());
	pthread_mutex_unlock(&state.lock);
	return 0;
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

	clock_gettime(CLOCK_REALTIME, &now);
	if (time)
		*time = now.tv_sec;
	return now.tv_sec;
}

EXPORT int
timerfd_settime(
    int fd, int flags, const struct itimerspec *alarm, struct itimerspec *old)
{
	struct itimerspec relative = *alarm;
	struct timespec now;
	int64_t ns = get_ns(&alarm->it_value);

	init();
	if (flags & TFD_TIMER_ABSTIME && ns) {
		clock_gettime(CLOCK_REALTIME, &now);
		ns = ns > get_ns(&now) ? ns - get_ns(&now) : 1;
	}
	relative.it_value = make_timespec(ns ? ns / real.speed + 1 : 0);
	return real.timerfd_settime(fd, 0, &relative, old);
}

EXPORT int
poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	init();
	return real.poll(fds, count,
	    timeout_ms > 0 ? (int)(timeout_ms / real.speed) + 1 : timeout_ms);
}
