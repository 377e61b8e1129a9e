/*
 * log.h - log output: to the journal, or as lines to standard error.
 */
#pragma once

#include <glib.h>

struct log;

/**
 * Install GLib's log writer; once in a program.
 *
 * @param level  "error", "warning", "info" or "debug": the lowest that is logged
 * @param program  NULL for a daemon: log to the journal, or lines with time and level;
 *                 else the prefix of each line on a terminal; borrowed
 * @return owned by GLib
 */
struct log *log_start(const char *level, const char *program);

/** Change the level; safe while other threads log. */
void log_set_level(struct log *log, const char *level);
