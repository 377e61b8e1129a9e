/*
 * lmtp_listen.h - listening sockets of the LMTP server: a Unix socket, a TCP port on a
 * loopback address, or both.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Maximum length of a socket path (unix(7)), without the NUL. */
#define LMTP_LISTEN_PATH_BYTES 107

enum { LMTP_LISTEN_UNIX, LMTP_LISTEN_TCP, LMTP_LISTEN_COUNT };

struct lmtp_listen {
	char *path;                 /* of the Unix socket, or NULL */
	char *group;                /* that may connect to it; NULL: only the owner */
	char *tcp;                  /* "127.0.0.1:24", or NULL */
	int fds[LMTP_LISTEN_COUNT]; /* non-blocking; or -1 */
	bool is_bound;              /* the socket was created by us */
};

/** @param path, group, tcp  copied; may be NULL */
void lmtp_listen_init(
    struct lmtp_listen *at, const char *path, const char *group, const char *tcp);
void lmtp_listen_clear(struct lmtp_listen *at);

/** Check for a loopback address with a port. */
bool lmtp_listen_check(const char *text, GError **error);

/**
 * Open the sockets. A stale Unix socket is replaced; one that is in use, or a file of
 * another type, is not.
 *
 * @return false with PB_ERROR_INPUT (invalid path, group or address),
 *         PB_ERROR_TEMPORARY, or PB_ERROR_PERMANENT (a file of another type exists);
 *         then all are closed
 */
bool lmtp_listen_open(struct lmtp_listen *at, GError **error);
void lmtp_listen_close(struct lmtp_listen *at);

/** Connect and wait for the greeting. */
bool lmtp_listen_connect(const struct lmtp_listen *at, GError **error);
