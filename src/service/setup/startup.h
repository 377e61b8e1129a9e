/*
 * startup.h - what every program does first: the clock, the settings, the key.
 *
 * Only main functions call this; everything else is handed a clock.
 */
#ifndef PAPERBOY_SERVICE_SETUP_STARTUP_H
#define PAPERBOY_SERVICE_SETUP_STARTUP_H

#include <glib.h>
#include <stdbool.h>

#include "base/clock.h"
#include "config/settings.h"
#include "store/core/store.h"

/**
 * Set up the system clock, or one of our own.
 *
 * @param now         ISO 8601, such as 2026-11-20T09:00:00Z; NULL for the real time
 * @param is_running  advance from `now` at the usual rate; false: always return `now`
 */
bool startup_init_clock(
    struct clock *clock, const char *now, bool is_running, GError **error);

/** Get the name of the configuration. @param path NULL for where it is installed */
const char *startup_get_config(const char *path);

/**
 * Read the configuration.
 *
 * @param path      NULL for paperboy.conf where it is installed
 * @param problems  of char *, a line for each thing that is wrong
 * @return NULL when anything is
 */
struct settings *startup_load_settings(const char *path, GPtrArray *problems);

/**
 * Read the valid settings of a configuration with errors; the others are defaults.
 *
 * @return NULL when there is no file, or state_dir is invalid
 */
struct settings *startup_recover_settings(const char *path);

/**
 * Read the configuration and check what the file alone does not tell, too: addresses,
 * zones, templates, secrets.  All that is wrong is told in one run.
 *
 * @param credentials  $CREDENTIALS_DIRECTORY, or NULL
 * @param problems     `file:line: message` each, as somebody goes through the files
 * @return NULL when anything is wrong
 */
struct settings *
startup_load_checked(const char *path, const char *credentials, GPtrArray *problems);

/**
 * Load the keys of the state directory; the first time one is made and kept, and its
 * MAC is stored.
 *
 * A key that is missing or different later is refused: with another one links in mail
 * that was sent would fail, a message that is sent again would be another message, and
 * suppressed addresses would not be recognised.
 *
 * @return NULL with PB_ERROR_PERMANENT or PB_ERROR_TEMPORARY
 */
GBytes *
startup_load_key(const struct settings *settings, struct store *store, GError **error);

#endif
