/*
 * test_worker.c - a worker thread runs when due or woken, and not after a stop.
 */
#include "daemon/worker.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "lib/store_fixture.h"
#include "lib/unit.h"

/*
 * Tests cannot set the clock of the machine.  Instead, the functions below replace
 * those of the library: a timer is an event that the test triggers, and they report
 * that the clock was set as the kernel does (timerfd_create(2)).
 */
static struct {
	int fd;       /* the alarm; -1: the kernel's own */
	int flags;    /* of the last setting */
	int64_t at;   /* time that it was set for, s */
	int settings; /* number of times it was set */
	int cancels;  /* number of further settings that find the clock changed */
	GMutex mutex;
	GCond changed;
} kernel = {.fd = -1};

__attribute__((visibility("default"))) int
timerfd_settime(
    int fd, int flags, const struct itimerspec *alarm, struct itimerspec *old)
{
	int (*settime)(int, int, const struct itimerspec *, struct itimerspec *);
	int result = 0;

	if (fd != kernel.fd) {
		/* The next one may be that of tests/lib/preload_clock.c. */
		settime = dlsym(RTLD_NEXT, "timerfd_settime");
		return settime(fd, flags, alarm, old);
	}
	g_mutex_lock(&kernel.mutex);
	kernel.flags = flags;
	kernel.at = alarm->it_value.tv_sec;
	kernel.settings++;
	if (kernel.cancels > 0) {
		kernel.cancels--;
		errno = ECANCELED;
		result = -1;
	}
	g_cond_broadcast(&kernel.changed);
	g_mutex_unlock(&kernel.mutex);
	return result;
}

__attribute__((visibility("default"))) int
timerfd_create(int clock, int flags)
{
	if (!kernel.settings)
		return (int)syscall(SYS_timerfd_create, clock, flags);
	g_assert_cmpint(clock, ==, CLOCK_REALTIME);
	kernel.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return kernel.fd;
}

__attribute__((visibility("default"))) ssize_t
read(int fd, void *buffer, size_t size)
{
	ssize_t got = (ssize_t)syscall(SYS_read, fd, buffer, size);

	if (fd != kernel.fd || got < 0)
		return got;
	errno = ECANCELED;
	return -1;
}

static void
wait_settings(int settings)
{
	int64_t end = g_get_monotonic_time() + 30 * G_USEC_PER_SEC;

	g_mutex_lock(&kernel.mutex);
	while (kernel.settings < settings)
		g_assert_true(g_cond_wait_until(&kernel.changed, &kernel.mutex, end));
	g_mutex_unlock(&kernel.mutex);
}

/* Record of the steps of a worker; tests wait for its conditions. */
struct log {
	GMutex mutex;
	GCond changed;
	int steps;
	int64_t now;  /* of the last step */
	int64_t next; /* result of steps: seconds from now, or -1 */
	bool waits;   /* a step goes on until it is told to stop */
	bool saw_stop;
};

static int64_t
step(void *data, int64_t now, const int *stop)
{
	struct log *log = data;
	int64_t next;

	g_mutex_lock(&log->mutex);
	log->steps++;
	log->now = now;
	next = log->next < 0 ? -1 : now + log->next;
	g_cond_broadcast(&log->changed);
	while (log->waits && !g_atomic_int_get(stop))
		g_cond_wait_until(
		    &log->changed, &log->mutex, g_get_monotonic_time() + 1000);
	log->saw_stop = g_atomic_int_get(stop);
	g_mutex_unlock(&log->mutex);
	return next;
}

static int64_t
read_wall(const struct clock *clock)
{
	return g_get_real_time() / G_USEC_PER_SEC + clock->offset_s;
}

static int64_t
load_status_line(const struct clock *clock)
{
	return clock->at_s;
}

static void
log_init(struct log *log, int64_t next)
{
	*log = (struct log){.next = next};
	g_mutex_init(&log->mutex);
	g_cond_init(&log->changed);
}

/* @return false if there were fewer steps within the time */
static bool
wait_steps(struct log *log, int steps, int64_t wait_ms)
{
	int64_t end = g_get_monotonic_time() + wait_ms * 1000;
	bool is_there = true;

	g_mutex_lock(&log->mutex);
	while (log->steps < steps && is_there)
		is_there = g_cond_wait_until(&log->changed, &log->mutex, end);
	is_there = log->steps >= steps;
	g_mutex_unlock(&log->mutex);
	return is_there;
}

static struct worker *
start(struct log *log, const struct clock *clock)
{
	const struct worker_options options = {
	    .name = "made-up",
	    .clock = clock,
	    .step = step,
	    .data = log,
	    .step_s = 600,
	};
	struct worker *worker = NO_ERROR(worker_new(&options, &error));

	return worker;
}

TEST(worker_runs_at_start_and_when_woken)
{
	const struct clock clock = {.read = read_wall};
	struct log log;
	struct worker *worker;

	log_init(&log, -1);
	worker = start(&log, &clock);
	g_assert_true(wait_steps(&log, 1, 30000));
	for (int i = 2; i < 20; i++) {
		worker_wake(worker);
		g_assert_true(wait_steps(&log, i, 30000));
	}
	worker_free(worker);
}

