/*
 * helper_concurrent.c - transactions of two machines at a time on one message, or on
 * digests, which tests/test_engines.py runs.
 *
 * Needs $PAPERBOY_TEST_STORE, see tests/lib/store_server.h.
 */

#include "base/token.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/digest/digest_build.h"
#include "service/people/subscribe.h"
#include "store/core/instances.h"
#include "store/core/sql.h"
#include "store/mail/outbox.h"
#include "store/subscriber/erasure.h"
#include "store/subscriber/subscribers.h"
#include "store/subscriber/suppression.h"

#define NOW      INT64_C(1795165200) /* 2026-11-20 09:00, of the fixture */
#define PERSON   1
#define MESSAGE  1
#define ADDRESS  "ada@example.org"
#define EXPIRED  0
#define FAR_AWAY INT64_C(9999999999)

/* A store with one digest to send, and handles of two machines. */
struct world {
	struct store_fixture *fixture;
	struct store *one, *other; /* see swap() */
	struct store *second, *watch;
	/* Of the last calls. */
	unsigned claimed, cancelled, taken;
	bool is_fenced;
};

static void
world_clear(struct world *world)
{
	store_free(world->second);
	store_free(world->watch);
	store_fixture_free(world->fixture);
}

static struct store *
open_other(const struct world *world)
{
	return NO_ERROR(store_open(world->fixture->path, &error));
}

/* @param ends_at  of the lease */
static void
add_instance(struct store *store, int64_t ends_at)
{
	const struct instance instance = {
	    .name = "host:/var/lib/paperboy", .program = "1", .started_at = NOW};
	int64_t id = 0;

	NO_ERROR(instances_insert(
	    store, &instance, ends_at - INSTANCES_LEASE_S, &id, &error));
	store_set_holder(store, id);
}

/* @param ends_at  of the lease of one */
static void
world_init(struct world *world, int64_t ends_at)
{
	*world = (struct world){.fixture = store_fixture_new_filled()};
	world->one = world->fixture->store;
	world->other = world->second = open_other(world);
	world->watch = open_other(world);
	add_instance(world->one, ends_at);
	add_instance(world->other, FAR_AWAY);
}

/* ---- actions ---- */

typedef bool action(struct store *store, struct world *world, GError **error);

static bool
claim(struct store *store, struct world *world, GError **error)
{
	const struct outbox_claim request = {.now = NOW,
	    .limit = 5,
	    .is_idle = true,
	    .cache_key = "key",
	    .key = world->fixture->key};
	bool is_more;
	g_autoptr(GPtrArray) jobs = outbox_claim(store, &request, &is_more, error);

	world->claimed = world->cancelled = 0;
	for (unsigned i = 0; jobs && i < jobs->len; i++) {
		const struct outbox_job *job = jobs->pdata[i];

		world->claimed += !job->is_cancelled;
		world->cancelled += job->is_cancelled;
	}
	return jobs != NULL;
}

static bool
save_result(
    struct store *store, struct world *world, enum outbox_status end, GError **error)
{
	struct outbox_result result = {.id = MESSAGE,
	    .end = end,
	    .next_try_at = NOW + CLOCK_HOUR_S,
	    .code = 250,
	    .stage = -1,
	    .message_hash = -1};
	g_autoptr(GPtrArray) results = g_ptr_array_new();
	bool is_ok;

	g_ptr_array_add(results, &result);
	is_ok = outbox_save_results(store, results, NOW, error);
	world->is_fenced = result.is_fenced;
	return is_ok;
}

static bool
save_sent(struct store *store, struct world *world, GError **error)
{
	return save_result(store, world, OUTBOX_SENT, error);
}

static bool
save_deferred(struct store *store, struct world *world, GError **error)
{
	return save_result(store, world, OUTBOX_DEFERRED, error);
}

/* As service/delivery/takeover.c. */
static bool
take_over(struct store *store, struct world *world, GError **error)
{
	g_autoptr(GPtrArray) jobs = NULL;
	unsigned ended;

	if (!instances_delete_expired(store, NOW, &ended, error))
		return false;
	jobs = outbox_take_over(store, world->fixture->key, error);
	world->taken = jobs ? jobs->len : 99;
	return jobs && (!jobs->len || save_result(store, world, OUTBOX_UNKNOWN, error));
}

static bool
unsubscribe(struct store *store, struct world *world, GError **error)
{
	(void)world;
	return subscribe_remove(store, ADDRESS, "test", NOW, error);
}

