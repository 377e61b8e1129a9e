/*
 * test_clock_watch.c - a clock that jumps deletes nothing and repeats no digest.
 */
#include "service/state/clock_watch.h"

#include <string.h>

#include "base/clock.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/digest/digest_build.h"
#include "service/health/health.h"
#include "service/health/status.h"
#include "service/jobs/maintenance.h"
#include "service/match/match.h"

#define DAY    ((int64_t)CLOCK_DAY_S)
#define HOUR   ((int64_t)CLOCK_HOUR_S)
#define NOWISH "2026-11-20T09:00:00Z"
#define YEAR   (365 * DAY)

/* A daemon in simulated time: the time of its clock, and the true running time. */
struct life {
	struct store_fixture *fixture;
	struct clock_watch watch;
	int64_t clock_off_s; /* error of the clock */
	int64_t began_at, ran_s;
	unsigned digests;
};

static int64_t
now(const struct life *life)
{
	return life->began_at + life->ran_s + life->clock_off_s;
}

static struct clock_jump
load_jump(const struct life *life)
{
	struct clock_jump jump;

	g_assert_true(clock_watch_load(life->fixture->store, &jump, NULL));
	return jump;
}

/* One step of the daemon. */
static void
step(struct life *life)
{
	struct store *store = life->fixture->store;
	struct digest_build_report made = {0};
	struct match_report matched = {0};
	g_autoptr(GError) error = NULL;
	int64_t at, due;

	at = now(life);
	clock_watch_check(&life->watch, store, at, 1000 + life->ran_s, &error);
	g_assert_no_error(error);
	if (load_jump(life).is_held)
		return;
	match_run(store, at, &matched, &error);
	g_assert_no_error(error);
	digest_build_run(store, life->fixture->key, NULL, at, &made, &error);
	g_assert_no_error(error);
	life->digests += made.digests;
	g_assert_true(maintenance_load_due(store, at, &due, NULL));
	if (due <= at)
		maintenance_run(store, at, &error);
	g_assert_no_error(error);
}

static void
run_on(struct life *life, int64_t seconds, int64_t each)
{
	for (int64_t end = life->ran_s + seconds; life->ran_s < end;) {
		life->ran_s += each;
		step(life);
	}
}

static void
confirm(struct life *life)
{
	int64_t served_at = life->began_at + life->ran_s;

	g_assert_true(
	    clock_watch_confirm(life->fixture->store, now(life), served_at, NULL));
}

/* A subscriber with today's digest, one who left, and an expired confirmation. */
static void
begin(struct life *life, struct store_fixture *fixture)
{
	*life =
	    (struct life){.fixture = fixture, .began_at = store_fixture_time(NOWISH)};
	store_fixture_subscribe(fixture, "ada@example.org", "UTC", "diffusion",
	    store_fixture_time(NOWISH) - DAY);
	store_fixture_subscribe(fixture, "bob@example.org", "UTC", "mamba",
	    store_fixture_time(NOWISH) - DAY);
	store_fixture_list(fixture, "2026-11-20", "2611.00020", "Diffusion", 1);
	store_fixture_run(fixture,
	    "UPDATE subscriber SET state = 'gone', next_due_at = NULL"
	    " WHERE id = 2; DELETE FROM subscription WHERE subscriber_id = 2");
	store_fixture_run(fixture,
	    "INSERT INTO confirmation (hash, purpose, address, address_key, recipient,"
	    " action, made_at, expires_at) VALUES (printf('%064d', 1), 'undo',"
	    " 'bob@example.org', 'bob@example.org', 'bob@example.org', 'restore',"
	    " unixepoch('2026-11-20'), unixepoch('2026-11-27'))");
	step(life);
	g_assert_cmpuint(life->digests, ==, 1);
	store_fixture_run(fixture,
	    "UPDATE outbox SET state = 'SENDING', attempt = 1, next_try_at = NULL,"
	    " claimed_at = 1; UPDATE outbox SET state = 'SENT', ended_at ="
	    " unixepoch('2026-11-20 09:00'); UPDATE digest SET state = 'sent'");
	store_fixture_run(fixture,
	    "INSERT INTO delivered_paper SELECT subscriber_id, paper_seq, 0, 1,"
	    " unixepoch('2026-11-20 09:00') FROM digest, digest_item");
	store_fixture_list(fixture, "2026-11-20", "2611.00021", "Diffusion again", 1);
	/* Not deleted because of its age only. */
	store_fixture_run(fixture,
	    "INSERT INTO filter (canonical, hash, created_at) VALUES ('kept',"
	    " printf('%064d', 7), unixepoch('2026-11-20'))");
}

