/*
 * test_clock_watch.c - a clock that jumps deletes nothing and repeats no digest.
 */
#include "service/clock_watch.h"

#include <glib.h>
#include <string.h>

#include "base/clock.h"
#include "lib/lab.h"
#include "service/edition.h"
#include "service/match.h"
#include "service/status.h"
#include "service/upkeep.h"

#define DAY    ((int64_t)CLOCK_DAY_S)
#define HOUR   ((int64_t)CLOCK_HOUR_S)
#define NOWISH "2026-11-20T09:00:00Z"
#define YEAR   (365 * DAY)

/* A daemon in simulated time: what the clock shows, and how long it has really run. */
struct life {
	struct lab *lab;
	struct clock_watch watch;
	int64_t clock_off_s; /* how wrong the clock is */
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

	g_assert_true(clock_watch_load(life->lab->store, &jump, NULL));
	return jump;
}

/* One step of the daemon. */
static void
step(struct life *life)
{
	struct store *store = life->lab->store;
	struct edition_report made = {0};
	struct match_report matched = {0};
	g_autoptr(GError) error = NULL;
	int64_t at, due;

	at = now(life);
	clock_watch_look(&life->watch, store, at, 1000 + life->ran_s, &error);
	g_assert_no_error(error);
	if (load_jump(life).is_held)
		return;
	match_run(store, at, &matched, &error);
	g_assert_no_error(error);
	edition_run(store, life->lab->key, NULL, at, &made, &error);
	g_assert_no_error(error);
	life->digests += made.digests;
	g_assert_true(upkeep_load_due(store, at, &due, NULL));
	if (due <= at)
		upkeep_run(store, at, &error);
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
	    clock_watch_confirm(life->lab->store, now(life), served_at, NULL));
}

/* A subscriber who has had today's digest, one who left, and a ticket that is over. */
static void
begin(struct life *life, struct lab *lab)
{
	*life = (struct life){.lab = lab, .began_at = lab_time(NOWISH)};
	lab_subscribe(
	    lab, "ada@example.org", "UTC", "diffusion", lab_time(NOWISH) - DAY);
	lab_subscribe(lab, "bob@example.org", "UTC", "mamba", lab_time(NOWISH) - DAY);
	lab_list(lab, "2026-11-20", "2611.00020", "Diffusion", 1);
	lab_run(lab, "UPDATE subscriber SET state = 'gone', next_due_at = NULL"
	             " WHERE id = 2; DELETE FROM subscription WHERE subscriber_id = 2");
	lab_run(lab,
	    "INSERT INTO ticket (hash, purpose, address, address_key, recipient,"
	    " action, made_at, expires_at) VALUES (printf('%064d', 1), 'undo',"
	    " 'bob@example.org', 'bob@example.org', 'bob@example.org', 'restore',"
	    " unixepoch('2026-11-20'), unixepoch('2026-11-27'))");
	step(life);
	g_assert_cmpuint(life->digests, ==, 1);
	lab_run(lab,
	    "UPDATE outbox SET state = 'SENDING', attempt = 1, next_try_at = NULL,"
	    " claimed_at = 1; UPDATE outbox SET state = 'SENT', ended_at ="
	    " unixepoch('2026-11-20 09:00'); UPDATE digest SET state = 'sent'");
	lab_run(lab, "INSERT INTO delivered SELECT subscriber_id, paper_seq, 0, 1,"
	             " unixepoch('2026-11-20 09:00') FROM digest, digest_item");
	lab_list(lab, "2026-11-20", "2611.00021", "Diffusion again", 1);
	/* Kept because of its age alone. */
	lab_run(lab, "INSERT INTO filter (canonical, hash, created_at) VALUES ('kept',"
	             " printf('%064d', 7), unixepoch('2026-11-20'))");
}

static void
assert_all_is_there(const struct life *life)
{
	lab_assert_text(life->lab,
	    "SELECT (SELECT count(*) FROM ticket),"
	    " (SELECT count(*) FROM match_found) > 0,"
	    " (SELECT count(*) FROM filter WHERE canonical = 'kept'),"
	    " (SELECT count(*) FROM outbox WHERE state = 'SENT'),"
	    " (SELECT count(*) FROM delivered)",
	    "1|1|1|1|1");
}

static void
thirty_three_days_ahead_for_a_minute_delete_nothing(void)
{
	pb_auto(lab) lab = lab_new();
	struct life life;

	begin(&life, lab);
	run_on(&life, 5 * 60, 60);
	life.clock_off_s = 33 * DAY;
	run_on(&life, 55, 5);
	g_assert_cmpint(load_jump(&life).by_s, ==, 33 * DAY);
	g_assert_true(load_jump(&life).is_held);
	assert_all_is_there(&life);
	life.clock_off_s = 0;
	run_on(&life, 60, 5);
	assert_all_is_there(&life);
	g_assert_cmpint(load_jump(&life).by_s, ==, 0);
	g_assert_cmpuint(life.digests, ==, 1);
	/* The next day has its digest as ever. */
	run_on(&life, DAY, HOUR / 2);
	g_assert_cmpuint(life.digests, ==, 2);
}

static void
three_years_back_and_forth_repeat_no_digest(void)
{
	pb_auto(lab) lab = lab_new();
	struct life life;

	begin(&life, lab);
	life.clock_off_s = -3 * YEAR;
	run_on(&life, 2 * HOUR, 600);
	g_assert_cmpint(load_jump(&life).by_s, ==, -3 * YEAR);
	assert_all_is_there(&life);
	life.clock_off_s = 0;
	run_on(&life, 2 * HOUR, 600);
	g_assert_cmpuint(life.digests, ==, 1);
	lab_assert_text(lab, "SELECT count(*) FROM digest", "1");
	g_assert_cmpint(load_jump(&life).by_s, ==, 0);
	assert_all_is_there(&life);
}

