/*
 * watchdog.h - watchdog messages to systemd while every thread sends heartbeats.
 */
#ifndef PAPERBOY_DAEMON_WATCHDOG_H
#define PAPERBOY_DAEMON_WATCHDOG_H

#include <glib.h>
#include <stdint.h>

#include "service/log/heartbeat.h"

/** Interval of the messages, and of heartbeats of idle threads, s; 0: no watchdog. */
int64_t watchdog_get_interval_s(void);

/**
 * Send the messages from the main loop, while no heartbeat is overdue.
 *
 * @param heartbeats  borrowed until the source is removed
 * @return the source to remove; 0 without a watchdog
 */
guint watchdog_start(struct heartbeats *heartbeats);

#endif
