/*
 * lock.h - one daemon for one state folder, and nobody while its store is exchanged.
 *
 * One file, two locks that know nothing of each other: flock(2) is the daemon's, a
 * lock on its first octet (fcntl(2), open file description) that of open stores.
 */
#ifndef PAPERBOY_SERVICE_STATE_LOCK_H
#define PAPERBOY_SERVICE_STATE_LOCK_H

#include <glib.h>

/**
 * Make the state folder (mode 0700) if need be, and lock it.
 *
 * @return a descriptor that holds the lock until it is closed, or -1: with
 *         PB_ERROR_TEMPORARY when another paperboyd has it, PB_ERROR_PERMANENT when the
 *         folder cannot be used or others may look into it; of a wrong owner or mode
 *         the message names the file, its owner and the one that is needed
 */
int lock_take(const char *state_dir, GError **error);

/**
 * Tell that the store of a state folder is open here, for as long as the descriptor is:
 * it is not exchanged meanwhile.  Any number may do so, beside a paperboyd too.
 *
 * @return a descriptor, or -1: with PB_ERROR_TEMPORARY while a backup is restored
 */
int lock_share(const char *state_dir, GError **error);

/**
 * Lock the state folder against paperboyd and against all who have the store open.
 *
 * @return a descriptor, or -1: with PB_ERROR_TEMPORARY when somebody is at work
 */
int lock_take_alone(const char *state_dir, GError **error);

#endif
