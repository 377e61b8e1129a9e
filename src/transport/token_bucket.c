/*
 * token_bucket.c - at most so many messages in a time, spread over it.
 */
#include "transport/token_bucket.h"

#include <glib.h>

#define SECOND_US INT64_C(1000000)

void
token_bucket_init(struct token_bucket *token_bucket, unsigned most, int64_t window_s)
{
	*token_bucket = (struct token_bucket){.most = most, .window_s = window_s};
}

/* How many may go at once: with a window of a second, all of them. */
static int64_t
get_burst(const struct token_bucket *token_bucket)
{
	if (token_bucket->window_s <= 1)
		return token_bucket->most;
	return MAX(token_bucket->most / 60, 1);
}

static int64_t
get_interval_us(const struct token_bucket *token_bucket)
{
	int64_t burst = get_burst(token_bucket);
	int64_t rest = token_bucket->window_s <= 1
	                   ? token_bucket->most
	                   : (int64_t)token_bucket->most - burst;

	return token_bucket->window_s * SECOND_US / MAX(rest, 1);
}

/* A clock that was set back has left a time that is too far ahead. */
static int64_t
get_due_us(const struct token_bucket *token_bucket, int64_t now)
{
	int64_t latest =
	    (now + token_bucket->window_s) * SECOND_US + get_interval_us(token_bucket);

	return token_bucket->due_us > latest
	           ? now * SECOND_US
	           : MAX(token_bucket->due_us, now * SECOND_US);
}

unsigned
token_bucket_get_available(
    const struct token_bucket *token_bucket, int64_t now, unsigned wanted)
{
	int64_t ahead_us, room;

	if (!token_bucket->most)
		return wanted;
	ahead_us = get_due_us(token_bucket, now) - now * SECOND_US;
	/* All of the burst is there when nothing is ahead. */
	room =
	    get_burst(token_bucket) - (ahead_us + get_interval_us(token_bucket) - 1) /
	                                  get_interval_us(token_bucket);
	return (unsigned)CLAMP(room, 0, (int64_t)wanted);
}

void
token_bucket_take(struct token_bucket *token_bucket, int64_t now)
{
	if (token_bucket->most)
		token_bucket->due_us =
		    get_due_us(token_bucket, now) + get_interval_us(token_bucket);
}

int64_t
token_bucket_get_next(const struct token_bucket *token_bucket, int64_t now)
{
	int64_t free_us;

	if (token_bucket_get_available(token_bucket, now, 1))
		return now;
	free_us = get_due_us(token_bucket, now) -
	          (get_burst(token_bucket) - 1) * get_interval_us(token_bucket);
	return MAX(now + 1, (free_us + SECOND_US - 1) / SECOND_US);
}

int64_t
token_bucket_get_step_s(const struct token_bucket *token_bucket)
{
	return token_bucket->most
	           ? (get_interval_us(token_bucket) + SECOND_US - 1) / SECOND_US
	           : 1;
}