static void
assert_all_is_there(const struct life *life)
{
	assert_rows(life->fixture,
	    "SELECT (SELECT count(*) FROM confirmation),"
	    " (SELECT count(*) FROM match) > 0,"
	    " (SELECT count(*) FROM filter WHERE canonical = 'kept'),"
	    " (SELECT count(*) FROM outbox WHERE state = 'SENT'),"
	    " (SELECT count(*) FROM delivered_paper)",
	    "1|1|1|1|1");
}

#define LIFE_TEST(function)                                           \
	UNIT_CALLER(function, struct store_fixture *, struct life *)  \
	{                                                             \
		pb_auto(store_fixture) fixture = store_fixture_new(); \
		struct life life;                                     \
		begin(&life, fixture);                                \
		function(fixture, &life);                             \
	}                                                             \
	static void function(                                         \
	    G_GNUC_UNUSED struct store_fixture *fixture, struct life *life)

LIFE_TEST(thirty_three_days_ahead_for_a_minute_delete_nothing)
{
	run_on(life, 5 * 60, 60);
	life->clock_off_s = 33 * DAY;
	run_on(life, 55, 5);
	g_assert_cmpint(load_jump(life).by_s, ==, 33 * DAY);
	g_assert_true(load_jump(life).is_held);
	assert_all_is_there(life);
	life->clock_off_s = 0;
	run_on(life, 60, 5);
	assert_all_is_there(life);
	g_assert_cmpint(load_jump(life).by_s, ==, 0);
	g_assert_cmpuint(life->digests, ==, 1);
	/* The next day has its digest as usual. */
	run_on(life, DAY, HOUR / 2);
	g_assert_cmpuint(life->digests, ==, 2);
}

LIFE_TEST(three_years_back_and_forth_repeat_no_digest)
{
	life->clock_off_s = -3 * YEAR;
	run_on(life, 2 * HOUR, 600);
	g_assert_cmpint(load_jump(life).by_s, ==, -3 * YEAR);
	assert_all_is_there(life);
	life->clock_off_s = 0;
	run_on(life, 2 * HOUR, 600);
	g_assert_cmpuint(life->digests, ==, 1);
	assert_rows(fixture, "SELECT count(*) FROM digest", "1");
	g_assert_cmpint(load_jump(life).by_s, ==, 0);
	assert_all_is_there(life);
}

/* The same, with a new process at each jump: only the store persists. */
TEST(a_restart_does_not_hide_a_jump)
{
	static const int64_t offs[] = {33 * DAY, -3 * YEAR};

	for (size_t i = 0; i < G_N_ELEMENTS(offs); i++) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		struct life life;

		begin(&life, fixture);
		store_fixture_run(fixture,
		    "INSERT INTO delivered_paper SELECT 1, seq, 0, 2, 1 FROM paper"
		    " WHERE id LIKE '%21'");
		life.clock_off_s = offs[i];
		life.watch = (struct clock_watch){0};
		run_on(&life, 60, 60);
		g_assert_cmpint(load_jump(&life).by_s, !=, 0);
		assert_rows(fixture, "SELECT count(*) FROM confirmation", "1");
		life.clock_off_s = 0;
		life.watch = (struct clock_watch){0};
		run_on(&life, 60, 60);
		g_assert_cmpint(load_jump(&life).by_s, ==, 0);
		g_assert_cmpuint(life.digests, ==, 1);
		assert_rows(fixture, "SELECT count(*) FROM confirmation", "1");
	}
}

