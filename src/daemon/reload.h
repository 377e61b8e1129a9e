/*
 * reload.h - a new configuration: read whole, checked, and only then used.
 */
#ifndef PAPERBOY_DAEMON_RELOAD_H
#define PAPERBOY_DAEMON_RELOAD_H

#include <glib.h>

#include "daemon/config_snapshot.h"

/**
 * Read the configuration as at the start, with its templates and secrets.
 *
 * @param config       the file, or NULL for where it is installed
 * @param credentials  $CREDENTIALS_DIRECTORY, or NULL
 * @param current      what the program works by: some settings cannot leave it
 * @param problems     of char *: a line for each thing that is wrong is added
 * @return NULL when anything is
 */
struct config_snapshot *reload_load(const char *config, const char *credentials,
    const struct config_snapshot *current, GPtrArray *problems);

/** Log how it went. @param fresh NULL when there were problems */
void reload_log(const struct config_snapshot *current,
    const struct config_snapshot *fresh, const GPtrArray *problems);

/**
 * The answer to who asked for it: NULL for ok, or "refused" and a line for each
 * problem.
 */
char *reload_format_answer(const GPtrArray *problems);

/**
 * Keep a SIGHUP that comes from now on until it can be answered, or let it through; for
 * all threads, before any other one is started.
 */
void reload_hold(bool is_held);

#endif
