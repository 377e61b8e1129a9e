/*
 * test_status.c - cost and correctness of status and metrics.
 */
#include "service/health/status.h"

#include <sqlite3.h>

#include "daemon/status_line.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/health/metrics.h"
#include "store/core/sql.h"

#define NOW "2026-11-20T09:00:00Z"

/* Rows of each large table, from FROM to TO. */
#define ROWS                                                                          \
	"WITH RECURSIVE n (i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < " \
	"%d) "

static const char *const fill[] = {
    ROWS "INSERT INTO paper (seq, id, title, abstract, authors, url, fetched_at,"
         " first_seen_at, last_day, revision) SELECT i, 'p' || i, 't', '', '',"
         " 'https://a.example/', 1, 1, '2026-11-20', i FROM n",
    ROWS "INSERT INTO listing (source, day, paper_seq, first_seen_at)"
         " SELECT 'hf', '2026-10-01', i, 1 FROM n",
    ROWS "INSERT INTO filter (id, canonical, hash, created_at)"
         " SELECT i, 'f' || i, printf('%%064d', i), 1 FROM n",
    ROWS "INSERT INTO match SELECT i, 1, '1,2,3' FROM n",
    ROWS "INSERT INTO match_pending SELECT i, i, 1, 1 FROM n",
    ROWS "INSERT INTO subscriber (id, address, address_key, state, frequency, weekdays,"
         " minute, zone, max_full, created_at, consent_at, consent_text, next_due_at,"
         " is_next_held) SELECT i, i || '@a.example', i || '@a.example', 'active',"
         " 'daily', 127, 0, 'UTC', 20, 1, 1, 'asked', i, i % 2 FROM n",
    ROWS "INSERT INTO digest (id, subscriber_id, slot, message_token, date, created_at,"
         " state, papers, newest_day, contents) SELECT i, i, 's', printf('%%017d', i),"
         " '2026-11-20', 1, 'live', 1, '2026-11-20', x'01' FROM n",
    ROWS "INSERT INTO delivered_paper SELECT i, i, 0, i, 1 FROM n",
    ROWS "INSERT INTO outbox (id, kind, subscriber_id, digest_id, state, queued_at,"
         " next_try_at, claimed_at, ended_at, held_why) SELECT i, 'digest', i, i,"
         " CASE i % 7 WHEN 0 THEN 'NEW' WHEN 1 THEN 'DEFERRED' WHEN 2 THEN 'SENT'"
         "  WHEN 3 THEN 'FAILED' WHEN 4 THEN 'HELD' WHEN 5 THEN 'UNKNOWN'"
         "  ELSE 'CANCELLED' END, i, iif(i % 7 < 2, i, NULL), 1,"
         " iif(i % 7 IN (2, 3, 6), i, NULL), iif(i % 7 = 4, 'restore', NULL) FROM n",
    ROWS "INSERT INTO inbox (key, receiver, received_at, size, state, ended_at)"
         " SELECT printf('%%064d', i), 'lmtp', i, 1, 'done', i FROM n",
};

static void
fill_tables(struct store_fixture *fixture, int from, int to)
{
	for (size_t i = 0; i < G_N_ELEMENTS(fill); i++) {
		char *sql;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		sql = g_strdup_printf(fill[i], from, to);
#pragma GCC diagnostic pop
		store_fixture_run(fixture, sql);
		g_free(sql);
	}
}

static int
count_step(void *data)
{
	(*(unsigned *)data)++;
	return 0;
}

/* Enough to count a row in one or two indexes. */
#define STEPS_PER_ROW 10

/* Steps of SQLite's virtual machine for one status. */
static unsigned
measure_steps(struct store_fixture *fixture, const struct settings *settings)
{
	const struct status_daemon daemon = {.is_running = true};
	g_autofree char *text = NULL;
	int64_t next_at, waiting;
	unsigned steps = 0;

	sqlite3_progress_handler(fixture->store->db, 1, count_step, &steps);
	text = NO_ERROR(metrics_format(
	    fixture->store, settings, &daemon, NULL, store_fixture_time(NOW), &error));
	NO_ERROR(status_line_load(fixture->store, &next_at, &waiting, &error));
	sqlite3_progress_handler(fixture->store->db, 0, NULL, NULL);
	return steps;
}

STORE_TEST(status_does_not_slow_down_in_a_large_store)
{
	pb_auto(settings) settings = settings_new();
	unsigned few, many;

	fill_tables(fixture, 1, 70);
	measure_steps(fixture, settings);
	few = measure_steps(fixture, settings);
	fill_tables(fixture, 71, 7000);
	many = measure_steps(fixture, settings);
	g_test_message("%u steps with 70 rows a table, %u with 7000", few, many);
	g_assert_cmpuint(many, <, few + few / 10 + STEPS_PER_ROW * (7000 - 70));
}