LIFE_TEST(a_week_asleep_is_confirmed_by_the_next_answer_of_a_source)
{
	/* The running time advances during a suspend: no jump. */
	life->ran_s += 7 * DAY;
	step(life);
	g_assert_cmpint(load_jump(life).by_s, ==, 0);
	g_assert_cmpuint(life->digests, ==, 2);
	/* While switched off, it does not. */
	life->ran_s += 20 * DAY;
	life->watch = (struct clock_watch){0};
	clock_watch_check(&life->watch, fixture->store, now(life), 5, NULL);
	g_assert_cmpint(load_jump(life).by_s, ==, 20 * DAY);
	g_assert_false(load_jump(life).is_held);
	g_assert_true(maintenance_run(fixture->store, now(life), NULL));
	assert_rows(fixture, "SELECT count(*) FROM confirmation", "1");
	confirm(life);
	g_assert_cmpint(load_jump(life).by_s, ==, 0);
	g_assert_true(maintenance_run(fixture->store, now(life), NULL));
	assert_rows(fixture, "SELECT count(*) FROM confirmation", "0");
}

LIFE_TEST(unconfirmed_jump_is_trusted_after_a_day_of_running_time)
{
	life->clock_off_s = 33 * DAY;
	run_on(life, DAY - HOUR, HOUR / 2);
	g_assert_cmpint(load_jump(life).by_s, !=, 0);
	assert_rows(fixture, "SELECT count(*) FROM confirmation", "1");
	run_on(life, 2 * HOUR, HOUR / 2);
	g_assert_cmpint(load_jump(life).by_s, ==, 0);
	assert_rows(fixture, "SELECT count(*) FROM confirmation", "0");
}

LIFE_TEST(a_source_that_contradicts_holds_digests_and_one_that_confirms_frees_them)
{
	life->watch = (struct clock_watch){0};
	life->clock_off_s = 33 * DAY;
	life->ran_s += 60;
	clock_watch_check(&life->watch, fixture->store, now(life), 5, NULL);
	g_assert_false(load_jump(life).is_held);
	confirm(life);
	g_assert_true(load_jump(life).is_held);
	step(life);
	g_assert_cmpuint(life->digests, ==, 1);
	life->began_at += life->clock_off_s;
	life->clock_off_s = 0;
	confirm(life);
	g_assert_cmpint(load_jump(life).by_s, ==, 0);
}

LIFE_TEST(status_reports_a_clock_jump)
{
	const struct status_daemon daemon = {.is_running = true};
	pb_auto(settings) settings = NULL;
	pb_local(status) status;
	struct health_options options;
	g_autoptr(GPtrArray) problems = NULL;
	bool is_reported = false;

	life->clock_off_s = 33 * DAY;
	run_on(life, 55, 55);
	settings = settings_new();
	g_free(settings->state_dir);
	settings->state_dir = g_strdup(fixture->directory);
	g_assert_true(status_load(fixture->store, settings, now(life), &status, NULL));
	options = (struct health_options){
	    .settings = settings, .daemon = &daemon, .now = now(life)};
	problems = health_find_problems(&options, &status);
	for (unsigned i = 0; i < problems->len; i++) {
		const struct health_finding *problem = problems->pdata[i];

		if (strcmp(problem->name, "clock-jump") != 0)
			continue;
		is_reported = true;
		g_assert_nonnull(strstr(problem->text, "forward by 33 days"));
		g_assert_nonnull(strstr(problem->text, "no digest is built"));
	}
	g_assert_true(is_reported);
}

UNIT_MAIN_WITH_WARNINGS
