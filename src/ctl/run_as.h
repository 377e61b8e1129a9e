/*
 * run_as.h - drop root's privileges.
 */
#ifndef PAPERBOY_CTL_RUN_AS_H
#define PAPERBOY_CTL_RUN_AS_H

#include <glib.h>
#include <stdbool.h>

/**
 * As root, become the owner of the state directory for good, so that new files there
 * belong to the daemon.  Any other user stays.
 *
 * @return false with PB_ERROR_PERMANENT when the directory does not exist or belongs to
 *         somebody else
 */
bool run_as_owner(const char *state_dir, GError **error);

#endif
