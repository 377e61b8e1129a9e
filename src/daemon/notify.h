/*
 * notify.h - sd_notify(3) messages; no-ops without systemd.
 */
#ifndef PAPERBOY_DAEMON_NOTIFY_H
#define PAPERBOY_DAEMON_NOTIFY_H

#include <stdint.h>

void notify_ready(void);
void notify_stopping(void);

/** A reload begins; notify_ready() ends it, also after a failure. */
void notify_reloading(void);

/** WatchdogSec of the service, s; 0 without a watchdog. */
int64_t notify_get_watchdog_s(void);
void notify_alive(void);

/** @param text  one line, for systemctl status */
void notify_status(const char *text);

#endif
