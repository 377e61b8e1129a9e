/*
 * smtp.h - delivery over SMTP (RFC 5321) or LMTP (RFC 2033) to one relay.
 *
 * One recipient per transaction, many transactions per connection.  With PIPELINING,
 * the envelope of the next message is written together with the end of the current one.
 * A connection is used for SMTP_USE_MESSAGES messages or SMTP_USE_S seconds.  After a
 * rejection it is reset with RSET and kept; after an invalid reply it is dropped.  A
 * reused connection that fails before MAIL is accepted (lost, timeout, or 421) is
 * replaced once without an error, since the host has accepted nothing.
 *
 * CHUNKING (RFC 3030) is not used.  Measured with Postfix and messages of 8 KB, BDAT
 * after its own envelope and N transactions in flight on one connection: on a LAN it is
 * no faster, and takes 45 ms per message if the host's second reply waits for a delayed
 * acknowledgement.  With a delay of 20 ms it achieves 93 and 175 messages/s with 4 and
 * 8 in flight; the current way achieves 43 with one connection, 164 and 320 with 4 and
 * 8. More connections are faster, and a lost one leaves one message in doubt instead of
 * N.
 */
#pragma once

#include "net/stream.h"
#include "transport/transport.h"

/* A host that wants less closes the connection, which is no error (see above). */
#define SMTP_USE_MESSAGES 1000
#define SMTP_USE_S        300

/* Timeouts, ms (RFC 5321 section 4.5.3.2). */
struct smtp_times {
	unsigned connect_ms; /* TCP */
	unsigned open_ms;    /* everything up to EHLO; 5 minutes for the greeting */
	unsigned command_ms; /* NOOP, MAIL, RCPT, RSET */
	unsigned data_ms;    /* reply to DATA */
	unsigned block_ms;   /* writing 64 KiB of the message, or a command */
	unsigned dot_ms;     /* reply to the dot */
	unsigned quit_ms;    /* reply to QUIT */
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

/* All borrowed until the transport is freed; may be shared by threads. */
struct smtp_options {
	struct stream_options stream; /* its timeouts are overwritten by `times` */
	struct smtp_times times;
	bool is_lmtp;          /* `stream` is as for lmtp_open() */
	unsigned use_messages; /* messages per connection; at least 1 */
	unsigned use_s;        /* maximum age of a connection, s */
	/* Replacement for stream_open() in tests, or NULL. */
	struct stream *(*open)(const struct stream_options *options, void *data,
	    struct stream_error *failure, GError **error);
	void *open_data;
};

/** Create a transport that connects at the first delivery. @param options  borrowed */
struct transport *smtp_new(const struct smtp_options *options);
