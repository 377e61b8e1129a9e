/*
 * token_bucket.h - rate limit for messages.
 *
 * Pure arithmetic (generic cell rate algorithm): no clock. Times are seconds since the
 * epoch, UTC. The burst is 1/60 of the limit, at least one message; the rest is spaced
 * evenly, so that no window contains more messages than the limit.
 */
#pragma once

#include <stdint.h>

struct token_bucket {
	unsigned limit; /* messages per window_s; 0: unlimited */
	int64_t window_s;
	int64_t due_us; /* theoretical arrival time of the next message */
};

/** Initialise with a limit and a full bucket. */
void token_bucket_init(struct token_bucket *bucket, unsigned limit, int64_t window_s);

/** @return number of messages allowed now, at limit `wanted` */
unsigned token_bucket_get_available(
    const struct token_bucket *bucket, int64_t now, unsigned wanted);

/** Count one message. */
void token_bucket_take(struct token_bucket *bucket, int64_t now);

/** @return when the next message is allowed, s; at limit a window from now */
int64_t token_bucket_get_next(const struct token_bucket *bucket, int64_t now);

/** @return interval between messages, s, at least 1 */
int64_t token_bucket_get_step_s(const struct token_bucket *bucket);
