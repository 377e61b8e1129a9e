/*
 * backoff.h - when to try a failed delivery again.
 *
 * Pure arithmetic: no clock, no store, no network.  The outbox asks, the outbox
 * remembers the answer.  Times are seconds since the Unix epoch, UTC.
 *
 * Waits are 1, 5, 15, 30 and 60 minutes, then an hour each (RFC 5321 section
 * 4.5.4.1 asks for two tries in the first hour), lengthened by up to a tenth so that
 * messages deferred together do not come back together.  The last try is made
 * when the message has reached its age.
 */
#ifndef PAPERBOY_TRANSPORT_BACKOFF_H
#define PAPERBOY_TRANSPORT_BACKOFF_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* How long each kind of message is worth trying, s. */
#define BACKOFF_AGE_DIGEST_S       (36 * 3600)
#define BACKOFF_AGE_CONFIRMATION_S 3600
#define BACKOFF_AGE_ANSWER_S       (24 * 3600)

struct backoff_policy {
	int64_t queued_at; /* when the message entered the outbox, s */
	int64_t now; /* the time of the failed attempt, s; before queued_at (a clock
	                that was set back) counts as queued_at */
	unsigned attempts; /* made so far, at least 1 */
	uint64_t id;       /* of the message: same id and attempts, same jitter */
	int64_t give_up_s; /* the age at which there are no more tries, s */
};

/**
 * Choose the time of the next attempt.
 *
 * @param next_at  set on success only: s, at least a minute after now
 * @return false with PB_ERROR_PERMANENT when the message has been tried long enough
 */
bool
backoff_next(const struct backoff_policy *attempt, int64_t *next_at, GError **error);

#endif
