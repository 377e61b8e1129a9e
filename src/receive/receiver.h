/*
 * receiver.h - common interface of the receivers: LMTP, Maildir, IMAP.
 *
 * A receiver waits for messages and hands each to a sink, which stores and commits it.
 * Only then is the message acknowledged where it came from (LMTP's 250, an IMAP flag, a
 * renamed file).  After a crash in between it is received again, and the sink
 * recognises the duplicate.  Each receiver has its own thread and does not use the
 * store.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

/*
 * An inbound message with its envelope (RFC 5321 section 2.3.1), from the receiver to
 * the reply.  Borrowed for the time of the call.
 */
struct receive_mail {
	int64_t id;      /* of its row in the inbox; 0: not stored yet */
	const void *raw; /* as received; at most BOUNDS_MAIL_BYTES */
	size_t size;
	size_t full_size;   /* if raw is only the header: size of the message; else 0 */
	const char *sender; /* "" is the null reverse-path; NULL: unknown */
	const char *recipient; /* forward-paths, one per line; NULL: unknown */
};

/* Consumer of received messages. */
struct receiver_sink {
	/*
	 * Store a message.
	 *
	 * @return true once it is committed, now or earlier; false with
	 *         PB_ERROR_TEMPORARY (offer it again later: the store is busy, the disk
	 *         nearly full), or PB_ERROR_INPUT or PB_ERROR_LIMIT (never accepted;
	 *         skip it)
	 */
	bool (*take)(void *data, const struct receive_mail *mail, GError **error);
	/*
	 * Record that a message cannot be received and stays where it is, unchanged: it
	 * is too large or unreadable.
	 *
	 * @param name    identifies it within the receiver, also after a restart
	 * @param head    header of a message that is too large; NULL if unknown
	 * @param reason  description of the problem
	 * @return false with PB_ERROR_TEMPORARY: not recorded, call again later
	 */
	bool (*skip)(void *data, const char *name, const struct receive_mail *head,
	    const char *reason, GError **error);
	/* Record that a skipped message was received or removed. */
	bool (*unskip)(void *data, const char *name, GError **error);
	/* Load the names of skipped messages. @return of char *, or NULL */
	GPtrArray *(*load_skipped)(void *data, GError **error);
	/* Whether an address may be one of ours; NULL: every address. */
	bool (*is_known)(void *data, const char *recipient);
	/* Report a problem to the operator (server unreachable, login failed) when it
	 * changes; NULL: working again. */
	void (*report)(void *data, const GError *problem);
	void *data;
	/* The thread is about to wait. @return maximum time until the next call, s; 0:
	 * unlimited. NULL: not needed */
	int64_t (*pause)(void *data);
	/* The thread has resumed work that is bounded in time. */
	void (*wake)(void *data);
};

/** Call pause before a wait. @param wait_ms -1: unlimited @return time to wait, ms */
int receiver_pause(const struct receiver_sink *sink, int64_t wait_ms);

/** Call wake after a wait. */
void receiver_wake(const struct receiver_sink *sink);

/** @return size of the header with the empty line, bytes; 0 if incomplete */
size_t receiver_measure_header(const void *raw, size_t size);

/* Base of all receivers; constructors are in imap.h, lmtp_server.h and maildir_in.h. */
struct receiver {
	const char *kind; /* "lmtp", "maildir", "imap"; static */
	/* Receive until stop_fd is readable. @return false if it cannot continue */
	bool (*run)(struct receiver *receiver, const struct receiver_sink *sink,
	    int stop_fd, GError **error);
	/* Receive all that is waiting and return; NULL for LMTP. */
	bool (*poll_once)(struct receiver *receiver, const struct receiver_sink *sink,
	    GError **error);
	/* See receiver_check(). */
	bool (*check)(struct receiver *receiver, char **reported, GError **error);
	void (*free)(struct receiver *receiver);
};

/** Receive messages until stop_fd is readable.  Blocks; needs its own thread. */
bool receiver_run(struct receiver *receiver, const struct receiver_sink *sink,
    int stop_fd, GError **error);

/** Receive all waiting messages once. @return as receiver_run() */
bool receiver_poll_once(
    struct receiver *receiver, const struct receiver_sink *sink, GError **error);

/**
 * Check whether messages can be received, e.g. whether LMTP accepts connections.
 *
 * @param reported  set on success: description of the state, owned by the caller
 */
bool receiver_check(struct receiver *receiver, char **reported, GError **error);

void receiver_free(struct receiver *receiver);
PB_DEFINE_AUTO(receiver, receiver_free);
