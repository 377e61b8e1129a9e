/*
 * imap.h - letters from a folder of an IMAP server (RFC 3501, RFC 2177).
 *
 * What is done is marked on the server: by the keyword IMAP_KEYWORD, or by a move to
 * another folder when one is named, or, where the server keeps no keywords, by a mark
 * that the caller keeps.  Being read by a person changes nothing.  New letters are
 * waited for by IDLE, or looked for now and then where there is none.  After every
 * connect and every wait all that is not done is searched for.
 *
 * Only what the sink has stored is marked, moved or removed.  A message of more than
 * BOUNDS_MAIL_BYTES, of which the header alone is fetched, and one on which the
 * connection breaks IMAP_TRIES times are skipped (the sink's skip()) and stay as they
 * are.  The latter is tried again after the next start.
 *
 * The server may be hostile: what it sends is bounded in bytes and in time before
 * libetpan sees it (imap_wire.h).  Certificate and name are verified by net/stream.
 */
#ifndef PAPERBOY_RECEIVE_IMAP_H
#define PAPERBOY_RECEIVE_IMAP_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/stream.h"
#include "receive/receiver.h"

#define IMAP_KEYWORD "$PaperboyDone"
#define IMAP_TRIES   3

/* Up to where a folder is done: valid for one UIDVALIDITY only (RFC 3501, 2.3.1.1). */
struct imap_cursor {
	uint32_t uidvalidity; /* 0: there is none */
	uint32_t uid;         /* all up to this one are done */
};

/* Where a mark is kept; load and save are called in the mailbox's thread. */
struct imap_cursor_store {
	/* @param mark  set when there is one */
	void (*load)(void *data, struct imap_cursor *mark);
	/* @return false when it could not be kept: the letters come again */
	bool (*save)(void *data, const struct imap_cursor *mark, GError **error);
	void (*free)(
	    void *data); /* called when the mailbox is freed; NULL: not wanted */
	void *data;
};

/* Waits; the standard ones are for the world, shorter ones for tests. */
struct imap_times {
	unsigned connect_ms; /* name and TCP */
	unsigned open_ms;    /* all until the login is done */
	unsigned command_ms; /* one command and all of its answer */
	unsigned mail_ms;    /* the same when it brings a letter */
	unsigned idle_s;     /* one IDLE; RFC 2177 wants less than 29 minutes */
	unsigned poll_s;     /* between two looks without IDLE */
	unsigned retry_ms;   /* after the first failure; doubled by each that follows */
	unsigned retry_most_ms; /* and never more than that */
	unsigned refused_ms;    /* after a refused login: an account may get locked */
	unsigned postponed_ms;  /* when the sink cannot take letters now */
};

#define IMAP_TIMES_STANDARD                                                          \
	{                                                                            \
		.connect_ms = 30000, .open_ms = 60000, .command_ms = 60000,          \
		.mail_ms = 300000, .idle_s = 9 * 60, .poll_s = 60, .retry_ms = 2000, \
		.retry_most_ms = 10 * 60000, .refused_ms = 60 * 60000,               \
		.postponed_ms = 30000                                                \
	}

/* All strings are copied. */
struct imap_options {
	const char *host; /* as those of struct stream_options */
	uint16_t port;
	enum stream_tls tls;
	const char *ca_file; /* NULL: the system's */
	const char *user;
	const char *password;
	const char
	    *folder; /* as on the wire: printable ASCII (RFC 3501 section 5.1.3) */
	const char *move_to; /* where done letters go; NULL: they stay */
	bool expunge; /* delete what is done; with move_to: the copy that is left behind
	                 where the server has no MOVE */
	struct imap_cursor_store keeper;
	/* A number from 0 to 1, so that many daemons do not come back together. */
	double (*random)(void *data);
	void *random_data;
	struct imap_times times;
};

/**
 * Make the mailbox; nothing is connected before receiver_run().
 *
 * @return NULL with PB_ERROR_INPUT for options that cannot work; then the keeper
 *         stays the caller's
 */
struct receiver *imap_receiver_new(const struct imap_options *options, GError **error);

#endif
