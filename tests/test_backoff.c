/*
 * test_backoff.c - retry schedule of failed deliveries.
 */
#include "base/error.h"
#include "lib/unit.h"
#include "transport/backoff.h"

#define QUEUED_AT 1700000000

TEST(delays_grow_to_one_hour)
{
	static const struct {
		unsigned attempts;
		int64_t wait_s;
	} rows[] = {
	    {1, 60},
	    {2, 300},
	    {3, 900},
	    {4, 1800},
	    {5, 3600},
	    {6, 3600},
	    {30, 3600},
	    {G_MAXUINT, 3600},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		for (uint64_t id = 0; id < 500; id++) {
			struct backoff_policy attempt = {QUEUED_AT, QUEUED_AT + 1000,
			    rows[i].attempts, id, BACKOFF_AGE_DIGEST_S};
			int64_t next_at = 0;

			g_assert_true(backoff_next(&attempt, &next_at, NULL));
			g_assert_cmpint(next_at, >=, attempt.now + rows[i].wait_s);
			g_assert_cmpint(next_at, <=,
			    attempt.now + rows[i].wait_s + rows[i].wait_s / 10);
		}
	}
}

TEST(jitter_is_deterministic_and_spread)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);

	for (uint64_t id = 1; id <= 1000; id++) {
		struct backoff_policy attempt = {
		    QUEUED_AT, QUEUED_AT, 5, id, BACKOFF_AGE_DIGEST_S};
		int64_t first = 0, second = 0;

		g_assert_true(backoff_next(&attempt, &first, NULL));
		g_assert_true(backoff_next(&attempt, &second, NULL));
		g_assert_cmpint(first, ==, second);
		g_hash_table_add(seen, GINT_TO_POINTER((int)(first - QUEUED_AT)));
	}
	/* 361 values are possible; 1000 samples cover most. */
	g_assert_cmpuint(g_hash_table_size(seen), >, 300);
}

TEST(last_attempt_is_at_the_maximum_age)
{
	static const struct {
		int64_t age_s, expire_s, wait_s; /* wait 0: expired */
	} rows[] = {
	    {0, BACKOFF_AGE_CONFIRMATION_S, 3600},
	    {3000, BACKOFF_AGE_CONFIRMATION_S, 600},
	    {3540, BACKOFF_AGE_CONFIRMATION_S, 60},
	    {3541, BACKOFF_AGE_CONFIRMATION_S, 0},
	    {3600, BACKOFF_AGE_CONFIRMATION_S, 0},
	    {1000000, BACKOFF_AGE_CONFIRMATION_S, 0},
	    {24 * 3600 - 100, BACKOFF_AGE_ANSWER_S, 100},
	    {24 * 3600, BACKOFF_AGE_ANSWER_S, 0},
	    {36 * 3600 - 100, BACKOFF_AGE_DIGEST_S, 100},
	    {36 * 3600, BACKOFF_AGE_DIGEST_S, 0},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct backoff_policy attempt = {
		    QUEUED_AT, QUEUED_AT + rows[i].age_s, 5, 7, rows[i].expire_s};
		g_autoptr(GError) error = NULL;
		int64_t next_at = -1;

		if (rows[i].wait_s > 0) {
			g_assert_true(backoff_next(&attempt, &next_at, &error));
			g_assert_cmpint(next_at, ==, attempt.now + rows[i].wait_s);
		} else {
			g_assert_false(backoff_next(&attempt, &next_at, &error));
			g_assert_error(error, PB_ERROR, PB_ERROR_PERMANENT);
			g_assert_cmpint(next_at, ==, -1);
		}
	}
}

TEST(number_of_attempts_is_bounded)
{
	static const struct {
		int64_t expire_s;
		unsigned least, most;
	} rows[] = {
	    {BACKOFF_AGE_CONFIRMATION_S, 6, 6},
	    {BACKOFF_AGE_ANSWER_S, 26, 29},
	    {BACKOFF_AGE_DIGEST_S, 37, 41},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct backoff_policy attempt = {
		    QUEUED_AT, QUEUED_AT, 1, 42, rows[i].expire_s};

		while (backoff_next(&attempt, &attempt.now, NULL))
			attempt.attempts++;
		g_assert_cmpuint(attempt.attempts, >=, rows[i].least);
		g_assert_cmpuint(attempt.attempts, <=, rows[i].most);
		g_assert_cmpint(attempt.now - QUEUED_AT, >, rows[i].expire_s - 60);
	}
}

TEST(clock_set_back_counts_as_age_zero)
{
	struct backoff_policy attempt = {
	    QUEUED_AT, QUEUED_AT - 86400, 1, 1, BACKOFF_AGE_CONFIRMATION_S};
	int64_t next_at = 0;

	g_assert_true(backoff_next(&attempt, &next_at, NULL));
	g_assert_cmpint(next_at, >=, QUEUED_AT + 60);
	g_assert_cmpint(next_at, <=, QUEUED_AT + 66);
}

UNIT_MAIN
