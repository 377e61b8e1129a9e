/*
 * shutdown.h - deadline of a shutdown, as a file descriptor to poll.
 *
 * Long waits poll it too (net/stream.h), so that a slow peer cannot delay the shutdown.
 */
#ifndef PAPERBOY_DAEMON_SHUTDOWN_H
#define PAPERBOY_DAEMON_SHUTDOWN_H

#include <glib.h>
#include <stdbool.h>

/** @param fd  set on success; not readable before shutdown_cut_short() */
bool shutdown_open(int *fd, GError **error);

/** Start the timer. @param wait_s  at least 1 */
void shutdown_cut_short(int fd, int wait_s);

/** @param fd  or -1 */
void shutdown_close(int fd);

#endif