static bool
suppress(struct store *store, struct world *world, GError **error)
{
	g_autoptr(GBytes) key = token_get_key(world->fixture->key, 0);
	g_autofree char *hash = suppression_hash(key, ADDRESS);

	return suppression_insert(store, hash, "operator", NOW, error);
}

static bool
erase(struct store *store, struct world *world, GError **error)
{
	(void)world;
	return erasure_delete_person(store, PERSON, error);
}

static bool
change_address(struct store *store, struct world *world, GError **error)
{
	static const char sql[] = "UPDATE subscriber SET address = 'new@example.org',"
	                          " address_key = 'new@example.org' WHERE id = 1";

	(void)world;
	return sql_exec(store, sql, error);
}

/* The isolation of an action: serializable, but for those of the mailer. */
static bool
is_by_rows(action *act)
{
	return act == claim || act == save_sent || act == save_deferred ||
	       act == take_over;
}

/* ---- two transactions at once ---- */

struct call {
	struct world *world;
	struct store *store;
	action *act;
	int is_done;
	/* Called in its first run, before the commit. */
	struct call *then;
	bool then_waits;
	GThread *thread;
	unsigned runs;
};

static gpointer run(gpointer data);

static bool
is_waiting(struct world *world)
{
	static const char sql[] =
	    "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE wait_event_type = "
	    "'Lock'"
	    " AND datname = current_database())";
	bool has = false;

	NO_ERROR(sql_has(world->watch, sql, &has, &error));
	return has;
}

/* Until it waits for a lock of ours. */
static void
start(struct call *call)
{
	call->thread = g_thread_new("other", run, call);
	while (!is_waiting(call->world))
		g_assert_false(g_atomic_int_get(&call->is_done));
}

static bool
work(struct store *store, void *data, GError **error)
{
	/* Statements before it may wait in the handle. */
	static const char sql_flush[] = "SELECT 1 = 1";
	struct call *call = data;
	bool has;

	call->runs++;
	if (!call->act(store, call->world, error) ||
	    !sql_has(store, sql_flush, &has, error))
		return false;
	if (call->runs > 1 || !call->then)
		return true;
	if (call->then_waits)
		start(call->then);
	else
		run(call->then);
	return true;
}

static gpointer
run(gpointer data)
{
	struct call *call = data;
	g_autoptr(GError) error = NULL;

	(is_by_rows(call->act) ? store_transact_rows : store_transact)(
	    call->store, work, call, &error);
	g_assert_no_error(error);
	g_atomic_int_set(&call->is_done, 1);
	return NULL;
}

/* Run one action. */
static void
alone(struct world *world, struct store *store, action *act)
{
	struct call call = {.world = world, .store = store, .act = act};

	run(&call);
}

/*
 * One begins with an action, and commits after the other has done one, or waits for a
 * lock to do it.
 *
 * @return how often the other's has run
 */
static unsigned
meanwhile(struct world *world, action *first, action *then, bool then_waits)
{
	struct call other = {.world = world, .store = world->other, .act = then};
	struct call call = {.world = world,
	    .store = world->one,
	    .act = first,
	    .then = &other,
	    .then_waits = then_waits};

	run(&call);
	if (other.thread)
		g_thread_join(other.thread);
	g_assert_cmpuint(call.runs, ==, 1);
	return other.runs;
}

/* Whether the mailer skips the message. */
static bool
is_cancelled(struct world *world)
{
	struct outbox_job job = {.id = MESSAGE}, *const jobs[] = {&job};

	NO_ERROR(
	    outbox_mark_cancelled(world->one, world->fixture->key, jobs, 1, &error));
	return job.is_cancelled;
}

/* Let the other begin. */
static void
swap(struct world *world)
{
	struct store *one = world->one;

	world->one = world->other;
	world->other = one;
}

#define assert_message(world, wanted)                                             \
	assert_rows((world)->fixture,                                             \
	    "SELECT state, coalesce(holder, 0), attempt FROM outbox ORDER BY id", \
	    wanted)

/* ---- tests ---- */

TEST(unsubscription_waits_for_a_claim)
{
	pb_local(world) world;

	world_init(&world, FAR_AWAY);
	g_assert_cmpuint(meanwhile(&world, claim, unsubscribe, true), ==, 2);
	g_assert_cmpuint(world.claimed, ==, 1);
	assert_message(&world, "SENDING|1|1");
	assert_rows(world.fixture, "SELECT state FROM subscriber WHERE id = 1", "gone");
	g_assert_true(is_cancelled(&world));
}

