/*
 * test_worker.c - a thread that works when it is time, when poked, and not after stop.
 */
#include "daemon/worker.h"

#include <glib.h>

#include "lib/lab.h"

/* What the steps of a worker did; the test waits for facts in it. */
struct log {
	GMutex mutex;
	GCond changed;
	int steps;
	int64_t now;  /* of the last step */
	int64_t next; /* what steps answer: so many seconds from now, or -1 */
	bool waits;   /* a step goes on until it is told to stop */
	bool saw_stop;
};

static int64_t
step(void *data, int64_t now, const int *stop)
{
	struct log *log = data;
	int64_t next;

	g_mutex_lock(&log->mutex);
	log->steps++;
	log->now = now;
	next = log->next < 0 ? -1 : now + log->next;
	g_cond_broadcast(&log->changed);
	while (log->waits && !g_atomic_int_get(stop))
		g_cond_wait_until(
		    &log->changed, &log->mutex, g_get_monotonic_time() + 1000);
	log->saw_stop = g_atomic_int_get(stop);
	g_mutex_unlock(&log->mutex);
	return next;
}

static int64_t
read_wall(const struct clock *clock)
{
	return g_get_real_time() / G_USEC_PER_SEC + clock->offset_s;
}

static void
log_init(struct log *log, int64_t next)
{
	*log = (struct log){.next = next};
	g_mutex_init(&log->mutex);
	g_cond_init(&log->changed);
}

/* @return false when there were not so many steps within the time */
static bool
wait_steps(struct log *log, int steps, int64_t wait_ms)
{
	int64_t end = g_get_monotonic_time() + wait_ms * 1000;
	bool is_there = true;

	g_mutex_lock(&log->mutex);
	while (log->steps < steps && is_there)
		is_there = g_cond_wait_until(&log->changed, &log->mutex, end);
	is_there = log->steps >= steps;
	g_mutex_unlock(&log->mutex);
	return is_there;
}

static struct worker *
start(struct log *log, const struct clock *clock)
{
	g_autoptr(GError) error = NULL;
	struct worker *worker = worker_new("made-up", clock, step, log, &error);

	g_assert_no_error(error);
	return worker;
}

static void
it_works_at_once_and_when_poked(void)
{
	const struct clock clock = {.read = read_wall};
	struct log log;
	struct worker *worker;

	log_init(&log, -1);
	worker = start(&log, &clock);
	g_assert_true(wait_steps(&log, 1, 30000));
	for (int i = 2; i < 20; i++) {
		worker_poke(worker);
		g_assert_true(wait_steps(&log, i, 30000));
	}
	worker_free(worker);
}

static void
a_poke_during_a_step_is_not_lost(void)
{
	const struct clock clock = {.read = read_wall};
	struct log log;
	struct worker *worker;

	log_init(&log, -1);
	g_mutex_lock(&log.mutex);
	worker = start(&log, &clock);
	/* The step cannot begin before we let it; the pokes are there by then. */
	worker_poke(worker);
	worker_poke(worker);
	g_mutex_unlock(&log.mutex);
	g_assert_true(wait_steps(&log, 2, 30000));
	worker_free(worker);
}

static void
an_alarm_comes_at_its_time_on_a_made_up_clock_too(void)
{
	static const int64_t offsets[] = {0, 86400, -86400, 400000000};

	for (size_t i = 0; i < G_N_ELEMENTS(offsets); i++) {
		const struct clock clock = {.read = read_wall, .offset_s = offsets[i]};
		int64_t before = read_wall(&clock);
		struct log log;
		struct worker *worker;

		log_init(&log, 1);
		worker = start(&log, &clock);
		g_assert_true(wait_steps(&log, 2, 30000));
		g_assert_cmpint(log.now, >=, before + 1);
		worker_free(worker);
	}
}

static void
an_alarm_in_the_past_comes_at_once(void)
{
	/* The clock says a year later than the alarms that the steps ask for. */
	const struct clock clock = {.read = read_wall, .offset_s = 31536000};
	struct log log;
	struct worker *worker;

	log_init(&log, 0);
	worker = start(&log, &clock);
	g_assert_true(wait_steps(&log, 50, 30000));
	worker_free(worker);
}

static void
without_an_alarm_it_sleeps(void)
{
	const struct clock clock = {.read = read_wall};
	struct log log;
	struct worker *worker;

	log_init(&log, 3600);
	worker = start(&log, &clock);
	g_assert_true(wait_steps(&log, 1, 30000));
	/* What did not happen in a while; a busy loop would be seen. */
	g_assert_false(wait_steps(&log, 2, 100));
	worker_free(worker);
	g_assert_cmpint(log.steps, ==, 1);
}

static void
stop_is_told_to_a_step_under_way_and_ends_the_thread(void)
{
	const struct clock clock = {.read = read_wall};
	struct log log;
	struct worker *worker;

	log_init(&log, 0);
	log.waits = true;
	worker = start(&log, &clock);
	g_assert_true(wait_steps(&log, 1, 30000));
	worker_stop(worker);
	worker_poke(worker);
	worker_free(worker);
	g_assert_true(log.saw_stop);
	g_assert_cmpint(log.steps, ==, 1);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
#define ADD(name) g_test_add_func("/worker/" #name, name)
	ADD(it_works_at_once_and_when_poked);
	ADD(a_poke_during_a_step_is_not_lost);
	ADD(an_alarm_comes_at_its_time_on_a_made_up_clock_too);
	ADD(an_alarm_in_the_past_comes_at_once);
	ADD(without_an_alarm_it_sleeps);
	ADD(stop_is_told_to_a_step_under_way_and_ends_the_thread);
	worker_free(NULL);
	return g_test_run();
}
