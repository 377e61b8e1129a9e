/*
 * queue.h - what an operator does to messages that wait.
 *
 *   retry    a DEFERRED or UNKNOWN one is due now; so is a HELD one that is named
 *   hold     NEW, DEFERRED and UNKNOWN ones wait for an operator
 *   release  HELD ones are what they were and due now, or CANCELLED when no paper
 *            in them could be mailed any more, or a letter is QUEUE_LETTER_DAYS old
 *   drop     CANCELLED: the papers are free for the next digest, but for a message
 *            that may have arrived, whose papers count as delivered
 *
 * One that is SENDING is the post's, and left alone.
 */
#ifndef PAPERBOY_SERVICE_DELIVERY_QUEUE_H
#define PAPERBOY_SERVICE_DELIVERY_QUEUE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/* What answers somebody is of no use later; a confirmation's token ends then, too. */
#define QUEUE_MAIL_DAYS 3

enum queue_action {
	QUEUE_RETRY,
	QUEUE_HOLD,
	QUEUE_RELEASE,
	QUEUE_DROP,
	QUEUE_DROP_DELIVERED, /* its papers count as delivered, whatever it was */
};

/* What became of one message. */
enum queue_outcome {
	QUEUE_DONE,
	QUEUE_DOUBTFUL,  /* will be sent again, and an earlier copy may have arrived */
	QUEUE_DELIVERED, /* dropped, and its papers count as delivered */
	QUEUE_TOO_OLD,   /* not released but cancelled: nothing in it is young enough */
	QUEUE_SENDING,   /* left alone: it is being sent at this moment */
	QUEUE_HAS_ENDED, /* left alone */
	QUEUE_IS_HELD,   /* left alone: it is HELD, and not named */
	QUEUE_NOT_HELD,  /* left alone: only HELD ones can be released */
	QUEUE_OUTCOMES,
};

struct queue_request {
	enum queue_action action;
	const char *who; /* for the audit */
	int64_t now;
};

/**
 * Do it to named messages, all in one commit.
 *
 * @param ids       not empty
 * @param outcomes  set on success: of each
 * @return false with PB_ERROR_NOT_FOUND when one does not exist; then nothing is done
 */
bool queue_change(struct store *store, const struct queue_request *request,
    const int64_t *ids, unsigned count, enum queue_outcome *outcomes, GError **error);

/**
 * Do it to all that have not ended, in pages of one commit each.
 *
 * @param state   only those in that state, or NULL
 * @param counts  increased, one for each outcome
 */
bool queue_change_all(struct store *store, const struct queue_request *request,
    const char *state, unsigned counts[QUEUE_OUTCOMES], GError **error);

#endif