TEST(claim_leaves_out_what_an_unsubscription_cancels)
{
	pb_local(world) world;

	world_init(&world, FAR_AWAY);
	g_assert_cmpuint(meanwhile(&world, unsubscribe, claim, false), ==, 1);
	g_assert_cmpuint(world.claimed, ==, 0);
	assert_message(&world, "CANCELLED|0|0");
	alone(&world, world.other, claim);
	g_assert_cmpuint(world.claimed, ==, 0);
}

TEST(suppression_during_a_claim_is_seen_before_the_message_is_sent)
{
	pb_local(world) world;

	world_init(&world, FAR_AWAY);
	g_assert_cmpuint(meanwhile(&world, claim, suppress, false), ==, 1);
	g_assert_cmpuint(world.claimed, ==, 1);
	g_assert_true(is_cancelled(&world));
}

TEST(claim_has_the_address_before_a_change)
{
	pb_local(world) world;

	world_init(&world, FAR_AWAY);
	g_assert_cmpuint(meanwhile(&world, claim, change_address, false), ==, 1);
	g_assert_cmpuint(world.claimed, ==, 1);
	g_assert_false(is_cancelled(&world));
	assert_rows(world.fixture, "SELECT address FROM subscriber WHERE id = 1",
	    "new@example.org");
}

TEST(takeover_leaves_an_instance_that_claims)
{
	pb_local(world) world;

	world_init(&world, EXPIRED);
	g_assert_cmpuint(meanwhile(&world, claim, take_over, false), ==, 1);
	g_assert_cmpuint(world.claimed, ==, 1);
	g_assert_cmpuint(world.taken, ==, 0);
	assert_message(&world, "SENDING|1|1");
	assert_rows(world.fixture, "SELECT count(*) FROM instance", "2");
	alone(&world, world.other, take_over);
	g_assert_cmpuint(world.taken, ==, 1);
	assert_message(&world, "UNKNOWN|2|1");
	assert_rows(world.fixture, "SELECT id FROM instance", "2");
}

TEST(claim_waits_for_a_takeover_and_finds_nothing)
{
	pb_local(world) world;

	world_init(&world, EXPIRED);
	swap(&world);
	g_assert_cmpuint(meanwhile(&world, take_over, claim, true), ==, 1);
	g_assert_cmpuint(world.claimed, ==, 0);
	assert_message(&world, "NEW|0|0");
	alone(&world, world.one, claim);
	g_assert_cmpuint(world.claimed, ==, 1);
}

TEST(result_that_waits_for_a_takeover_is_fenced)
{
	static action *const results[] = {save_sent, save_deferred};

	for (size_t i = 0; i < G_N_ELEMENTS(results); i++) {
		pb_local(world) world;

		world_init(&world, EXPIRED);
		alone(&world, world.one, claim);
		swap(&world);
		g_assert_cmpuint(meanwhile(&world, take_over, results[i], true), ==, 1);
		g_assert_cmpuint(world.taken, ==, 1);
		g_assert_true(world.is_fenced);
		assert_message(&world, "UNKNOWN|2|1");
		assert_rows(world.fixture, "SELECT count(*) FROM delivered", "0");
	}
}

TEST(takeover_waits_for_a_result)
{
	pb_local(world) world;

	world_init(&world, EXPIRED);
	alone(&world, world.one, claim);
	g_assert_cmpuint(meanwhile(&world, save_sent, take_over, true), ==, 1);
	g_assert_cmpuint(world.taken, ==, 0);
	g_assert_false(world.is_fenced);
	assert_message(&world, "SENT|1|1");
	assert_rows(world.fixture, "SELECT count(*) FROM delivered", "1");
}

TEST(of_two_takeovers_one_has_the_message)
{
	pb_local(world) world;

	world_init(&world, EXPIRED);
	alone(&world, world.one, claim);
	add_instance(world.one, FAR_AWAY);
	/* The second leaves the instance, and so its message. */
	g_assert_cmpuint(meanwhile(&world, take_over, take_over, false), ==, 1);
	g_assert_cmpuint(world.taken, ==, 0);
	assert_message(&world, "UNKNOWN|3|1");
	/* Without the instance it waits for the message. */
	store_fixture_run(world.fixture,
	    "UPDATE outbox SET state = 'SENDING', holder = 1,"
	    " next_try_at = NULL");
	g_assert_cmpuint(meanwhile(&world, take_over, take_over, true), ==, 1);
	g_assert_cmpuint(world.taken, ==, 0);
	assert_message(&world, "UNKNOWN|3|1");
}

