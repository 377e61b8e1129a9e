/*
 * worker.c - a thread that runs a step at a given time or when woken.
 */
#include "daemon/worker.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/error.h"

struct worker {
	struct worker_options options;
	GThread *thread;
	int wake_fd;
	int timer_fd;
	int stop;
	int is_last; /* no step after the one that sees it */
};

static void
drain(int fd)
{
	uint64_t count;
	ssize_t size = read(fd, &count, sizeof(count));

	/* ECANCELED: the clock was set, which has woken us. */
	(void)size;
}

/* @return false when the clock was set since the timer was armed the last time */
static bool
arm_timer(struct worker *worker, int64_t at)
{
	const struct clock *clock = worker->options.clock;
	struct itimerspec timer = {0};
	int flags = 0;

	if (at >= 0 && clock->is_stopped) {
		timer.it_value.tv_sec = MAX(at - clock->at_s, 1);
	} else if (at >= 0) {
		/* 0 would disarm. */
		timer.it_value.tv_sec = MAX(at - clock->offset_s, 1);
		flags = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;
	}
	return timerfd_settime(worker->timer_fd, flags, &timer, NULL) == 0 ||
	       errno != ECANCELED;
}

/* Idle threads still send heartbeats. */
static int
poll_with_heartbeats(struct worker *worker, struct pollfd *fds, nfds_t count)
{
	int ready;

	do {
		int64_t beat_s = heartbeat_idle(worker->options.heartbeat);

		ready = poll(fds, count, beat_s ? (int)beat_s * 1000 : -1);
	} while (ready == 0 || (ready < 0 && errno == EINTR));
	return ready;
}

static void
sleep_until(struct worker *worker, int64_t at)
{
	struct pollfd fds[] = {
	    {.fd = worker->wake_fd, .events = POLLIN},
	    {.fd = worker->timer_fd, .events = POLLIN},
	};

	/* The clock was set during the step, whose result may be wrong by days. */
	if (!arm_timer(worker, at))
		return;
	if (poll_with_heartbeats(worker, fds, G_N_ELEMENTS(fds)) < 0)
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(fds); i++)
		if (fds[i].revents)
			drain(fds[i].fd);
}

static gpointer
run(gpointer data)
{
	struct worker *worker = data;

	bool is_last = false;

	while (!is_last && !g_atomic_int_get(&worker->stop)) {
		int64_t next;

		is_last = g_atomic_int_get(&worker->is_last);
		heartbeat_arm(worker->options.heartbeat, worker->options.step_s);
		next = worker->options.step(worker->options.data,
		    clock_get_now(worker->options.clock), &worker->stop);
		if (is_last || g_atomic_int_get(&worker->stop))
			break;
		/* Or freed memory below memory in use would stay with the process: the
		 * peaks of all workers would add up. */
		malloc_trim(0);
		sleep_until(worker, next);
	}
	return NULL;
}

struct worker *
worker_new(const struct worker_options *options, GError **error)
{
	struct worker *worker = g_new0(struct worker, 1);

	worker->options = *options;
	worker->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	worker->timer_fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (worker->wake_fd >= 0 && worker->timer_fd >= 0)
		worker->thread = g_thread_try_new(options->name, run, worker, error);
	else
		pb_fail(error, PB_ERROR_TEMPORARY, "cannot create a timer: %s",
		    g_strerror(errno));
	if (worker->thread)
		return worker;
	worker_free(worker);
	return NULL;
}

void
worker_wake(struct worker *worker)
{
	uint64_t one = 1;
	ssize_t size = write(worker->wake_fd, &one, sizeof(one));

	/* Fails only when the counter is full, and then the worker is woken anyway. */
	(void)size;
}

void
worker_stop(struct worker *worker)
{
	g_atomic_int_set(&worker->stop, 1);
	worker_wake(worker);
}

void
worker_finish(struct worker *worker)
{
	g_atomic_int_set(&worker->is_last, 1);
	worker_wake(worker);
	g_thread_join(g_steal_pointer(&worker->thread));
}

void
worker_free(struct worker *worker)
{
	if (!worker)
		return;
	if (worker->thread) {
		worker_stop(worker);
		g_thread_join(worker->thread);
	}
	if (worker->wake_fd >= 0)
		close(worker->wake_fd);
	if (worker->timer_fd >= 0)
		close(worker->timer_fd);
	g_free(worker);
}
