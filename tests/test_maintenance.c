/*
 * test_maintenance.c - expired rows are deleted, needed ones are not.
 */
#include "service/jobs/maintenance.h"

#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "model/digest.h"
#include "service/people/subscribe.h"

#define NOW "2026-11-20T09:00:00Z"

/* Rows just below and above the retention time. */
TEST(rows_are_deleted_after_their_days)
{
	static const struct {
		const char *table;
		const char *insert; /* %lld: the time that counts */
		int days;
	} rows[] = {
	    {"match", "INSERT INTO match VALUES (1, %" G_GINT64_FORMAT ", '1')",
	        MAINTENANCE_MATCH_DAYS},
	    {"match_pending",
	        "INSERT INTO match_pending VALUES (1, 1, %" G_GINT64_FORMAT ", 9)",
	        MAINTENANCE_MATCH_DAYS},
	    {"delivered",
	        "INSERT INTO delivered_paper VALUES (1, 1, 0, 1, %" G_GINT64_FORMAT ")",
	        DIGEST_DELIVERED_DAYS},
	    {"digest_rejected",
	        "INSERT INTO digest_rejected VALUES (1, 1, 2, %" G_GINT64_FORMAT ")",
	        MAINTENANCE_REJECTED_DAYS},
	    {"source_fetch",
	        "INSERT INTO source_fetch (source, day, fetched_at, status)"
	        " VALUES ('x', '2026-01-01', %" G_GINT64_FORMAT ", 'ok')",
	        MAINTENANCE_FETCH_DAYS},
	};
	int64_t now = store_fixture_time(NOW);

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		for (int offset = -1; offset <= 1; offset++) {
			pb_auto(store_fixture) fixture = store_fixture_new();
			g_autofree char *count =
			    g_strdup_printf("SELECT count(*) FROM %s", rows[i].table);
			int64_t at = now - rows[i].days * (int64_t)CLOCK_DAY_S + offset;
			g_autofree char *sql = NULL;
			g_autoptr(GError) error = NULL;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			sql = g_strdup_printf(rows[i].insert, at);
#pragma GCC diagnostic pop
			store_fixture_list(
			    fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
			store_fixture_run(fixture, "DELETE FROM source_fetch");
			store_fixture_subscribe(
			    fixture, "ada@example.org", "UTC", "diffusion", now);
			store_fixture_run(fixture, sql);
			g_assert_true(maintenance_run(fixture->store, now, &error));
			g_assert_cmpint(
			    store_fixture_number(fixture, count), ==, offset >= 0);
			store_fixture_assert_idle(fixture);
		}
	}
}

STORE_TEST(message_is_deleted_with_its_digest_fourteen_days_after_its_end)
{
	int64_t now = store_fixture_time(NOW);
	g_autoptr(GError) error = NULL;
	g_autofree char *end = g_strdup_printf(
	    "UPDATE digest SET state = 'sent' WHERE id = 1;"
	    "UPDATE outbox SET state = 'SENDING', next_try_at = NULL, attempt = 1,"
	    " claimed_at = 1 WHERE id = 1;"
	    "UPDATE outbox SET state = 'SENT', next_try_at = NULL,"
	    " ended_at = %" G_GINT64_FORMAT " WHERE id = 1",
	    now);

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
	store_fixture_subscribe(fixture, "ada@example.org", "UTC", "diffusion", now);
	store_fixture_subscribe(fixture, "bob@example.org", "UTC", "diffusion", now);
	store_fixture_build_digests(fixture, now);
	store_fixture_run(fixture, end);
	now += MAINTENANCE_OUTBOX_DAYS * (int64_t)CLOCK_DAY_S;
	g_assert_true(maintenance_run(fixture->store, now, &error));
	assert_rows(fixture, "SELECT count(*) FROM digest", "2");
	g_assert_true(maintenance_run(fixture->store, now + 1, &error));
	/* The other one was never sent: it is not deleted. */
	assert_rows(fixture, "SELECT id, state FROM outbox", "2|NEW");
	/* A reply to it authenticates the subscriber for thirty days. */
	assert_rows(
	    fixture, "SELECT id, state FROM digest ORDER BY id", "1|sent 2|live");
	now = store_fixture_time(NOW) + MAINTENANCE_DIGEST_DAYS * (int64_t)CLOCK_DAY_S;
	g_assert_true(maintenance_run(fixture->store, now, &error));
	assert_rows(
	    fixture, "SELECT id, state FROM digest ORDER BY id", "1|sent 2|live");
	g_assert_true(maintenance_run(fixture->store, now + 1, &error));
	assert_rows(fixture, "SELECT id, state FROM digest ORDER BY id", "2|live");
	assert_rows(fixture, "SELECT DISTINCT digest_id FROM digest_item", "2");
	/* A digest's number is never reused: it is part of the Message-ID. */
	store_fixture_run(fixture,
	    "INSERT INTO digest (subscriber_id, slot, date, created_at, state,"
	    " message_token, papers, newest_day, contents) VALUES (1, 's', 'd', 0,"
	    " 'live', 'abcdefghijklmnopq', 0, 'd', x'01')");
	assert_rows(fixture, "SELECT max(id) FROM digest", "3");
}

