/*
 * backoff.h - retry schedule of failed deliveries.
 *
 * Pure arithmetic: no clock, store or network. Times are seconds since the epoch, UTC.
 *
 * Retries after 1, 5, 15, 30 and 60 minutes, then hourly (RFC 5321 section 4.5.4.1 asks
 * for two attempts in the first hour), with up to 10 % jitter so that messages deferred
 * together are not retried together. The last attempt is made when the message reaches
 * its maximum age.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Maximum age of a message, s; when it is reached, delivery has failed. */
#define BACKOFF_AGE_DIGEST_S       (36 * 3600)
#define BACKOFF_AGE_CONFIRMATION_S 3600
#define BACKOFF_AGE_ANSWER_S       (24 * 3600)

/* A failed attempt. */
struct backoff_policy {
	int64_t queued_at; /* when the message was queued */
	int64_t now; /* of the failed attempt; if before queued_at (clock set back),
	                queued_at is used */
	unsigned attempts; /* so far, at least 1 */
	uint64_t id;       /* of the message; determines the jitter */
	int64_t expire_s;  /* maximum age of the message */
};

/**
 * Compute the time of the next attempt.
 *
 * @param next_at  set on success only: at least a minute after now
 * @return false with PB_ERROR_PERMANENT once the message has expired
 */
bool
backoff_next(const struct backoff_policy *attempt, int64_t *next_at, GError **error);
