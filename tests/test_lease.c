/*
 * test_lease.c - mailers of two instances on one store: lost leases, takeovers.
 */

#include "daemon/lease_worker.h"
#include "lib/mailer_fixture.h"
#include "lib/unit.h"
#include "service/delivery/takeover.h"
#include "service/state/lease.h"
#include "store/core/instances.h"

#define PEOPLE 40

/* A mailer with a lease, and the handle of another machine. */
struct machines {
	struct mailer_fixture *mailing;
	struct lease *lease, *other_lease;
	struct store *other;
};

static struct store *
open_shared(const char *path)
{
	struct store *store = NO_ERROR(store_open(path, &error));

	store_set_shared(store);
	return store;
}

static struct lease *
begin_lease(struct store *store, const char *state_dir)
{
	g_autoptr(GError) error = NULL;
	struct lease *lease =
	    lease_new(store, state_dir, store_fixture_time(NOW), &error);

	g_assert_no_error(error);
	return lease;
}

static struct mailer *
open_mailer(struct machines *machines, struct store *store, struct lease *lease)
{
	struct mailer_options options = mailer_fixture_options(machines->mailing);
	struct mailer *mailer;

	options.store = store;
	options.lease = lease;
	mailer = NO_ERROR(mailer_new(&options, &error));
	return mailer;
}

/* The hook is called while the fifth message is sent. */
static void
machines_init(struct machines *machines, unsigned connections, void (*hook)(void *data))
{
	struct mailer_fixture *mailing = mailer_fixture_new(PEOPLE, connections);
	struct store *store = mailing->fixture->store;

	*machines = (struct machines){.mailing = mailing};
	store_set_shared(store);
	machines->other = open_shared(mailing->fixture->path);
	machines->lease = begin_lease(store, "/one");
	machines->other_lease = begin_lease(machines->other, "/other");
	mailing->script.hook = hook;
	mailing->script.hook_data = machines;
	mailing->script.hook_at = 5;
	mailer_free(mailing->mailer);
	mailing->mailer = open_mailer(machines, store, machines->lease);
}

static void
machines_clear(struct machines *machines)
{
	mailer_fixture_free(machines->mailing);
	store_free(machines->other);
	lease_free(machines->lease);
	lease_free(machines->other_lease);
}

static void
renew(struct machines *machines, int64_t now)
{
	NO_ERROR(lease_renew(
	    machines->lease, machines->mailing->fixture->store, now, &error));
}

static void
suspend(void *data)
{
	struct machines *machines = data;

	lease_suspend(machines->lease);
}

/* As for a process that was stopped past its lease, and continues. */
TEST(messages_are_not_started_after_the_end_of_the_lease)
{
	pb_local(machines) machines = {0};
	struct mailer_fixture *mailing;
	int64_t now = store_fixture_time(NOW);

	machines_init(&machines, 1, suspend);
	mailing = machines.mailing;
	mailer_fixture_run_at(mailing, now, NULL);
	g_assert_cmpuint(mailing->script.tried, ==, 5);
	assert_rows(mailing->fixture,
	    "SELECT state, attempt, count(*) FROM outbox GROUP BY 1, 2 ORDER BY 1 DESC",
	    "SENT|1|5 NEW|0|35");
	g_assert_cmpint(mailing->next, ==, now + INSTANCES_RENEW_S);
	mailer_fixture_run_at(mailing, now + INSTANCES_RENEW_S, NULL);
	g_assert_cmpuint(mailing->script.tried, ==, 5);
	renew(&machines, now + INSTANCES_RENEW_S);
	mailer_fixture_run_at(mailing, now + INSTANCES_RENEW_S, NULL);
	g_assert_cmpuint(mailing->script.tried, ==, PEOPLE);
	assert_rows(mailing->fixture,
	    "SELECT state, attempt, count(*) FROM outbox GROUP BY 1, 2", "SENT|1|40");
}

static void
take_over(void *data)
{
	struct machines *machines = data;
	unsigned count = 0;
	bool is_held = false;

	/* Ended: a server has its own time. */
	NO_ERROR(instances_renew(machines->other, lease_get_holder(machines->lease),
	    -INSTANCES_LEASE_S, &is_held, &error));
	g_assert_true(is_held);
	NO_ERROR(takeover_run(machines->other, machines->mailing->key, true,
	    store_fixture_time(NOW) + INSTANCES_LEASE_S, &count, &error));
	g_assert_cmpuint(count, >=, 1);
}

/* @return number of messages that arrived more than once */
static unsigned
count_copies(struct machines *machines)
{
	g_auto(GStrv) lines =
	    g_strsplit(machines->mailing->script.envelopes->str, "\n", -1);
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	unsigned copies = 0;

	for (char **line = lines; **line; line++)
		copies += !g_hash_table_add(seen, *line);
	g_assert_cmpuint(g_hash_table_size(seen), ==, PEOPLE);
	return copies;
}

