/*
 * imap_poll.h - one round through a folder: everything that is not done, once.
 *
 * It remembers, over connections, which letters were handed over but not yet marked,
 * on which ones the connection broke, and which ones are skipped.  Only what the sink
 * has stored is ever marked, moved or removed.
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
	struct imap_cursor mark;            /* as it was loaded, or last saved */
	uint32_t uidvalidity;               /* that the UIDs below are of; 0: none */
	int64_t selected_at;                /* the selection that it was read from */
	GHashTable *settled;  /* UIDs handed over; the value: whether marked too */
	GHashTable *broken;   /* UID: how often the connection broke on it */
	GHashTable *skipped;  /* UIDs that the sink has recorded as skipped */
	uint32_t fetching;    /* UID that is being fetched, or 0 */
	uint64_t n_taken;     /* letters handed over; for the caller to set to 0 */
	bool forgets_keyword; /* as was seen */
};

enum imap_poll_result {
	IMAP_POLL_EMPTY,     /* there was nothing to do, or all of it was skipped */
	IMAP_POLL_DONE,      /* something was done, and nothing is left */
	IMAP_POLL_MORE,      /* there is more than one round takes */
	IMAP_POLL_POSTPONED, /* the sink cannot take letters now */
};

void imap_poll_init(struct imap_poll *round, const struct imap_options *options);
void imap_poll_clear(struct imap_poll *round);

/** Load what was kept, before the first connection. */
void imap_poll_begin(struct imap_poll *round);

/**
 * Hand over and mark all that is not done.
 *
 * @param stop_fd  ends it between two letters
 * @param result   set on success only
 * @return false when the session has failed, or when told to stop
 */
bool imap_poll_run(struct imap_poll *round, struct imap_session *session,
    const struct receiver_sink *sink, int stop_fd, enum imap_poll_result *result,
    GError **error);

#endif
