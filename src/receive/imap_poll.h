/*
 * imap_poll.h - one poll cycle: receive and mark all unprocessed messages.
 *
 * The state survives reconnects: messages that were stored but not yet marked, messages
 * on which the connection broke, and skipped messages.
 */
#ifndef PAPERBOY_RECEIVE_IMAP_POLL_H
#define PAPERBOY_RECEIVE_IMAP_POLL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "receive/imap.h"
#include "receive/imap_session.h"

struct imap_poll {
	const struct imap_options *options; /* borrowed */
	struct imap_cursor cursor;          /* as last loaded or saved */
	uint32_t uidvalidity;               /* of the UIDs below; 0: none */
	int64_t selected_at;                /* time of the SELECT that returned it */
	GHashTable *stored;  /* stored UIDs; value: whether marked, too */
	GHashTable *broken;  /* UID: number of connections that broke on it */
	GHashTable *skipped; /* UIDs recorded by the sink as skipped */
	uint32_t fetching;   /* UID being fetched, or 0 */
	uint64_t n_taken;    /* messages stored; the caller resets it */
	bool keywords_lost;  /* the server accepts keywords but does not store them */
};

enum imap_poll_result {
	IMAP_POLL_EMPTY,     /* nothing to do, or all of it was skipped */
	IMAP_POLL_DONE,      /* messages were stored, none is left */
	IMAP_POLL_MORE,      /* more messages than one cycle handles */
	IMAP_POLL_POSTPONED, /* the sink cannot accept messages now */
};

void imap_poll_init(struct imap_poll *poll, const struct imap_options *options);
void imap_poll_clear(struct imap_poll *poll);

/** Load the cursor; call before the first connection. */
void imap_poll_begin(struct imap_poll *poll);

/**
 * Store and mark all unprocessed messages.
 *
 * @param stop_fd  checked between groups of messages
 * @param result   set on success only
 * @return false if the session failed or stop_fd is readable
 */
bool imap_poll_run(struct imap_poll *poll, struct imap_session *session,
    const struct receiver_sink *sink, int stop_fd, enum imap_poll_result *result,
    GError **error);

#endif
