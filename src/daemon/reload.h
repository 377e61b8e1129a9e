/*
 * reload.h - reloading the configuration.
 */
#pragma once

#include <glib.h>

#include "daemon/config_snapshot.h"

/**
 * Load the configuration as at the start, with templates and secrets.
 *
 * @param config       the file; NULL: the installed one
 * @param credentials  $CREDENTIALS_DIRECTORY, or NULL
 * @param current      in use; some settings must not differ
 * @param problems     of char *: a line for each error is added
 * @return NULL after errors
 */
struct config_snapshot *reload_load(const char *config, const char *credentials,
    const struct config_snapshot *current, GPtrArray *problems);

/** Log the result of a reload. @param fresh  NULL when there were problems */
void reload_log(const struct config_snapshot *current,
    const struct config_snapshot *fresh, const GPtrArray *problems);

/** The reply on the control socket: NULL for ok, or "refused" and the problems. */
char *reload_format_answer(const GPtrArray *problems);

/** Block or unblock SIGHUP, before other threads start, which inherit the mask. */
void reload_hold(bool is_held);
