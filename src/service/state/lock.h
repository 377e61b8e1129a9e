/*
 * lock.h - the locks of a state directory.
 *
 * One file has two independent locks: flock(2) allows one daemon; a lock of its first
 * byte (fcntl(2), open file description) is shared by open stores, and exclusive while
 * a store is replaced.
 */
#pragma once

#include <glib.h>

/**
 * Create the state directory (mode 0700) if necessary, and lock it for a daemon.
 *
 * @return a descriptor that holds the lock until it is closed, or -1: with
 *         PB_ERROR_TEMPORARY when another paperboyd holds it, PB_ERROR_PERMANENT when
 *         the directory cannot be used or is accessible to others
 */
int lock_take(const char *state_dir, GError **error);

/**
 * Lock the store against being replaced; shared, also with a daemon.
 *
 * @return a descriptor, or -1: with PB_ERROR_TEMPORARY while a backup is restored
 */
int lock_share(const char *state_dir, GError **error);

/**
 * Lock the state directory against daemons and open stores.
 *
 * @return a descriptor, or -1: with PB_ERROR_TEMPORARY while either exists
 */
int lock_take_alone(const char *state_dir, GError **error);
