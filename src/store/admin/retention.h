/*
 * retention.h - deletion of rows after their retention time.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/* Rows to delete, and the time of a row that decides. */
enum retention {
	RETENTION_DELIVERED,    /* delivery of the paper */
	RETENTION_REJECTED,     /* last rejection of the paper */
	RETENTION_OUTBOX,       /* end of the message */
	RETENTION_DIGEST,       /* creation; without a message, and ended */
	RETENTION_BOUNCE,       /* receipt */
	RETENTION_PAUSE,        /* end of the pause of a domain */
	RETENTION_CONFIRMATION, /* expiry */
	RETENTION_RATE_LOG,     /* the request */
	RETENTION_FETCH,        /* the response */
	RETENTION_QUARANTINE,   /* quarantine; only the content is deleted */
	RETENTION_INBOX,        /* receipt; done */
	RETENTION_PROPOSAL,     /* expiry; refusals, if their filter is gone */
	RETENTION_EVENT,        /* when an event of a paper was noticed */
	RETENTION_WATCH_PAUSED, /* it ends no sooner, since no digest can say so */
	RETENTION_WATCH,        /* end of the time for which a paper is watched */
	RETENTION_WATCH_CHECK,  /* the last question about a watched paper */
	RETENTION_VERSION,      /* creation; neither the newest one nor followed */
};

/** Delete rows older than a time, up to a limit. @param count  set: rows deleted */
bool retention_prune(struct store *store, enum retention which, int64_t before,
    unsigned limit, unsigned *count, GError **error);
