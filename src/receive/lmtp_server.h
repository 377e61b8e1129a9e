/*
 * lmtp_server.h - a mailbox that a mail server hands letters to (LMTP, RFC 2033).
 *
 * On a Unix socket, on a TCP port of this machine, or both; several clients at a time,
 * each within base/bounds.h.  250 is said once the sink has committed the letter, 452
 * while it cannot.  Whoever can connect can hand in letters: the socket's mode is the
 * lock, and the port has none.
 */
#ifndef PAPERBOY_RECEIVE_LMTP_SERVER_H
#define PAPERBOY_RECEIVE_LMTP_SERVER_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bounds.h"
#include "receive/receiver.h"

/* When a client is given up, ms. */
struct lmtp_times {
	int64_t idle; /* it says nothing, or reads nothing */
	int64_t mail; /* it hands in no whole letter */
};

#define LMTP_TIMES_STANDARD                                                          \
	(struct lmtp_times)                                                          \
	{                                                                            \
		.idle = BOUNDS_LMTP_IDLE_S * 1000, .mail = BOUNDS_LMTP_MAIL_S * 1000 \
	}

struct lmtp_options {
	const char *path;   /* of the Unix socket, absolute; or NULL */
	const char *group;  /* that may write to it; NULL: nobody else */
	const char *listen; /* "127.0.0.1:24", "[::1]:24"; or NULL */
	struct lmtp_times times;
};

/** @param options  copied */
struct receiver *lmtp_new(const struct lmtp_options *options);

#endif