TEST(messages_taken_over_are_sent_again_by_the_other)
{
	pb_local(machines) machines = {0};
	struct mailer_fixture *mailing;
	struct mailer_report report = {0};
	int64_t now = store_fixture_time(NOW), first, next;
	unsigned in_doubt;

	machines_init(&machines, 3, take_over);
	mailing = machines.mailing;
	first = lease_get_holder(machines.lease);
	/* The relay is known: many messages are in flight. */
	mailer_fixture_run_at(mailing, now, NULL);
	in_doubt = (unsigned)store_fixture_number(mailing->fixture,
	    "SELECT count(*) FROM outbox WHERE state = 'UNKNOWN' AND crashes = 1");
	g_assert_cmpuint(in_doubt, >, 0);
	g_assert_false(lease_is_held(machines.lease, first));
	{
		pb_auto(mailer) other =
		    open_mailer(&machines, machines.other, machines.other_lease);

		store_fixture_set_now(mailing->fixture, now + 2 * CLOCK_HOUR_S);
		NO_ERROR(mailer_run(other, NULL, &report, &next, &error));
	}
	assert_rows(mailing->fixture, "SELECT state, count(*) FROM outbox GROUP BY 1",
	    "SENT|40");
	/* The transport compares their bytes. */
	g_assert_cmpuint(count_copies(&machines), <=, in_doubt);
	assert_rows(mailing->fixture, "SELECT count(*) FROM delivered", "40");
	/* As a new instance. */
	renew(&machines, now + 2 * CLOCK_HOUR_S);
	g_assert_cmpint(lease_get_holder(machines.lease), >, first);
	g_assert_true(lease_is_held(machines.lease, lease_get_holder(machines.lease)));
	mailer_fixture_run_at(mailing, now + 2 * CLOCK_HOUR_S, NULL);
	g_assert_cmpint(mailing->next, ==, -1);
}

STORE_TEST(lease_on_a_local_store_has_no_end)
{
	pb_auto(lease) lease = begin_lease(fixture->store, fixture->directory);
	g_autoptr(GError) error = NULL;
	int64_t holder = lease_get_holder(lease);
	bool is_held = false;

	g_assert_cmpint(store_get_holder(fixture->store), ==, holder);
	g_assert_true(lease_is_held(lease, holder));
	g_assert_false(lease_is_held(lease, holder + 1));
	g_assert_true(lease_take_job(
	    lease, fixture->store, JOB_MATCHING, INT64_MAX, &is_held, &error));
	g_assert_true(is_held);
	g_assert_true(lease_end(lease, fixture->store, &error));
	assert_rows(fixture, "SELECT count(*), max(expires_at) FROM instance", "1|-");
}

TEST(ended_lease_frees_its_jobs)
{
	pb_local(machines) machines = {0};
	g_autoptr(GError) error = NULL;
	struct store *one;
	int64_t now = store_fixture_time(NOW);
	bool is_held = false;

	machines_init(&machines, 1, NULL);
	one = machines.mailing->fixture->store;
	lease_take_job(machines.lease, one, JOB_MATCHING, now, &is_held, &error);
	g_assert_true(is_held);
	lease_take_job(
	    machines.other_lease, machines.other, JOB_MATCHING, now, &is_held, &error);
	g_assert_false(is_held);
	g_assert_true(lease_end(machines.lease, one, &error));
	lease_take_job(
	    machines.other_lease, machines.other, JOB_MATCHING, now, &is_held, &error);
	g_assert_true(is_held);
	lease_suspend(machines.other_lease);
	lease_take_job(
	    machines.other_lease, machines.other, JOB_MATCHING, now, &is_held, &error);
	g_assert_false(is_held);
	g_assert_no_error(error);
}

struct signal {
	GMutex lock;
	GCond cond;
	unsigned count;
};

static void
count_change(void *data)
{
	struct signal *signal = data;

	g_mutex_lock(&signal->lock);
	signal->count++;
	g_cond_signal(&signal->cond);
	g_mutex_unlock(&signal->lock);
}

TEST(worker_renews_and_takes_over)
{
	pb_local(machines) machines = {0};
	struct signal signal = {0};
	struct store_fixture *fixture;
	struct lease_worker *worker;
	int64_t now = store_fixture_time(NOW) + INSTANCES_LEASE_S;

	machines_init(&machines, 1, NULL);
	fixture = machines.mailing->fixture;
	store_fixture_run(fixture,
	    "UPDATE outbox SET state = 'SENDING', attempt = 1, claimed_at = 1,"
	    " next_try_at = NULL, holder = 1 WHERE id = 1");
	store_fixture_run(fixture, "UPDATE instance SET expires_at = 1");
	store_fixture_set_now(fixture, now);
	lease_suspend(machines.other_lease);
	worker = NO_ERROR(lease_worker_new(
	    &(struct lease_worker_options){
	        .lease = machines.other_lease,
	        .store = open_shared(fixture->path),
	        .key = machines.mailing->key,
	        .clock = &fixture->clock,
	        .calls = {.changed = count_change, .data = &signal},
	    },
	    &error));
	g_mutex_lock(&signal.lock);
	while (!signal.count)
		g_cond_wait(&signal.cond, &signal.lock);
	g_mutex_unlock(&signal.lock);
	lease_worker_free(worker);
	assert_rows(fixture, "SELECT id, expires_at > started_at FROM instance", "2|1");
	assert_rows(
	    fixture, "SELECT state, holder FROM outbox WHERE id = 1", "UNKNOWN|2");
	g_assert_true(lease_is_held(machines.other_lease, 2));
}

UNIT_MAIN_WITH_WARNINGS