TEST(erasure_waits_for_a_result)
{
	pb_local(world) world;

	world_init(&world, FAR_AWAY);
	alone(&world, world.one, claim);
	g_assert_cmpuint(meanwhile(&world, save_sent, erase, true), ==, 2);
	g_assert_false(world.is_fenced);
	assert_message(&world, "");
	assert_rows(world.fixture,
	    "SELECT count(*) FROM delivered UNION ALL SELECT count(*) FROM digest",
	    "0 0");
}

TEST(result_that_waits_for_an_erasure_is_dropped)
{
	static action *const results[] = {save_sent, save_deferred};

	for (size_t i = 0; i < G_N_ELEMENTS(results); i++) {
		pb_local(world) world;

		world_init(&world, FAR_AWAY);
		alone(&world, world.other, claim);
		g_assert_cmpuint(meanwhile(&world, erase, results[i], true), ==, 1);
		g_assert_true(world.is_fenced);
		assert_message(&world, "");
		assert_rows(world.fixture,
		    "SELECT count(*) FROM delivered"
		    " UNION ALL SELECT count(*) FROM digest",
		    "0 0");
	}
}

TEST(erasure_waits_for_a_claim)
{
	pb_local(world) world;

	world_init(&world, FAR_AWAY);
	g_assert_cmpuint(meanwhile(&world, claim, erase, true), ==, 2);
	g_assert_cmpuint(world.claimed, ==, 1);
	assert_message(&world, "");
	g_assert_true(is_cancelled(&world));
}

/* ---- digests ---- */

#define PEOPLE 6

/* Build digests on the other machine while this transaction has locked two people. */
static bool
build_meanwhile(struct store *store, void *data, GError **error)
{
	struct world *world = data;
	g_autoptr(GPtrArray) locked = subscribers_load_due(store, NOW, NOW, 2, error);
	struct digest_build_report report = {0};

	g_assert_cmpuint(locked->len, ==, 2);
	g_assert_true(digest_build_run(
	    world->other, world->fixture->key, NULL, NOW, &report, error));
	g_assert_cmpuint(report.due, ==, PEOPLE - 2);
	return true;
}

TEST(digests_of_locked_people_are_left_to_others)
{
	static const char sql[] =
	    "INSERT INTO subscriber (id, address, address_key, state, frequency,"
	    " weekdays, minute, zone, max_full, created_at, consent_at, consent_text,"
	    " is_first_due, next_due_at) VALUES (?1, 'p' || CAST(?2 AS TEXT)"
	    " || '@example.org', CAST(?2 AS TEXT), 'active', 'daily', 127, 450, 'UTC',"
	    " 10, 0, 0, 'asked', 0, ?3)";
	__attribute__((cleanup(world_clear))) struct world world;
	struct digest_build_report report = {0};
	g_autoptr(GError) error = NULL;

	world_init(&world, FAR_AWAY);
	sql_exec(world.one, "UPDATE subscriber SET next_due_at = NULL", &error);
	for (int i = 0; i < PEOPLE; i++)
		sql_exec(world.one, sql, &error, SQL_INT(100 + i), SQL_INT(100 + i),
		    SQL_INT(NOW - CLOCK_HOUR_S));
	g_assert_no_error(error);
	store_transact_rows(world.one, build_meanwhile, &world, &error);
	g_assert_no_error(error);
	g_assert_true(digest_build_run(
	    world.one, world.fixture->key, NULL, NOW, &report, &error));
	g_assert_cmpuint(report.due, ==, 2);
}

/* Build digests on the other machine while this transaction changes a paper. */
static bool
build_while_a_paper_changes(struct store *store, void *data, GError **error)
{
	static const char sql[] = "UPDATE paper SET stars = 12345 WHERE seq ="
	                          " (SELECT min(seq) FROM paper)";
	static const char sql_flush[] = "SELECT value > 0 FROM cursor"
	                                " WHERE name = 'paper changes'";
	struct world *world = data;
	struct digest_build_report report = {0};
	bool is_changed = false;

	g_assert_true(sql_exec(store, sql, error));
	g_assert_true(sql_has(store, sql_flush, &is_changed, error));
	g_assert_true(is_changed);
	return digest_build_run(
	    world->other, world->fixture->key, NULL, NOW, &report, error);
}

TEST(digests_do_not_wait_for_papers)
{
	pb_local(world) world;

	world_init(&world, FAR_AWAY);
	NO_ERROR(
	    store_transact(world.one, build_while_a_paper_changes, &world, &error));
}

UNIT_MAIN
