/*
 * lmtp_listen.h - the sockets on which letters are handed in.
 *
 * A Unix socket, whose mode says who may connect, a TCP port of this machine, or both.
 */
#ifndef PAPERBOY_RECEIVE_LMTP_LISTEN_H
#define PAPERBOY_RECEIVE_LMTP_LISTEN_H

#include <glib.h>
#include <stdbool.h>

/* Of a socket's name (unix(7)), without the NUL. */
#define LMTP_LISTEN_PATH_BYTES 107

enum { LMTP_LISTEN_UNIX, LMTP_LISTEN_TCP, LMTP_LISTEN_COUNT };

struct lmtp_listen {
	char *path;  /* of the Unix socket, or NULL */
	char *group; /* that may connect to it; NULL: nobody but its owner */
	char *tcp;   /* "127.0.0.1:24", or NULL */
	int fds[LMTP_LISTEN_COUNT]; /* non-blocking; or -1 */
	bool is_bound;              /* the socket's name is ours to take away */
};

/** Begin with all closed. @param path, group, tcp  copied */
void lmtp_listen_init(
    struct lmtp_listen *at, const char *path, const char *group, const char *tcp);
void lmtp_listen_clear(struct lmtp_listen *at);

/** Whether that is an address of this machine's own with a port. */
bool lmtp_listen_check(const char *text, GError **error);

/**
 * Listen.  A socket that a killed program left is taken away, what somebody listens on
 * is not, nor what is no socket.
 *
 * @return false with PB_ERROR_INPUT (a name is wrong), PB_ERROR_TEMPORARY, or
 *         PB_ERROR_PERMANENT (no socket is in the way); then all are closed
 */
bool lmtp_listen_open(struct lmtp_listen *at, GError **error);
void lmtp_listen_close(struct lmtp_listen *at);

/** Connect as a mail server does, and wait for the greeting of whoever listens. */
bool lmtp_listen_probe(const struct lmtp_listen *at, GError **error);

#endif
