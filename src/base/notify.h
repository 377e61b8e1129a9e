/*
 * notify.h - messages to systemd (sd_notify(3)); without systemd they do nothing.
 */
#pragma once

#include <stdint.h>

/** @param state  "READY=1" */
void notify_send(const char *state);

/** WatchdogSec of the service, s; 0 without a watchdog. */
int64_t notify_get_watchdog_s(void);
