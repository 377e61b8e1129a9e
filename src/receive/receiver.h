/*
 * receiver.h - the one small interface of every receiver by which letters come in.
 *
 * A mailbox waits for letters and hands each to a sink, which stores and commits it.
 * Only then is the letter marked as done where it came from (LMTP's 250, a flag, a
 * moved file): killed in between, it comes again and the sink knows it.  Each mailbox
 * has a thread of its own, and no store.
 */
#ifndef PAPERBOY_RECEIVE_RECEIVER_H
#define PAPERBOY_RECEIVE_RECEIVER_H

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

/* Where the letters go. */
struct receiver_sink {
	/*
	 * @return true once the letter is stored and committed, now or before; false
	 * with PB_ERROR_TEMPORARY: offer it again later (the store is busy, the disk
	 * nearly full); PB_ERROR_INPUT or PB_ERROR_LIMIT: it will never be taken, to be
	 * skipped
	 */
	bool (*take)(void *data, const struct receive_mail *mail, GError **error);
	/*
	 * Record that a message cannot be taken and stays where it is, unchanged: it is
	 * too large, or cannot be read.
	 *
	 * @param name    by which the mailbox finds it again, also after a restart
	 * @param head    its header, of a message that is too large; NULL: not known
	 * @param reason  what is wrong with it
	 * @return false with PB_ERROR_TEMPORARY: not recorded, call again later
	 */
	bool (*skip)(void *data, const char *name, const struct receive_mail *head,
	    const char *reason, GError **error);
	/* Record that a skipped message was taken, or is gone. */
	bool (*unskip)(void *data, const char *name, GError **error);
	/* Load the names of skipped messages. @return of char *, or NULL */
	GPtrArray *(*load_skipped)(void *data, GError **error);
	/* Whether mail to an address can be for us; NULL: any can. */
	bool (*is_known)(void *data, const char *recipient);
	/* Something that an operator should see: the server is away, a login fails.
	 * Called when it changes: NULL when all is well again. */
	void (*note)(void *data, const GError *problem);
	void *data;
	/* The thread lies down to wait. @return the longest that it may before it says
	 * so again, s; 0: as long as it likes.  NULL: nobody wants to know */
	int64_t (*rest)(void *data);
	/* It is up, and at something that ends by itself. */
	void (*rise)(void *data);
};

/** Before a wait of so many ms, -1 for without end. @return how long to wait, ms */
int receiver_pause(const struct receiver_sink *sink, int64_t wait_ms);

/** After it. */
void receiver_wake(const struct receiver_sink *sink);

/** Measure the header of a message. @return its bytes with the empty line; 0: no end */
size_t mailbox_measure_header(const void *raw, size_t size);

/* A mailbox's constructor is in its own header. */
struct receiver {
	const char *receiver; /* "lmtp", "maildir", "imap"; static */
	/* @param stop_fd  readable once it is to end, at once and in good order
	 * @return false when it cannot go on at all; the message says why */
	bool (*serve)(struct receiver *mailbox, const struct receiver_sink *sink,
	    int stop_fd, GError **error);
	/* Take in what waits and come back; NULL where nothing waits for us. */
	bool (*sweep)(
	    struct receiver *mailbox, const struct receiver_sink *sink, GError **error);
	/* Whether letters could come in, without taking one.
	 * @param told  set on success: what was seen, owned by the caller */
	bool (*probe)(struct receiver *mailbox, char **reported, GError **error);
	void (*free)(struct receiver *mailbox);
};

/** Take in letters until stop_fd is readable.  Blocks; one thread a mailbox. */
bool receiver_run(struct receiver *mailbox, const struct receiver_sink *sink,
    int stop_fd, GError **error);

/** Take in the letters that wait, once. @return false as receiver_run() */
bool receiver_poll_once(
    struct receiver *mailbox, const struct receiver_sink *sink, GError **error);

/**
 * Look whether letters could come in.  Of LMTP: whether somebody listens there.
 *
 * @param told  set on success: what was seen; owned by the caller
 */
bool receiver_probe(struct receiver *mailbox, char **reported, GError **error);

void receiver_free(struct receiver *mailbox);
PB_DEFINE_AUTO(receiver, receiver_free);

#endif
