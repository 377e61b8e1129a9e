/*
 * shutdown.h - a file that becomes readable some time after the program was told to
 * end.
 *
 * Waits that may take minutes look at it (net/stream.h): so an end takes as long as a
 * stop may, however slow the peer is.
 */
#ifndef PAPERBOY_DAEMON_SHUTDOWN_H
#define PAPERBOY_DAEMON_SHUTDOWN_H

#include <glib.h>
#include <stdbool.h>

/** @param fd  set on success; it is never readable before shutdown_cut_short() */
bool shutdown_open(int *fd, GError **error);

/** Let it be readable in so many seconds, and from then on. @param wait_s  at least 1
 */
void shutdown_cut_short(int fd, int wait_s);

/** @param fd  or -1 */
void shutdown_close(int fd);

#endif
