/*
 * watchdog.h - telling systemd that every thread lives.
 */
#ifndef PAPERBOY_DAEMON_WATCHDOG_H
#define PAPERBOY_DAEMON_WATCHDOG_H

#include <glib.h>
#include <stdint.h>

#include "service/log/heartbeat.h"

/** How often a thread that sleeps has to show itself, s; 0 where nobody watches. */
int64_t watchdog_get_beat_s(void);

/**
 * Tell it again and again, as long as nobody is late, from the main loop.
 *
 * @param pulses  borrowed while it goes on
 * @return the source to remove; 0 where nobody watches
 */
guint watchdog_start(struct heartbeats *heartbeats);

#endif
