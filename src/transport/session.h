/*
 * session.h - one connection to an SMTP or LMTP server, reused for several messages.
 *
 * Opens and closes the connection, writes `out` and reads replies; smtp_transaction.h
 * composes the commands.
 */
#ifndef PAPERBOY_TRANSPORT_SESSION_H
#define PAPERBOY_TRANSPORT_SESSION_H

#include <stdbool.h>

#include "transport/reply.h"
#include "transport/smtp.h"
#include "transport/smtp_transaction.h"

struct session {
	const struct smtp_options *options; /* borrowed */
	const int *stop_fd;    /* for new streams, as in stream.h; or NULL */
	struct stream *stream; /* NULL if not connected */
	struct extensions extensions;
	struct reply_parser parser;
	GString *out;        /* pending output */
	unsigned n_messages; /* transactions started on this connection */
	int64_t opened_us;   /* monotonic time, us */
	bool needs_reset;    /* the last transaction was rejected: send RSET */
	size_t n_input, input_at;
	char input[4096]; /* read but not yet parsed: [input_at, n_input) */
};

/** @param options  borrowed */
void session_init(struct session *session, const struct smtp_options *options);
void session_clear(struct session *session);

/**
 * Connect and send NOOP, because stream_open() may drop bytes after its last reply.
 *
 * @param result  set on failure
 */
bool session_open(struct session *session, struct delivery *result);

/** Send QUIT if connected, and disconnect. */
void session_close(struct session *session);

/** Disconnect without QUIT. */
void session_drop(struct session *session);

/** Whether it has reached its maximum number of messages or age. */
bool session_is_spent(const struct session *session);

/** Write and clear `out`. @return as stream_write() */
bool session_write(struct session *session, GError **error);

/**
 * Read one reply.
 *
 * @return borrowed until the next call; NULL on a timeout, lost connection or malformed
 *         reply
 */
const struct reply *
session_read_reply(struct session *session, unsigned wait_ms, GError **error);

#endif
