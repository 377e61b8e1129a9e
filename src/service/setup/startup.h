/*
 * startup.h - start of a program: clock, settings, key.
 *
 * For main functions; everything else is given a clock.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/clock.h"
#include "config/settings.h"
#include "store/core/store.h"

/**
 * Set up the system clock, or a simulated one.
 *
 * @param now         ISO 8601, such as 2026-11-20T09:00:00Z; NULL for the real time
 * @param is_running  advance from `now` at the usual rate; false: always return `now`
 */
bool startup_init_clock(
    struct clock *clock, const char *now, bool is_running, GError **error);

/** @param path  NULL: the installed one. @return borrowed */
const char *startup_get_config(const char *path);

/**
 * Read the configuration.
 *
 * @param path      NULL: the installed one
 * @param problems  of char *, a line for each error
 * @return NULL after errors
 */
struct settings *startup_load_settings(const char *path, GPtrArray *problems);

/**
 * Read the valid settings of a configuration with errors; the others are defaults.
 *
 * @return NULL when there is no file, or state_dir is invalid
 */
struct settings *startup_recover_settings(const char *path);

/**
 * Read the configuration and check addresses, zones, templates and secrets too.
 *
 * @param credentials  $CREDENTIALS_DIRECTORY, or NULL
 * @param problems     `file:line: message` each, in the order of the files
 * @return NULL after errors
 */
struct settings *
startup_load_checked(const char *path, const char *credentials, GPtrArray *problems);

/**
 * Load the keys of the state directory; the first time, create a key and store its MAC.
 *
 * A key that is missing or different later is an error: with another one, links in sent
 * mail would fail, a message that is sent again would be a different one, and
 * suppressed addresses would not be recognised.
 *
 * @return NULL with PB_ERROR_PERMANENT or PB_ERROR_TEMPORARY
 */
GBytes *
startup_load_key(const struct settings *settings, struct store *store, GError **error);
