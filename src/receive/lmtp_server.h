/*
 * lmtp_server.h - LMTP server (RFC 2033).
 *
 * Listens on a Unix socket, a loopback TCP port, or both, and serves several clients at
 * a time, each within the limits of base/bounds.h. It replies 250 after the sink has
 * committed the message, 451 while it cannot. There is no authentication: the mode of
 * the Unix socket restricts access to it, every local user can connect to the TCP port.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bounds.h"
#include "receive/receiver.h"

/* Timeouts after which a client is disconnected, ms. */
struct lmtp_times {
	int64_t idle; /* without any data in either direction */
	int64_t mail; /* without a complete message */
};

#define LMTP_TIMES_STANDARD                                                          \
	(struct lmtp_times)                                                          \
	{                                                                            \
		.idle = BOUNDS_LMTP_IDLE_S * 1000, .mail = BOUNDS_LMTP_MAIL_S * 1000 \
	}

struct lmtp_options {
	const char *path;   /* of the Unix socket, absolute; or NULL */
	const char *group;  /* that may connect to it; NULL: only the owner */
	const char *listen; /* "127.0.0.1:24", "[::1]:24"; or NULL */
	struct lmtp_times times;
};

/** @param options  copied */
struct receiver *lmtp_new(const struct lmtp_options *options);
