/*
 * notify.h - telling systemd how the service is; nothing without it.
 */
#ifndef PAPERBOY_DAEMON_NOTIFY_H
#define PAPERBOY_DAEMON_NOTIFY_H

#include <stdint.h>

void notify_ready(void);
void notify_stopping(void);

/** A new configuration is read; notify_ready() ends it, however it went. */
void notify_reloading(void);

/** How often systemd wants to hear notify_alive(), s; 0: it does not. */
int64_t notify_get_watchdog_s(void);
void notify_alive(void);

/** What goes on, on one line. */
void notify_status(const char *text);

#endif
