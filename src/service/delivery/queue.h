/*
 * queue.h - queue administration: retry, hold, release and drop messages.
 *
 *   retry    DEFERRED and UNKNOWN messages become due now; HELD ones only if named
 *   hold     NEW, DEFERRED and UNKNOWN messages become HELD
 *   release  HELD messages return to their state and become due now, or CANCELLED if
 * all papers are too old, or a reply is older than QUEUE_MAIL_DAYS drop     messages
 * become CANCELLED; their papers are available for the next digest, or count as
 * delivered if the message may have arrived
 *
 * SENDING messages belong to the mailer and are not changed.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/* Maximum age of replies, and of confirmations, whose tokens expire. */
#define QUEUE_MAIL_DAYS 3

enum queue_action {
	QUEUE_RETRY,
	QUEUE_HOLD,
	QUEUE_RELEASE,
	QUEUE_DROP,
	QUEUE_DROP_DELIVERED, /* papers count as delivered in any case */
};

enum queue_outcome {
	QUEUE_DONE,
	QUEUE_DOUBTFUL,  /* to be sent again; an earlier copy may have arrived */
	QUEUE_DELIVERED, /* dropped; papers count as delivered */
	QUEUE_TOO_OLD,   /* cancelled instead of released */
	QUEUE_SENDING,   /* unchanged: being sent */
	QUEUE_HAS_ENDED, /* unchanged: in a final state */
	QUEUE_IS_HELD,   /* unchanged: HELD and not named */
	QUEUE_NOT_HELD,  /* unchanged: only HELD messages can be released */
	QUEUE_OUTCOMES,
};

struct queue_request {
	enum queue_action action;
	const char *who; /* for the audit log */
	int64_t now;
};

/**
 * Change the named messages in one commit.
 *
 * @param ids       not empty
 * @param outcomes  set on success, one per id
 * @return false with PB_ERROR_NOT_FOUND if one does not exist; then none is changed
 */
bool queue_change(struct store *store, const struct queue_request *request,
    const int64_t *ids, unsigned count, enum queue_outcome *outcomes, GError **error);

/**
 * Change all queued messages, in batches of one commit each.
 *
 * @param state   only messages in that state, or NULL
 * @param counts  increased per outcome
 */
bool queue_change_all(struct store *store, const struct queue_request *request,
    const char *state, unsigned counts[QUEUE_OUTCOMES], GError **error);

/**
 * Pause digests: none is built or sent, while replies and other mail go on.  Or resume:
 * each subscriber with a slot meanwhile gets one digest.  In one commit, with its entry
 * in the audit log.
 *
 * @param since  set: since when they were paused before, s; -1: they were not
 */
bool queue_pause(struct store *store, bool is_paused, const char *who, int64_t now,
    int64_t *since, GError **error);