TEST(a_wake_during_a_step_is_not_lost)
{
	const struct clock clock = {.read = read_wall};
	struct log log;
	struct worker *worker;

	log_init(&log, -1);
	g_mutex_lock(&log.mutex);
	worker = start(&log, &clock);
	/*
	 * The step cannot begin before the test permits it; the wake-ups arrive before.
	 */
	worker_wake(worker);
	worker_wake(worker);
	g_mutex_unlock(&log.mutex);
	g_assert_true(wait_steps(&log, 2, 30000));
	worker_free(worker);
}

TEST(timer_expires_on_time_with_a_simulated_clock)
{
	static const int64_t offsets[] = {0, 86400, -86400, 400000000};

	for (size_t i = 0; i < G_N_ELEMENTS(offsets); i++) {
		const struct clock clock = {.read = read_wall, .offset_s = offsets[i]};
		int64_t before = read_wall(&clock);
		struct log log;
		struct worker *worker;

		log_init(&log, 1);
		worker = start(&log, &clock);
		g_assert_true(wait_steps(&log, 2, 30000));
		g_assert_cmpint(log.now, >=, before + 1);
		worker_free(worker);
	}
}

TEST(timer_in_the_past_expires_at_once)
{
	/* The clock is a year ahead of the times that the steps request. */
	const struct clock clock = {.read = read_wall, .offset_s = 31536000};
	struct log log;
	struct worker *worker;

	log_init(&log, 0);
	worker = start(&log, &clock);
	g_assert_true(wait_steps(&log, 50, 30000));
	worker_free(worker);
}

TEST(without_an_alarm_it_sleeps)
{
	const struct clock clock = {.read = read_wall};
	struct log log;
	struct worker *worker;

	log_init(&log, 3600);
	worker = start(&log, &clock);
	g_assert_true(wait_steps(&log, 1, 30000));
	/* No further step in 100 ms: the worker does not loop. */
	g_assert_false(wait_steps(&log, 2, 100));
	worker_free(worker);
	g_assert_cmpint(log.steps, ==, 1);
}

TEST(a_stop_reaches_a_running_step_and_ends_the_thread)
{
	const struct clock clock = {.read = read_wall};
	struct log log;
	struct worker *worker;

	log_init(&log, 0);
	log.waits = true;
	worker = start(&log, &clock);
	g_assert_true(wait_steps(&log, 1, 30000));
	worker_stop(worker);
	worker_wake(worker);
	worker_free(worker);
	g_assert_true(log.saw_stop);
	g_assert_cmpint(log.steps, ==, 1);
}

TEST(change_of_the_clock_rearms_the_timer_at_once)
{
	struct clock clock = {.read = load_status_line, .at_s = 1800000000};
	struct log log;
	struct worker *worker;
	uint64_t one = 1;

	kernel.settings = 1;
	log_init(&log, 3600);
	worker = start(&log, &clock);
	g_assert_true(wait_steps(&log, 1, 30000));
	wait_settings(2);
	g_assert_cmpint(kernel.at, ==, 1800003600);
	g_assert_cmpint(kernel.flags, ==, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET);
	/* Set back by ten days while it waits. */
	clock.at_s = 1800000000 - 864000;
	g_assert_cmpint(write(kernel.fd, &one, sizeof(one)), ==, sizeof(one));
	g_assert_true(wait_steps(&log, 2, 30000));
	g_assert_cmpint(log.now, ==, clock.at_s);
	wait_settings(3);
	g_assert_cmpint(kernel.at, ==, clock.at_s + 3600);
	g_assert_false(wait_steps(&log, 3, 50));
	worker_free(worker);
	kernel.fd = -1;
	kernel.settings = 0;
}

TEST(timer_of_a_stopped_clock_is_relative)
{
	const struct clock clock = {
	    .read = load_status_line, .at_s = 1800000000, .is_stopped = true};
	struct log log;
	struct worker *worker;

	kernel.settings = 1;
	log_init(&log, 3600);
	worker = start(&log, &clock);
	wait_settings(2);
	g_assert_cmpint(kernel.at, ==, 3600);
	g_assert_cmpint(kernel.flags, ==, 0);
	worker_free(worker);
	kernel.fd = -1;
	kernel.settings = 0;
}

TEST(change_of_the_clock_during_a_step_rearms_the_timer)
{
	const struct clock clock = {.read = load_status_line, .at_s = 1800000000};
	struct log log;
	struct worker *worker;

	kernel.settings = 1;
	kernel.cancels = 2;
	log_init(&log, 3600);
	worker = start(&log, &clock);
	g_assert_true(wait_steps(&log, 3, 30000));
	wait_settings(4);
	g_assert_false(wait_steps(&log, 4, 50));
	worker_free(worker);
	kernel.fd = -1;
	kernel.settings = 0;
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	unit_add_all();
	worker_free(NULL);
	return g_test_run();
}