#define FIELD(name) offsetof(struct status, name)
#define PEOPLE(state) \
	(FIELD(people) + (state) * sizeof(((struct status *)NULL)->people[0]))

/* Each count with a query that reads the rows. */
static const struct {
	size_t field;
	const char *sql;
} counts[] = {
    {FIELD(papers), "SELECT sum(1) FROM paper WHERE title <> ''"},
    {FIELD(filters), "SELECT sum(1) FROM filter WHERE hash <> ''"},
    {FIELD(waiting), "SELECT sum(1) FROM match_pending WHERE due_at > 0"},
    {FIELD(restore.people), "SELECT sum(1) FROM subscriber"
                            " WHERE +is_next_held = 1 AND state || '' = 'active'"},
    {PEOPLE(SUBSCRIBER_PENDING),
        "SELECT sum(iif(state || '' = 'pending', 1, 0)) FROM subscriber"},
    {PEOPLE(SUBSCRIBER_ACTIVE),
        "SELECT sum(iif(state || '' = 'active', 1, 0)) FROM subscriber"},
    {PEOPLE(SUBSCRIBER_PAUSED),
        "SELECT sum(iif(state || '' = 'paused', 1, 0)) FROM subscriber"},
    {PEOPLE(SUBSCRIBER_SUSPENDED),
        "SELECT sum(iif(state || '' = 'suspended', 1, 0)) FROM subscriber"},
    {PEOPLE(SUBSCRIBER_GONE),
        "SELECT sum(iif(state || '' = 'gone', 1, 0)) FROM subscriber"},
    {FIELD(fresh), "SELECT sum(iif(state || '' = 'NEW', 1, 0)) FROM outbox"},
    {FIELD(sending), "SELECT sum(iif(state || '' = 'SENDING', 1, 0)) FROM outbox"},
    {FIELD(deferred), "SELECT sum(iif(state || '' = 'DEFERRED', 1, 0)) FROM outbox"},
    {FIELD(unknown), "SELECT sum(iif(state || '' = 'UNKNOWN' AND ended_at IS NULL, 1, "
                     "0)) FROM outbox"},
    {FIELD(held), "SELECT sum(iif(state || '' = 'HELD', 1, 0)) FROM outbox"},
    {FIELD(failed), "SELECT sum(iif(state || '' = 'FAILED', 1, 0)) FROM outbox"},
    {FIELD(held_by_restore),
        "SELECT sum(iif(held_why || '' = 'restore', 1, 0)) FROM outbox"},
    {FIELD(held_by_crash),
        "SELECT sum(iif(held_why || '' = 'crash', 1, 0)) FROM outbox"},
};

static void
assert_counts(struct store_fixture *fixture, const char *change)
{
	pb_auto(settings) settings = settings_new();
	pb_local(status) status;

	NO_ERROR(status_load(
	    fixture->store, settings, store_fixture_time(NOW), &status, &error));
	for (size_t i = 0; i < G_N_ELEMENTS(counts); i++) {
		g_test_message("%s after %s", counts[i].sql, change);
		g_assert_cmpint(G_STRUCT_MEMBER(int64_t, &status, counts[i].field), ==,
		    store_fixture_number(fixture, counts[i].sql));
	}
}

STORE_TEST(every_change_is_counted)
{
	static const char *const changes[] = {
	    "UPDATE outbox SET state = 'SENDING', attempt = 1, next_try_at = NULL"
	    " WHERE state = 'NEW' AND id < 30",
	    "UPDATE outbox SET state = 'UNKNOWN', ended_at = 5 WHERE state = 'SENDING'",
	    "UPDATE outbox SET held_why = 'crash' WHERE state = 'HELD' AND id < 40",
	    "UPDATE outbox SET state = 'UNKNOWN', held_why = NULL"
	    " WHERE state = 'HELD' AND id > 60",
	    "UPDATE subscriber SET state = 'paused' WHERE id BETWEEN 5 AND 9",
	    "UPDATE subscriber SET state = 'gone', next_due_at = NULL"
	    " WHERE id BETWEEN 8 AND 20",
	    "UPDATE subscriber SET is_next_held = 0 WHERE id BETWEEN 30 AND 40",
	    "INSERT INTO match_pending VALUES (5, 5, 9, 9)"
	    " ON CONFLICT (filter_id, paper_seq) DO UPDATE SET decided_at = 9",
	    "DELETE FROM filter WHERE id BETWEEN 20 AND 25",
	    "DELETE FROM outbox WHERE id BETWEEN 10 AND 30",
	};

	fill_tables(fixture, 1, 70);
	assert_counts(fixture, "nothing");
	for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
		store_fixture_run(fixture, changes[i]);
		assert_counts(fixture, changes[i]);
	}
}

UNIT_MAIN
