/*
 * log.h - one event, one line: to the journal, or plain to standard error.
 */
#ifndef PAPERBOY_DAEMON_LOG_H
#define PAPERBOY_DAEMON_LOG_H

#include <glib.h>

/**
 * Take over GLib's log writer.
 *
 * @param level  "error", "warning", "info" or "debug": what is less is dropped
 */
void log_start(const char *level);

#endif
