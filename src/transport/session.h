/*
 * session.h - one connection to an SMTP or LMTP host, kept between messages.
 *
 * It opens, says what is in `out`, reads replies one by one, and takes leave; whose
 * commands these are is smtp_transaction.h's affair.
 */
#ifndef PAPERBOY_TRANSPORT_SESSION_H
#define PAPERBOY_TRANSPORT_SESSION_H

#include <stdbool.h>

#include "transport/reply.h"
#include "transport/smtp.h"
#include "transport/smtp_transaction.h"

struct session {
	const struct smtp_options *options; /* borrowed */
	const int *stop_fd;    /* of the streams to come, as in stream.h; or NULL */
	struct stream *stream; /* NULL without a connection */
	struct extensions extensions;
	struct reply_parser parser;
	GString *out;        /* what is to be written */
	unsigned n_messages; /* transactions begun on this connection */
	int64_t opened_us;   /* by the monotonic clock */
	bool needs_reset;    /* the last transaction was refused */
	size_t n_input, input_at;
	char input[4096]; /* read and not yet parsed: [input_at, n_input) */
};

/** @param options  borrowed */
void session_init(struct session *session, const struct smtp_options *options);
void session_clear(struct session *session);

/**
 * Connect, and say NOOP: bytes behind the opening's last answer may be lost.
 *
 * @param result  set on failure: what it means for the message at hand
 */
bool session_open(struct session *session, struct delivery *result);

/** Say QUIT, if there is a connection, and drop it. */
void session_close(struct session *session);

/** End it without a word. */
void session_drop(struct session *session);

/** It has carried as many messages, or is as old, as one may. */
bool session_is_spent(const struct session *session);

/** Write `out`, which is empty then. @return as stream_write() */
bool session_write(struct session *session, GError **error);

/**
 * Read one reply; whatever is wrong with it is an error.
 *
 * @return borrowed until the next one, or NULL
 */
const struct reply *
session_read_reply(struct session *session, unsigned wait_ms, GError **error);

#endif
