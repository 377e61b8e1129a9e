/*
 * worker.h - a thread that does one job whenever it is time or it is poked.
 *
 * It sleeps on the real-time clock: an alarm set for an hour of the day comes
 * at that hour also after a suspend, and when the clock is set the worker
 * looks again at once.
 */
#ifndef PAPERBOY_DAEMON_WORKER_H
#define PAPERBOY_DAEMON_WORKER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "service/log/heartbeat.h"

struct worker;

/**
 * Do what is due.
 *
 * @param stop  not 0 when the program ends: come back soon
 * @return when to be called again, s since the epoch; -1 for when poked
 */
typedef int64_t (*worker_step)(void *data, int64_t now, const int *stop);

/* Borrowed until worker_free(). */
struct worker_options {
	const char *name; /* at most 15 octets, for ps and the debugger */
	const struct clock *clock;
	worker_step step;
	void *data;
	int64_t step_s; /* a step that takes longer than that hangs */
	struct heartbeat
	    *heartbeat; /* its promise, which a long step renews; NULL for none */
};

/** Start a thread. */
struct worker *worker_new(const struct worker_options *options, GError **error);

/** Make the worker look again now; from any thread. */
void worker_wake(struct worker *worker);

/** Ask the worker to end; worker_free() waits for it. */
void worker_stop(struct worker *worker);
void worker_free(struct worker *worker);

#endif