STORE_TEST(unused_filters_are_deleted_with_their_matches)
{
	int64_t now = store_fixture_time(NOW);
	g_autoptr(GError) error = NULL;

	store_fixture_list(
	    fixture, "2026-11-20", "2611.00001", "Diffusion of mamba", 3);
	store_fixture_subscribe(fixture, "ada@example.org", "UTC", "diffusion", now);
	store_fixture_subscribe(fixture, "bob@example.org", "UTC", "diffusion", now);
	store_fixture_add_filter(fixture, "bob@example.org", "mamba", now);
	store_fixture_build_digests(fixture, now);
	g_assert_true(
	    subscribe_remove(fixture->store, "bob@example.org", "test", now, &error));
	g_assert_true(maintenance_run(fixture->store, now + 1, &error));
	assert_rows(fixture, "SELECT canonical FROM filter", "diffusion");
	assert_rows(fixture, "SELECT filter_id FROM match", "1");
}

STORE_TEST(one_run_deletes_more_than_a_page)
{
	int64_t now = store_fixture_time(NOW);
	g_autoptr(GError) error = NULL;

	store_fixture_run(fixture,
	    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n"
	    " WHERE i < 1499) INSERT INTO filter (canonical, hash,"
	    " matched_revision, created_at) SELECT 'text:w' || i,"
	    " printf('%064d', i), 0, 0 FROM n;"
	    "INSERT INTO source_fetch (source, day, fetched_at, status)"
	    " SELECT 'x', 'd', id, 'ok' FROM filter");
	g_assert_true(maintenance_run(fixture->store, now, &error));
	assert_rows(fixture, "SELECT count(*) FROM filter", "0");
	assert_rows(fixture, "SELECT count(*) FROM source_fetch", "0");
}

STORE_TEST(filters_are_reindexed_after_the_archive_has_doubled)
{
	static const char terms[] = "SELECT kind || term FROM filter_term"
	                            " WHERE filter_id = 1";
	int64_t now = store_fixture_time(NOW);
	g_autoptr(GError) error = NULL;

	store_fixture_subscribe(
	    fixture, "ada@example.org", "UTC", "diffusion mamba", now);
	assert_rows(fixture, terms, "1diffusion");
	g_assert_true(maintenance_run(fixture->store, now, &error));
	store_fixture_run(
	    fixture, "INSERT INTO vocabulary VALUES ('diffusion', 'diffusion', 9)");
	g_assert_true(maintenance_run(fixture->store, now, &error));
	assert_rows(fixture, terms, "1diffusion");
	store_fixture_run(fixture, "INSERT INTO cursor VALUES ('indexed papers', 2000) "
	                           "ON CONFLICT (name) DO UPDATE SET value = 2000");
	g_assert_true(maintenance_run(fixture->store, now, &error));
	assert_rows(fixture, terms, "1mamba");
	/* Filters without index terms are indexed. */
	store_fixture_run(fixture, "DELETE FROM filter_term");
	g_assert_true(maintenance_run(fixture->store, now, &error));
	assert_rows(fixture, terms, "1mamba");
}

STORE_TEST(it_is_due_at_first_and_then_once_a_day)
{
	int64_t now = store_fixture_time(NOW), at;
	g_autoptr(GError) error = NULL;

	g_assert_true(maintenance_load_due(fixture->store, now, &at, &error));
	g_assert_cmpint(at, <, now);
	g_assert_true(maintenance_run(fixture->store, now, &error));
	g_assert_true(maintenance_load_due(fixture->store, now, &at, &error));
	g_assert_cmpint(at, ==, now + CLOCK_DAY_S);
}

static bool
call_maintenance(struct store_fixture *fixture, void *data, GError **error)
{
	return maintenance_run(fixture->store, *(int64_t *)data, error);
}

STORE_TEST(a_run_that_fails_is_due_again)
{
	int64_t now = store_fixture_time(NOW) + 90 * (int64_t)CLOCK_DAY_S;

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
	store_fixture_subscribe(
	    fixture, "ada@example.org", "UTC", "diffusion", store_fixture_time(NOW));
	store_fixture_build_digests(fixture, store_fixture_time(NOW));
	g_assert_cmpuint(
	    store_fixture_fail_everywhere(fixture, call_maintenance, &now, false), >=,
	    20);
	g_assert_cmpint(store_fixture_number(
	                    fixture, "SELECT value FROM cursor WHERE name = 'upkeep'"),
	    ==, now);
	g_assert_cmpint(store_fixture_number(
	                    fixture, "SELECT count(*) FROM " STORE_FIXTURE_MATCHES),
	    ==, 0);
}

TEST(deliveries_of_eligible_papers_are_not_deleted)
{
	/* Otherwise a paper could be sent twice. */
	g_assert_cmpint(DIGEST_DELIVERED_DAYS, >, DIGEST_ELIGIBLE_DAYS + 1);
	g_assert_cmpint(MAINTENANCE_MATCH_DAYS, >, DIGEST_ELIGIBLE_DAYS + 1);
}

STORE_TEST(incomplete_archive_is_rebuilt)
{
	g_autofree char *problem = NULL;

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 1);
	store_fixture_run(
	    fixture, "DELETE FROM vocabulary; UPDATE cursor SET value = 0");
	g_log_set_always_fatal(G_LOG_FATAL_MASK);
	NO_ERROR(maintenance_run(fixture->store, store_fixture_time(NOW), &error));
	assert_rows(fixture, "SELECT text FROM vocabulary", "diffusion");
	problem = store_fixture_check_archive(fixture);
	g_assert_cmpstr(problem, ==, NULL);
}

UNIT_MAIN
