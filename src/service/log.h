/*
 * log.h - one event, one line: to the journal, or plain to standard error.
 */
#ifndef PAPERBOY_SERVICE_LOG_H
#define PAPERBOY_SERVICE_LOG_H

#include <glib.h>

/**
 * Take over GLib's log writer.
 *
 * @param level    "error", "warning", "info" or "debug": what is less is dropped
 * @param program  NULL for a daemon: the journal, or lines with time and level; else
 *                 the name that stands before each line, for a person at a terminal
 */
void log_start(const char *level, const char *program);

#endif
