/*
 * heartbeat.h - heartbeats of threads, for the watchdog.
 *
 * Each thread announces when its next heartbeat is due at the latest; the watchdog is
 * notified only while none is overdue.  Times are of the monotonic clock, which does
 * not advance during a suspend.
 *
 * Without a watchdog the pointers are NULL, which all functions accept.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

/* Heartbeats of all threads of a program; threads may be added and removed. */
struct heartbeats;

struct heartbeat;

/** @param beat_s  interval of heartbeats of idle threads; 0: they send none */
struct heartbeats *heartbeats_new(int64_t beat_s);

/** All heartbeats must have been freed. */
void heartbeats_free(struct heartbeats *heartbeats);
PB_DEFINE_AUTO(heartbeats, heartbeats_free);

/**
 * Count the threads whose heartbeat is overdue.
 *
 * @param name  NULL, or set to the name of one of them, owned by the caller, or to NULL
 */
unsigned heartbeats_count_overdue(struct heartbeats *heartbeats, char **name);

/** @param name  of the thread; copied */
struct heartbeat *heartbeat_new(struct heartbeats *heartbeats, const char *name);

void heartbeat_free(struct heartbeat *heartbeat);
PB_DEFINE_AUTO(heartbeat, heartbeat_free);

/**
 * Announce that the next heartbeat is sent within this time.  Called by the thread
 * itself.
 */
void heartbeat_arm(struct heartbeat *heartbeat, int64_t seconds);

/**
 * Announce that the thread is idle.
 *
 * @return time until its next call at the latest, s; 0: none is needed
 */
int64_t heartbeat_idle(struct heartbeat *heartbeat);
