/*
 * token_bucket.c - rate limit for messages.
 */
#include "transport/token_bucket.h"

#include <glib.h>

#define SECOND_US INT64_C(1000000)

void
token_bucket_init(struct token_bucket *bucket, unsigned limit, int64_t window_s)
{
	*bucket = (struct token_bucket){.limit = limit, .window_s = window_s};
}

/* Size of a burst; with a window of 1 s, all messages. */
static int64_t
get_burst(const struct token_bucket *bucket)
{
	if (bucket->window_s <= 1)
		return bucket->limit;
	return MAX(bucket->limit / 60, 1);
}

static int64_t
get_interval_us(const struct token_bucket *bucket)
{
	int64_t burst = get_burst(bucket);
	int64_t rest =
	    bucket->window_s <= 1 ? bucket->limit : (int64_t)bucket->limit - burst;

	return bucket->window_s * SECOND_US / MAX(rest, 1);
}

/* If the clock was set back, due_us is too far ahead. */
static int64_t
get_due_us(const struct token_bucket *bucket, int64_t now)
{
	int64_t latest = (now + bucket->window_s) * SECOND_US + get_interval_us(bucket);

	return bucket->due_us > latest ? now * SECOND_US
	                               : MAX(bucket->due_us, now * SECOND_US);
}

unsigned
token_bucket_get_available(
    const struct token_bucket *bucket, int64_t now, unsigned wanted)
{
	int64_t ahead_us, room;

	if (!bucket->limit)
		return wanted;
	ahead_us = get_due_us(bucket, now) - now * SECOND_US;
	/* The full burst is available if nothing is ahead. */
	room = get_burst(bucket) -
	       (ahead_us + get_interval_us(bucket) - 1) / get_interval_us(bucket);
	return (unsigned)CLAMP(room, 0, (int64_t)wanted);
}

void
token_bucket_take(struct token_bucket *bucket, int64_t now)
{
	if (bucket->limit)
		bucket->due_us = get_due_us(bucket, now) + get_interval_us(bucket);
}

int64_t
token_bucket_get_next(const struct token_bucket *bucket, int64_t now)
{
	int64_t free_us;

	if (token_bucket_get_available(bucket, now, 1))
		return now;
	free_us =
	    get_due_us(bucket, now) - (get_burst(bucket) - 1) * get_interval_us(bucket);
	return MAX(now + 1, (free_us + SECOND_US - 1) / SECOND_US);
}

int64_t
token_bucket_get_step_s(const struct token_bucket *bucket)
{
	return bucket->limit ? (get_interval_us(bucket) + SECOND_US - 1) / SECOND_US
	                     : 1;
}
