/*
 * test_instances.c - two instances on one store: leases, fencing, jobs.
 */
#include <string.h>

#include "base/error.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/delivery/takeover.h"
#include "store/core/instances.h"
#include "store/core/jobs.h"
#include "store/core/sql.h"
#include "store/mail/outbox.h"

#define NOW  INT64_C(1795165200) /* 2026-11-20 09:00 */
#define TEXT "Message-ID: <1@a.example>\r\n\r\nHello.\r\n"

/* Handles of two machines on one store. */
struct pair {
	struct store_fixture *fixture;
	struct store *one, *other; /* one is the fixture's */
};

static void
pair_clear(struct pair *pair)
{
	store_free(pair->other);
	store_fixture_free(pair->fixture);
}

static int64_t
add_instance(struct store *store, const char *name, int64_t now)
{
	const struct instance instance = {
	    .name = name, .program = "1", .started_at = now};
	int64_t id = 0;

	NO_ERROR(instances_insert(store, &instance, now, &id, &error));
	store_set_holder(store, id);
	return id;
}

/* For takeovers, which use the clock of a database server. @param is_live  or expired
 */
static void
set_lease(struct pair *pair, const struct store *store, bool is_live)
{
	g_autofree char *sql =
	    g_strdup_printf("UPDATE instance SET expires_at = %s WHERE id = %d",
	        is_live ? "9999999999" : "1", (int)store_get_holder(store));

	store_fixture_run(pair->fixture, sql);
}

/* Both have a lease from NOW on. */
static void
pair_init(struct pair *pair)
{
	pair->fixture = store_fixture_new();
	pair->one = pair->fixture->store;
	pair->other = NO_ERROR(store_open(pair->fixture->path, &error));
	store_set_shared(pair->one);
	store_set_shared(pair->other);
	add_instance(pair->one, "one:/var/lib/paperboy", NOW);
	add_instance(pair->other, "other:/var/lib/paperboy", NOW);
}

static void
add_mail(struct pair *pair, unsigned count)
{
	g_autoptr(GBytes) message = g_bytes_new_static(TEXT, strlen(TEXT));

	for (unsigned i = 0; i < count; i++) {
		const struct outbox_mail mail = {.kind = OUTBOX_REPLY,
		    .recipient = "ada@b.example",
		    .address_key = "ada@b.example",
		    .sender = "",
		    .message = message,
		    .now = NOW};
		int64_t id;

		NO_ERROR(outbox_add_mail(pair->one, &mail, &id, &error));
	}
}

struct claiming {
	struct outbox_claim claim;
	unsigned count; /* of claimed messages */
};

static bool
claim_messages(struct store *store, void *data, GError **error)
{
	struct claiming *claiming = data;
	bool is_more;
	g_autoptr(GPtrArray) jobs =
	    outbox_claim(store, &claiming->claim, &is_more, error);

	claiming->count = jobs ? jobs->len : 0;
	return jobs != NULL;
}

/* @return number of messages that it has now */
static unsigned
claim(struct pair *pair, struct store *store, unsigned limit, int64_t now)
{
	struct claiming claiming = {.claim = {.now = now,
	                                .limit = limit,
	                                .is_idle = true,
	                                .cache_key = "key",
	                                .key = pair->fixture->key}};

	NO_ERROR(store_transact_rows(store, claim_messages, &claiming, &error));
	return claiming.count;
}

/* @return whether the last one was fenced */
static bool
save_results(
    struct store *store, enum outbox_status end, const int64_t *ids, unsigned count)
{
	g_autoptr(GPtrArray) results = g_ptr_array_new_with_free_func(g_free);

	for (unsigned i = 0; i < count; i++) {
		struct outbox_result *result = g_new0(struct outbox_result, 1);

		*result = (struct outbox_result){.id = ids[i],
		    .end = end,
		    .next_try_at = NOW + CLOCK_HOUR_S,
		    .code = 250,
		    .stage = -1,
		    .message_hash = -1};
		g_ptr_array_add(results, result);
	}
	NO_ERROR(outbox_save_results(store, results, NOW, &error));
	return ((struct outbox_result *)results->pdata[count - 1])->is_fenced;
}

static unsigned
take_over(struct pair *pair, struct store *store)
{
	unsigned count = 99;

	NO_ERROR(takeover_run(store, pair->fixture->key, true, NOW, &count, &error));
	return count;
}

STORE_TEST(instance_of_a_local_store_ends_the_others)
{
	int64_t first = add_instance(fixture->store, "a", NOW);
	int64_t second = add_instance(fixture->store, "b", NOW + 1);

	g_assert_cmpint(second, >, first);
	assert_rows(fixture,
	    "SELECT name, program, started_at, expires_at FROM instance",
	    "b|1|1795165201|-");
	/* Ids are not reused. */
	store_fixture_run(fixture, "DELETE FROM instance");
	g_assert_cmpint(add_instance(fixture->store, "a", NOW), >, second);
}

