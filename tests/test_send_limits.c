/*
 * test_send_limits.c - the limit of a day in a sliding window, and after a restart.
 */
#include "service/delivery/send_limits.h"

#include <inttypes.h>

#include "lib/store_fixture.h"
#include "lib/unit.h"

#define NOW  INT64_C(1795168923)
#define MANY 1000

static void
update(struct send_limits *limits, struct store_fixture *fixture, int64_t now)
{
	GError *error = NULL;

	send_limits_update(limits, fixture->store, now, &error);
	g_assert_no_error(error);
}

static void
send(struct send_limits *limits, unsigned count)
{
	while (count--)
		send_limits_count(limits);
}

static void
insert_sent(struct store_fixture *fixture, const char *state, int64_t at)
{
	bool is_ended = g_str_equal(state, "SENT") || g_str_equal(state, "FAILED");
	g_autofree char *ended = g_strdup_printf("%" PRId64, at);
	g_autofree char *sql = g_strdup_printf(
	    "INSERT INTO outbox (kind, recipient, address_key, sender, message, state,"
	    " attempt, queued_at, claimed_at, ended_at) VALUES ('notice',"
	    " 'ada@example.org', 'ada@example.org', '', %s, '%s', 1, 0, %" PRId64
	    ", %s)",
	    is_ended ? "NULL" : "x'00'", state, at, is_ended ? ended : "NULL");

	store_fixture_run(fixture, sql);
}

TEST(day_may_be_used_up_at_once_and_comes_back_after_24_hours)
{
	struct store_fixture *fixture = store_fixture_new();
	struct send_limits limits = {0};

	send_limits_set(&limits, 0, 0, 10);
	update(&limits, fixture, NOW);
	g_assert_cmpuint(send_limits_get_available(&limits, NOW, MANY, 0), ==, 10);
	g_assert_cmpuint(send_limits_get_available(&limits, NOW, MANY, 4), ==, 6);
	g_assert_cmpuint(send_limits_get_available(&limits, NOW, MANY, 11), ==, 0);
	send(&limits, 7);
	update(&limits, fixture, NOW + CLOCK_HOUR_S);
	send(&limits, 3);
	g_assert_cmpuint(
	    send_limits_get_available(&limits, NOW + CLOCK_HOUR_S, 1, 0), ==, 0);
	g_assert_cmpint(send_limits_get_next(&limits, NOW), >, NOW + CLOCK_DAY_S);
	g_assert_cmpint(send_limits_get_next(&limits, NOW), <=,
	    NOW + CLOCK_DAY_S + SEND_LIMITS_SLOT_S);

	update(&limits, fixture, NOW + CLOCK_DAY_S);
	g_assert_cmpuint(send_limits_get_available(&limits, NOW, MANY, 0), ==, 0);
	update(&limits, fixture, send_limits_get_next(&limits, NOW));
	g_assert_cmpuint(send_limits_get_available(&limits, NOW, MANY, 0), ==, 7);
	update(&limits, fixture, NOW + 3 * CLOCK_DAY_S);
	g_assert_cmpuint(send_limits_get_available(&limits, NOW, MANY, 0), ==, 10);
	store_fixture_free(fixture);
}

/* No 24 hours have more messages than the limit, whenever they begin. */
TEST(no_window_has_more_than_the_limit)
{
	struct store_fixture *fixture = store_fixture_new();
	struct send_limits limits = {0};
	g_autoptr(GRand) random = g_rand_new_with_seed(42);
	g_autoptr(GArray) sent = g_array_new(FALSE, FALSE, sizeof(int64_t));
	unsigned first = 0;

	send_limits_set(&limits, 0, 0, 50);
	for (int64_t now = NOW; now < NOW + 10 * CLOCK_DAY_S;
	     now += g_rand_int_range(random, 1, 2000)) {
		unsigned wanted = (unsigned)g_rand_int_range(random, 0, 20), allowed;

		update(&limits, fixture, now);
		allowed = send_limits_get_available(&limits, now, wanted, 0);
		send(&limits, allowed);
		for (unsigned i = 0; i < allowed; i++)
			g_array_append_val(sent, now);
		while (first < sent->len &&
		       g_array_index(sent, int64_t, first) <= now - CLOCK_DAY_S)
			first++;
		g_assert_cmpuint(sent->len - first, <=, 50);
	}
	/* Nearly all of it is used. */
	g_assert_cmpuint(sent->len, >, 450);
	store_fixture_free(fixture);
}

TEST(messages_are_counted_across_a_restart)
{
	struct store_fixture *fixture = store_fixture_new();
	struct send_limits limits = {0};

	insert_sent(fixture, "SENT", NOW - 60);
	insert_sent(fixture, "SENT", NOW - CLOCK_DAY_S + 60);
	insert_sent(fixture, "UNKNOWN", NOW - 60);
	insert_sent(fixture, "FAILED", NOW - 60);
	insert_sent(fixture, "SENT", NOW - CLOCK_DAY_S - 2 * SEND_LIMITS_SLOT_S);
	send_limits_set(&limits, 0, 0, 10);
	update(&limits, fixture, NOW);
	g_assert_cmpuint(send_limits_get_available(&limits, NOW, MANY, 0), ==, 7);
	/* They are forgotten as if they had been counted. */
	update(&limits, fixture, NOW + 2 * SEND_LIMITS_SLOT_S);
	g_assert_cmpuint(send_limits_get_available(&limits, NOW, MANY, 0), ==, 8);
	/* The same after a change of the limit, and of the clock. */
	send(&limits, 1);
	send_limits_set(&limits, 0, 0, 5);
	update(&limits, fixture, NOW);
	g_assert_cmpuint(send_limits_get_available(&limits, NOW, MANY, 0), ==, 2);
	/* Then the oldest is within a day again. */
	update(&limits, fixture, NOW - CLOCK_HOUR_S);
	g_assert_cmpuint(send_limits_get_available(&limits, NOW, MANY, 0), ==, 1);
	store_fixture_free(fixture);
}

TEST(without_limits_everything_is_allowed)
{
	struct send_limits limits = {0};

	send_limits_set(&limits, 0, 0, 0);
	g_assert_true(send_limits_update(&limits, NULL, NOW, NULL));
	send(&limits, MANY);
	g_assert_cmpuint(send_limits_get_available(&limits, NOW, MANY, MANY), ==, MANY);
	g_assert_cmpint(send_limits_get_next(&limits, NOW), ==, NOW);
}

UNIT_MAIN
