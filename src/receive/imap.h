/*
 * imap.h - receiver for a folder of an IMAP server (RFC 3501, RFC 2177).
 *
 * Processed messages are marked on the server by the keyword IMAP_KEYWORD, or moved to
 * another folder if one is configured, or, where the server does not store keywords,
 * tracked by a UID cursor stored by the caller. \Seen has no effect. New messages are
 * awaited with IDLE, or polled for without it. After every connect and every wait all
 * unprocessed messages are searched for.
 *
 * Only messages that the sink has stored are marked, moved or removed. A message larger
 * than BOUNDS_MAIL_BYTES (of which only the header is fetched), and one on which the
 * connection breaks IMAP_TRIES times, is skipped (the sink's skip()) and left
 * unchanged; the latter is retried after the next start.
 *
 * The server may be hostile: its data is limited in size and time before libetpan sees
 * it (imap_wire.h). net/stream verifies the certificate and its name.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/stream.h"
#include "receive/receiver.h"

#define IMAP_KEYWORD "$PaperboyDone"
#define IMAP_TRIES   3 /* failed fetches after which a message is skipped */

/* Progress in a folder; valid for one UIDVALIDITY only (RFC 3501 section 2.3.1.1). */
struct imap_cursor {
	uint32_t uidvalidity; /* 0: unset */
	uint32_t uid;         /* all UIDs up to this one are processed */
};

/* Storage of a cursor; called in the receiver's thread. */
struct imap_cursor_store {
	/* @param cursor  unchanged if none is stored */
	void (*load)(void *data, struct imap_cursor *cursor);
	/* @return false if it was not saved: the messages will be received again */
	bool (*save)(void *data, const struct imap_cursor *cursor, GError **error);
	/* Called when the receiver is freed; may be NULL. */
	void (*free)(void *data);
	void *data;
};

/* Timeouts; IMAP_TIMES_STANDARD except in tests. */
struct imap_times {
	unsigned connect_ms; /* DNS and TCP */
	unsigned open_ms;    /* everything up to the end of the login */
	unsigned command_ms; /* one command and its complete response */
	unsigned mail_ms;    /* the same for fetching a message */
	unsigned idle_s;     /* one IDLE; RFC 2177 requires less than 29 minutes */
	unsigned poll_s;     /* poll interval without IDLE */
	unsigned retry_ms; /* after the first failure; doubled after each further one */
	unsigned retry_max_ms;    /* upper limit of the retry delay */
	unsigned login_failed_ms; /* after a failed login: the account may get locked */
	unsigned postponed_ms;    /* after the sink has postponed a message */
};

#define IMAP_TIMES_STANDARD                                                          \
	{                                                                            \
		.connect_ms = 30000, .open_ms = 60000, .command_ms = 60000,          \
		.mail_ms = 300000, .idle_s = 9 * 60, .poll_s = 60, .retry_ms = 2000, \
		.retry_max_ms = 10 * 60000, .login_failed_ms = 60 * 60000,           \
		.postponed_ms = 30000                                                \
	}

/* All strings are copied. */
struct imap_options {
	const char *host; /* as in struct stream_options */
	uint16_t port;
	enum stream_tls tls;
	const char *ca_file; /* NULL: the system's certificates */
	const char *user;
	const char *password;
	const struct stream_tokens
	    *tokens;         /* instead of a password; borrowed; or NULL */
	const char *folder;  /* modified UTF-7 (RFC 3501 section 5.1.3) */
	const char *move_to; /* folder for processed messages; NULL: not moved */
	bool expunge; /* delete processed messages; with move_to: delete the originals
	                 on servers without MOVE */
	struct imap_cursor_store cursor_store;
	/* Random number from 0 to 1, for the jitter of delays. */
	double (*random)(void *data);
	void *random_data;
	struct imap_times times;
};

/**
 * Create a receiver; it connects in receiver_run().
 *
 * @return NULL with PB_ERROR_INPUT for invalid options; the cursor store is then not
 *         freed
 */
struct receiver *imap_receiver_new(const struct imap_options *options, GError **error);
