/*
 * token_bucket.h - at most so many messages in a time, spread over it.
 *
 * Pure arithmetic (the generic cell rate algorithm): no clock.  Times are seconds since
 * the epoch, UTC.  What is not used is not saved up: a sixtieth of a limit, at least
 * one message, may go at once, and the rest of it evenly, so that in no window as long
 * as the limit's there are more than it says.
 */
#ifndef PAPERBOY_TRANSPORT_TOKEN_BUCKET_H
#define PAPERBOY_TRANSPORT_TOKEN_BUCKET_H

#include <stdint.h>

struct token_bucket {
	unsigned most; /* messages in `window_s`; 0: no limit */
	int64_t window_s;
	int64_t due_us; /* when the next would go if all went evenly */
};

/** Set a limit; what went before is forgotten. */
void
token_bucket_init(struct token_bucket *token_bucket, unsigned most, int64_t window_s);

/** How many may go now. @return at most `wanted` */
unsigned token_bucket_get_available(
    const struct token_bucket *token_bucket, int64_t now, unsigned wanted);

/** One has gone. */
void token_bucket_take(struct token_bucket *token_bucket, int64_t now);

/** When one may go, s: `now` or later, but not later than a window from now. */
int64_t token_bucket_get_next(const struct token_bucket *token_bucket, int64_t now);

/** How long each of many waits for the one before it, s, at least 1. */
int64_t token_bucket_get_step_s(const struct token_bucket *token_bucket);

#endif