#define PAIR_TEST(function) TEST_WITH_LOCAL(function, pair, pair)

PAIR_TEST(lease_is_renewed_until_the_instance_is_ended)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) all = NULL;
	int64_t id;
	bool is_held = false;

	id = store_get_holder(pair->one);
	/* Late, but nobody has taken over. */
	g_assert_true(instances_renew(pair->one, id, NOW + 99, &is_held, &error));
	g_assert_true(is_held);
	all = instances_load_all(pair->one, &error);
	g_assert_cmpuint(all->len, ==, 2);
	g_assert_cmpint(((struct instance *)all->pdata[0])->expires_at, ==,
	    NOW + 99 + INSTANCES_LEASE_S);
	set_lease(pair, pair->one, false);
	set_lease(pair, pair->other, true);
	take_over(pair, pair->other);
	g_assert_true(instances_renew(pair->one, id, NOW + 200, &is_held, &error));
	g_assert_false(is_held);
}

PAIR_TEST(restarted_instance_has_ended_only_its_own_lease)
{
	static const char name[] = "one:/var/lib/paperboy";

	add_mail(pair, 2);
	g_assert_cmpuint(claim(pair, pair->one, 1, NOW), ==, 1);
	g_assert_cmpuint(claim(pair, pair->other, 1, NOW), ==, 1);
	set_lease(pair, pair->one, true);
	set_lease(pair, pair->other, true);
	store_fixture_run(pair->fixture,
	    "INSERT INTO instance (name, program, started_at) VALUES ('x', '1', 1)");
	add_instance(pair->one, name, NOW + 1);
	g_assert_cmpuint(take_over(pair, pair->one), ==, 0);
	NO_ERROR(instances_expire_name(
	    pair->one, name, store_get_holder(pair->one), &error));
	g_assert_cmpuint(take_over(pair, pair->one), ==, 1);
	assert_rows(
	    pair->fixture, "SELECT state FROM outbox ORDER BY id", "UNKNOWN SENDING");
	assert_rows(pair->fixture, "SELECT count(*) FROM instance", "2");
}

PAIR_TEST(messages_of_an_expired_instance_are_taken_over_and_its_results_fenced)
{
	int64_t id = 1;

	add_mail(pair, 1);
	g_assert_cmpuint(claim(pair, pair->one, 5, NOW), ==, 1);
	set_lease(pair, pair->one, true);
	set_lease(pair, pair->other, true);
	g_assert_cmpuint(take_over(pair, pair->other), ==, 0);
	g_assert_true(save_results(pair->other, OUTBOX_SENT, &id, 1));
	set_lease(pair, pair->one, false);
	g_assert_cmpuint(take_over(pair, pair->other), ==, 1);
	assert_rows(pair->fixture, "SELECT state, possible_copies, crashes FROM outbox",
	    "UNKNOWN|1|1");
	g_assert_true(save_results(pair->one, OUTBOX_SENT, &id, 1));
	g_assert_cmpuint(claim(pair, pair->other, 5, NOW + CLOCK_HOUR_S), ==, 1);
	g_assert_true(save_results(pair->one, OUTBOX_SENT, &id, 1));
	assert_rows(pair->fixture, "SELECT state FROM outbox", "SENDING");
	g_assert_false(save_results(pair->other, OUTBOX_SENT, &id, 1));
	assert_rows(
	    pair->fixture, "SELECT state, attempt, code FROM outbox", "SENT|2|250");
}

PAIR_TEST(result_of_each_kind_is_fenced)
{
	static const enum outbox_status ends[] = {OUTBOX_SENT, OUTBOX_DEFERRED,
	    OUTBOX_RETURNED, OUTBOX_UNKNOWN, OUTBOX_HELD, OUTBOX_FAILED,
	    OUTBOX_REJECTED, OUTBOX_CANCELLED};
	int64_t id = 1;

	add_mail(pair, 1);
	g_assert_cmpuint(claim(pair, pair->one, 5, NOW), ==, 1);
	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
		g_assert_true(save_results(pair->other, ends[i], &id, 1));
		assert_rows(pair->fixture, "SELECT state, attempt, code FROM outbox",
		    "SENDING|1|-");
	}
	g_assert_false(save_results(pair->one, OUTBOX_DEFERRED, &id, 1));
	assert_rows(pair->fixture, "SELECT state FROM outbox", "DEFERRED");
}

