/*
 * notify.h - telling systemd how the service is; nothing without it.
 */
#ifndef PAPERBOY_DAEMON_NOTIFY_H
#define PAPERBOY_DAEMON_NOTIFY_H

void notify_ready(void);
void notify_stopping(void);

/** A new configuration is read; notify_ready() ends it, however it went. */
void notify_reloading(void);

/** What goes on, on one line. */
void notify_status(const char *text);

#endif
