/*
 * smtp.h - delivery over SMTP (RFC 5321) or LMTP (RFC 2033) to one relay.
 *
 * One recipient a transaction, many transactions a connection.  Where the host offers
 * PIPELINING the envelope of the next message goes out in one write with the message
 * before it; else one step is taken at a time.  A connection is used
 * for SMTP_USE_MESSAGES messages or SMTP_USE_S seconds; behind a refusal comes RSET
 * and it is kept; after anything that is no proper answer it is dropped.  A kept
 * connection that turns out dead before MAIL was accepted (cut, silent, or 421) is
 * replaced once without a word, since the host has taken nothing.
 *
 * CHUNKING (RFC 3030) is not used.  Measured with Postfix and messages of 8 KB, BDAT
 * behind its own envelope and N transactions in flight on one connection: nearby it is
 * no faster, and 45 ms a message where the host's second answer waits for a delayed
 * acknowledgement.  20 ms away it brings 93 and 175 messages a second with 4 and 8 in
 * flight, this way 43 with one connection and 164 and 320 with 4 and 8.  So one more
 * connection is faster, and a cut leaves one message in doubt where it would leave N.
 */
#ifndef PAPERBOY_TRANSPORT_SMTP_H
#define PAPERBOY_TRANSPORT_SMTP_H

#include "net/stream.h"
#include "transport/transport.h"

#define SMTP_USE_MESSAGES 100
#define SMTP_USE_S        300

/* How long to wait for each answer, ms (RFC 5321 section 4.5.3.2). */
struct smtp_times {
	unsigned connect_ms; /* TCP */
	unsigned open_ms;    /* all of the opening: its greeting has 5 minutes */
	unsigned command_ms; /* NOOP, MAIL, RCPT, RSET */
	unsigned data_ms;    /* the answer to DATA */
	unsigned block_ms;   /* each 64 KiB of the message, and any command's writing */
	unsigned dot_ms;     /* the answer to the dot */
	unsigned quit_ms;    /* the answer to QUIT, which changes nothing */
};

#define SMTP_TIMES_STANDARD              \
	((struct smtp_times){            \
	    .connect_ms = 30 * 1000,     \
	    .open_ms = 5 * 60 * 1000,    \
	    .command_ms = 5 * 60 * 1000, \
	    .data_ms = 2 * 60 * 1000,    \
	    .block_ms = 3 * 60 * 1000,   \
	    .dot_ms = 10 * 60 * 1000,    \
	    .quit_ms = 5 * 1000,         \
	})

/* All borrowed: they stay until the transport is freed.  Threads may share one. */
struct smtp_options {
	struct stream_options stream; /* its two times are overwritten by `times` */
	struct smtp_times times;
	bool is_lmtp;          /* `stream` is as lmtp_open() wants it */
	unsigned use_messages; /* messages a connection; at least 1 */
	unsigned use_s;        /* age at which a connection is given up, s */
	/* Another way to get a stream, for tests; NULL: stream_open(). */
	struct stream *(*open)(const struct stream_options *options, void *data,
	    struct stream_error *failure, GError **error);
	void *open_data;
};

/** Make a transport that connects at the first delivery. @param options borrowed */
struct transport *smtp_new(const struct smtp_options *options);

#endif
