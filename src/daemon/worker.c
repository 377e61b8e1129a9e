/*
 * worker.c - a thread that does one job whenever it is time or it is poked.
 */
#include "daemon/worker.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/error.h"

struct worker {
	struct worker_options options;
	GThread *thread;
	int poke_fd;
	int timer_fd;
	int stop;
};

static void
drain(int fd)
{
	uint64_t count;
	ssize_t size = read(fd, &count, sizeof(count));

	/* ECANCELED tells that the clock was set: that wakes us, and is all it does. */
	(void)size;
}

/* @return false when the clock was set since the alarm was set the last time */
static bool
set_alarm(struct worker *worker, int64_t at)
{
	struct itimerspec alarm = {0};
	int flags = 0;

	if (at >= 0) {
		/* At least one, since zero would disarm. */
		alarm.it_value.tv_sec = MAX(at - worker->options.clock->offset_s, 1);
		flags = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;
	}
	return timerfd_settime(worker->timer_fd, flags, &alarm, NULL) == 0 ||
	       errno != ECANCELED;
}

/* Asleep, but not for dead. */
static int
wait_for(struct worker *worker, struct pollfd *fds, nfds_t count)
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
	    {.fd = worker->poke_fd, .events = POLLIN},
	    {.fd = worker->timer_fd, .events = POLLIN},
	};

	/* Set while the step was at work: what it asks for may be wrong by days. */
	if (!set_alarm(worker, at))
		return;
	if (wait_for(worker, fds, G_N_ELEMENTS(fds)) < 0)
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(fds); i++)
		if (fds[i].revents)
			drain(fds[i].fd);
}

static gpointer
run(gpointer data)
{
	struct worker *worker = data;

	while (!g_atomic_int_get(&worker->stop)) {
		int64_t next;

		heartbeat_arm(worker->options.heartbeat, worker->options.step_s);
		next = worker->options.step(worker->options.data,
		    clock_get_now(worker->options.clock), &worker->stop);
		if (!g_atomic_int_get(&worker->stop))
			sleep_until(worker, next);
	}
	return NULL;
}

struct worker *
worker_new(const struct worker_options *options, GError **error)
{
	struct worker *worker = g_new0(struct worker, 1);

	worker->options = *options;
	worker->poke_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	worker->timer_fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (worker->poke_fd >= 0 && worker->timer_fd >= 0)
		worker->thread = g_thread_try_new(options->name, run, worker, error);
	else
		g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY,
		    "cannot make a timer: %s", g_strerror(errno));
	if (worker->thread)
		return worker;
	worker_free(worker);
	return NULL;
}

void
worker_wake(struct worker *worker)
{
	uint64_t one = 1;
	ssize_t size = write(worker->poke_fd, &one, sizeof(one));

	/* It can only fail when pokes are pending already. */
	(void)size;
}

void
worker_stop(struct worker *worker)
{
	g_atomic_int_set(&worker->stop, 1);
	worker_wake(worker);
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
	if (worker->poke_fd >= 0)
		close(worker->poke_fd);
	if (worker->timer_fd >= 0)
		close(worker->timer_fd);
	g_free(worker);
}
