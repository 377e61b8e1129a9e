/*
 * log.h - one event, one line: to the journal, or plain to standard error.
 */
#ifndef PAPERBOY_SERVICE_LOG_LOG_H
#define PAPERBOY_SERVICE_LOG_LOG_H

#include <glib.h>

struct log;

/**
 * Take over GLib's log writer; once in a program.
 *
 * @param level    "error", "warning", "info" or "debug": what is less is dropped
 * @param program  NULL for a daemon: the journal, or lines with time and level; else
 *                 the name that stands before each line, for a person at a terminal;
 *                 borrowed for ever
 * @return what GLib keeps to the end of the program
 */
struct log *log_start(const char *level, const char *program);

/** Change the level; any thread may be logging meanwhile. */
void log_set_level(struct log *log, const char *level);

#endif
