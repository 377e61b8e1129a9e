/*
 * imap_round.h - one round through a folder: everything that is not done, once.
 *
 * It remembers, over connections, which letters were handed over but not yet marked,
 * on which ones the connection broke, and which ones are skipped.  Only what the sink
 * has stored is ever marked, moved or removed.
 */
#ifndef PAPERBOY_MAILBOX_IMAP_ROUND_H
#define PAPERBOY_MAILBOX_IMAP_ROUND_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "mailbox/imap.h"
#include "mailbox/imap_session.h"

struct imap_round {
	const struct imap_options *options; /* borrowed */
	struct imap_mark mark;              /* as it was loaded, or last saved */
	uint32_t uidvalidity;               /* that the UIDs below are of; 0: none */
	int64_t selected_at;                /* the selection that it was read from */
	GHashTable *settled;  /* UIDs handed over; the value: whether marked too */
	GHashTable *broken;   /* UID: how often the connection broke on it */
	GHashTable *skipped;  /* UIDs that the sink has recorded as skipped */
	uint32_t fetching;    /* UID that is being fetched, or 0 */
	uint64_t n_taken;     /* letters handed over; for the caller to set to 0 */
	bool forgets_keyword; /* as was seen */
};

enum imap_round_result {
	IMAP_ROUND_EMPTY,     /* there was nothing to do, or all of it was skipped */
	IMAP_ROUND_DONE,      /* something was done, and nothing is left */
	IMAP_ROUND_MORE,      /* there is more than one round takes */
	IMAP_ROUND_POSTPONED, /* the sink cannot take letters now */
};

void imap_round_init(struct imap_round *round, const struct imap_options *options);
void imap_round_clear(struct imap_round *round);

/** Load what was kept, before the first connection. */
void imap_round_begin(struct imap_round *round);

/**
 * Hand over and mark all that is not done.
 *
 * @param stop_fd  ends it between two letters
 * @param result   set on success only
 * @return false when the session has failed, or when told to stop
 */
bool imap_round_run(struct imap_round *round, struct imap_session *session,
    const struct mailbox_sink *sink, int stop_fd, enum imap_round_result *result,
    GError **error);

#endif