/* The same, with a new process at each jump: nothing but the store connects them. */
static void
a_restart_does_not_hide_a_jump(void)
{
	static const int64_t offs[] = {33 * DAY, -3 * YEAR};

	for (size_t i = 0; i < G_N_ELEMENTS(offs); i++) {
		pb_auto(lab) lab = lab_new();
		struct life life;

		begin(&life, lab);
		lab_run(lab, "INSERT INTO delivered SELECT 1, seq, 0, 1, 1 FROM paper"
		             " WHERE id LIKE '%21'");
		lab_run(lab, "DELETE FROM delivered WHERE at = 1 AND paper_seq = 1");
		life.clock_off_s = offs[i];
		life.watch = (struct clock_watch){0};
		run_on(&life, 60, 60);
		g_assert_cmpint(load_jump(&life).by_s, !=, 0);
		lab_assert_text(lab, "SELECT count(*) FROM ticket", "1");
		life.clock_off_s = 0;
		life.watch = (struct clock_watch){0};
		run_on(&life, 60, 60);
		g_assert_cmpint(load_jump(&life).by_s, ==, 0);
		g_assert_cmpuint(life.digests, ==, 1);
		lab_assert_text(lab, "SELECT count(*) FROM ticket", "1");
	}
}

static void
a_week_asleep_is_confirmed_by_the_next_answer_of_a_source(void)
{
	pb_auto(lab) lab = lab_new();
	struct life life;

	begin(&life, lab);
	/* The running time goes on in its sleep: no jump at all. */
	life.ran_s += 7 * DAY;
	step(&life);
	g_assert_cmpint(load_jump(&life).by_s, ==, 0);
	g_assert_cmpuint(life.digests, ==, 2);
	/* Switched off, it does not. */
	life.ran_s += 20 * DAY;
	life.watch = (struct clock_watch){0};
	clock_watch_look(&life.watch, lab->store, now(&life), 5, NULL);
	g_assert_cmpint(load_jump(&life).by_s, ==, 20 * DAY);
	g_assert_false(load_jump(&life).is_held);
	g_assert_true(upkeep_run(lab->store, now(&life), NULL));
	lab_assert_text(lab, "SELECT count(*) FROM ticket", "1");
	confirm(&life);
	g_assert_cmpint(load_jump(&life).by_s, ==, 0);
	g_assert_true(upkeep_run(lab->store, now(&life), NULL));
	lab_assert_text(lab, "SELECT count(*) FROM ticket", "0");
}

static void
a_jump_that_nobody_confirms_is_trusted_after_a_day_of_running(void)
{
	pb_auto(lab) lab = lab_new();
	struct life life;

	begin(&life, lab);
	life.clock_off_s = 33 * DAY;
	run_on(&life, DAY - HOUR, HOUR / 2);
	g_assert_cmpint(load_jump(&life).by_s, !=, 0);
	lab_assert_text(lab, "SELECT count(*) FROM ticket", "1");
	run_on(&life, 2 * HOUR, HOUR / 2);
	g_assert_cmpint(load_jump(&life).by_s, ==, 0);
	lab_assert_text(lab, "SELECT count(*) FROM ticket", "0");
}

static void
a_source_that_contradicts_holds_digests_and_one_that_confirms_frees_them(void)
{
	pb_auto(lab) lab = lab_new();
	struct life life;

	begin(&life, lab);
	life.watch = (struct clock_watch){0};
	life.clock_off_s = 33 * DAY;
	life.ran_s += 60;
	clock_watch_look(&life.watch, lab->store, now(&life), 5, NULL);
	g_assert_false(load_jump(&life).is_held);
	confirm(&life);
	g_assert_true(load_jump(&life).is_held);
	step(&life);
	g_assert_cmpuint(life.digests, ==, 1);
	life.began_at += life.clock_off_s;
	life.clock_off_s = 0;
	confirm(&life);
	g_assert_cmpint(load_jump(&life).by_s, ==, 0);
}

static void
status_tells_of_a_jump(void)
{
	pb_auto(lab) lab = lab_new();
	struct life life;
	const struct status_daemon daemon = {.is_running = true};
	pb_auto(settings) settings = NULL;
	struct status status;
	bool is_told = false;

	begin(&life, lab);
	life.clock_off_s = 33 * DAY;
	run_on(&life, 55, 55);
	settings = settings_new();
	g_free(settings->state_dir);
	settings->state_dir = g_strdup(lab->folder);
	g_assert_true(
	    status_load(lab->store, settings, &daemon, now(&life), &status, NULL));
	for (unsigned i = 0; i < status.problems->len; i++) {
		const struct status_problem *problem = status.problems->pdata[i];

		if (problem->kind != STATUS_PROBLEM_CLOCK)
			continue;
		is_told = true;
		g_assert_nonnull(strstr(problem->text, "forward by 33 days"));
		g_assert_nonnull(strstr(problem->text, "no digest is built"));
	}
	g_assert_true(is_told);
	status_clear(&status);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_FATAL_MASK);
#define ADD(name) g_test_add_func("/clock_watch/" #name, name)
	ADD(thirty_three_days_ahead_for_a_minute_delete_nothing);
	ADD(three_years_back_and_forth_repeat_no_digest);
	ADD(a_restart_does_not_hide_a_jump);
	ADD(a_week_asleep_is_confirmed_by_the_next_answer_of_a_source);
	ADD(a_jump_that_nobody_confirms_is_trusted_after_a_day_of_running);
	ADD(a_source_that_contradicts_holds_digests_and_one_that_confirms_frees_them);
	ADD(status_tells_of_a_jump);
	return g_test_run();
}
