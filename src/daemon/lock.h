/*
 * lock.h - one daemon for one state folder.
 */
#ifndef PAPERBOY_DAEMON_LOCK_H
#define PAPERBOY_DAEMON_LOCK_H

#include <glib.h>

/**
 * Make the state folder (mode 0700) if need be, and lock it.
 *
 * @return a descriptor that holds the lock until it is closed, or -1: with
 *         PB_ERROR_TEMPORARY when another paperboyd has it, PB_ERROR_PERMANENT when the
 *         folder cannot be used or others may look into it
 */
int lock_take(const char *state_dir, GError **error);

#endif
