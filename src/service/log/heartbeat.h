/*
 * heartbeat.h - when each thread will show next that it lives.
 *
 * The thread itself promises how soon; the watchdog looks whether all promises are
 * kept, and lets systemd start the program anew when one is not.  Seconds of the
 * monotonic clock: a suspend breaks no promise.
 *
 * All take NULL, where nobody watches: then nothing is promised.
 */
#ifndef PAPERBOY_SERVICE_LOG_HEARTBEAT_H
#define PAPERBOY_SERVICE_LOG_HEARTBEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

/* Those of all threads of a program; any thread may come and go. */
struct heartbeats;

/* That of one thread. */
struct heartbeat;

/** @param beat_s  who sleeps shows so often that it lives; 0: it may sleep on */
struct heartbeats *heartbeats_new(int64_t beat_s);

/** All threads have gone before. */
void heartbeats_free(struct heartbeats *heartbeats);
PB_DEFINE_AUTO(heartbeats, heartbeats_free);

/** Count the threads that have broken their promise. @param name  NULL, or set to that
 * of one of them, or to NULL: owned by the caller */
unsigned heartbeats_count_overdue(struct heartbeats *heartbeats, char **name);

/** A thread begins, or will. @param name  copied */
struct heartbeat *heartbeat_new(struct heartbeats *heartbeats, const char *name);

/** It has ended. */
void heartbeat_free(struct heartbeat *heartbeat);
PB_DEFINE_AUTO(heartbeat, heartbeat_free);

/** Promise another call within so many seconds; by the thread that it is about. */
void heartbeat_arm(struct heartbeat *heartbeat, int64_t seconds);

/**
 * The thread goes to sleep: promise what sleepers do.
 *
 * @return after how many seconds it has to call again; 0: it may sleep on
 */
int64_t heartbeat_idle(struct heartbeat *heartbeat);

#endif
