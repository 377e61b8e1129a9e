/*
 * worker.h - a thread that runs a step at a given time or when woken.
 *
 * It sleeps on CLOCK_REALTIME, so a time of day is met also after a suspend; when the
 * clock is set, the step runs at once.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "service/log/heartbeat.h"

struct worker;

/**
 * Do what is due.
 *
 * @param stop  not 0 when the program ends: return soon
 * @return the time of the next call, s; -1: when woken
 */
typedef int64_t (*worker_step)(void *data, int64_t now, const int *stop);

/* Borrowed until worker_free(). */
struct worker_options {
	const char *name; /* at most 15 bytes (pthread_setname_np(3)) */
	const struct clock *clock;
	worker_step step;
	void *data;
	int64_t step_s; /* longest step; a longer one arms the heartbeat itself */
	struct heartbeat *heartbeat; /* or NULL */
};

struct worker *worker_new(const struct worker_options *options, GError **error);

/** Run a step now; from any thread. */
void worker_wake(struct worker *worker);

/** Let the thread run a last whole step and end; waits for it. */
void worker_finish(struct worker *worker);

/** Ask the thread to end; worker_free() waits for it. */
void worker_stop(struct worker *worker);
void worker_free(struct worker *worker);