TEST(fenced_digest_does_not_count_as_delivered)
{
	pb_auto(store_fixture) fixture = store_fixture_new_filled();
	struct pair pair = {.fixture = fixture, .one = fixture->store};
	static const int64_t ids[] = {2, 1};
	g_autofree char *papers =
	    store_fixture_text(fixture, "SELECT papers FROM digest");
	int64_t first = add_instance(pair.one, "one:/var/lib/paperboy", NOW), second;

	g_assert_cmpstr(papers, ==, "1");
	g_assert_cmpuint(claim(&pair, pair.one, 5, NOW), ==, 1);
	add_mail(&pair, 1);
	g_assert_cmpuint(claim(&pair, pair.one, 5, NOW), ==, 1);
	/* As if another instance had taken it over and claimed it. */
	second = add_instance(pair.one, "other:/var/lib/paperboy", NOW);
	store_fixture_run(fixture,
	    "UPDATE outbox SET holder = (SELECT max(id) FROM instance) WHERE id = 1");
	store_set_holder(pair.one, first);
	g_assert_true(save_results(pair.one, OUTBOX_SENT, ids, 2));
	assert_rows(fixture, "SELECT state FROM outbox ORDER BY id", "SENDING SENT");
	assert_rows(fixture, "SELECT count(*) FROM delivered", "0");
	store_set_holder(pair.one, second);
	g_assert_false(save_results(pair.one, OUTBOX_SENT, ids, 2));
	assert_rows(fixture, "SELECT state FROM outbox ORDER BY id", "SENT SENT");
	assert_rows(fixture, "SELECT count(*) FROM delivered", "1");
}

struct overlap {
	struct pair *pair;
	struct claiming claiming;
	unsigned runs, others; /* runs of the work, and what the other has claimed */
};

static bool
claim_while_the_other_claims(struct store *store, void *data, GError **error)
{
	struct overlap *overlap = data;

	if (!claim_messages(store, &overlap->claiming, error))
		return false;
	if (overlap->runs++ == 0)
		overlap->others = claim(overlap->pair, overlap->pair->other, 4, NOW);
	return true;
}

TEST(claims_of_two_instances_at_once_are_disjoint)
{
	pb_local(pair) pair = {0};
	struct overlap overlap = {.pair = &pair};

	/* SQLite has one writer. */
	if (!g_getenv("PAPERBOY_TEST_STORE"))
		return;
	pair_init(&pair);
	add_mail(&pair, 20);
	overlap.claiming.claim = (struct outbox_claim){.now = NOW,
	    .limit = 4,
	    .is_idle = true,
	    .cache_key = "key",
	    .key = pair.fixture->key};
	NO_ERROR(store_transact_rows(
	    pair.one, claim_while_the_other_claims, &overlap, &error));
	g_assert_cmpuint(overlap.runs, ==, 1);
	g_assert_cmpuint(overlap.claiming.count, ==, 4);
	g_assert_cmpuint(overlap.others, ==, 4);
	assert_rows(pair.fixture,
	    "SELECT holder, count(*) FROM outbox WHERE state = 'SENDING'"
	    " GROUP BY holder ORDER BY holder",
	    "1|4 2|4");
	/* The other has left out those of the first, and one that it had looked at. */
	assert_rows(pair.fixture,
	    "SELECT min(id), max(id) FROM outbox WHERE state = 'SENDING' AND holder = "
	    "2",
	    "6|9");
}

static bool
take_job(struct store *store, int64_t now)
{
	bool is_held;

	NO_ERROR(jobs_take(store, JOB_COLLECTOR, now, &is_held, &error));
	return is_held;
}

static bool
save_cursor(struct store *store, void *data, GError **error)
{
	return store_save_cursor(store, data, 1, error);
}

/* @return whether a transaction is committed for the job */
static bool
try_to_write(struct store *store)
{
	g_autoptr(GError) error = NULL;
	bool is_ok;

	jobs_set(store, JOB_COLLECTOR);
	is_ok = store_transact(store, save_cursor, (void *)"written", &error);
	if (!is_ok)
		g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
	g_assert_cmpint(jobs_set(store, JOB_NONE), ==, JOB_COLLECTOR);
	return is_ok;
}

PAIR_TEST(job_belongs_to_one_instance_until_its_lease_ends)
{
	g_autoptr(GError) error = NULL;

	g_assert_false(try_to_write(pair->one));
	g_assert_true(take_job(pair->one, NOW));
	g_assert_true(take_job(pair->one, NOW));
	g_assert_false(take_job(pair->other, NOW + INSTANCES_LEASE_S - 1));
	g_assert_true(try_to_write(pair->one));
	g_assert_false(try_to_write(pair->other));
	g_assert_true(take_job(pair->other, NOW + INSTANCES_LEASE_S));
	g_assert_false(try_to_write(pair->one));
	g_assert_true(try_to_write(pair->other));
	/* An orderly end frees it at once. */
	g_assert_true(
	    instances_delete(pair->other, store_get_holder(pair->other), &error));
	g_assert_true(take_job(pair->one, NOW));
}

STORE_TEST(local_store_does_not_record_jobs)
{
	g_assert_true(take_job(fixture->store, NOW));
	g_assert_true(try_to_write(fixture->store));
	assert_rows(fixture, "SELECT count(*) FROM job", "0");
}

UNIT_MAIN_WITH_WARNINGS
