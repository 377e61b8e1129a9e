/*
 * test_enumeration.c - an invalid value in an enumerated column is an error.
 */
#include "store/core/record.h"

#include <sqlite3.h>
#include <string.h>

#include "base/error.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "model/digest.h"
#include "store/mail/bounces.h"
#include "store/mail/candidates.h"
#include "store/mail/digests.h"
#include "store/mail/inbox.h"
#include "store/mail/outbox.h"
#include "store/paper/paper_events.h"
#include "store/paper/paper_history.h"
#include "store/paper/papers.h"
#include "store/subscriber/confirmations.h"
#include "store/subscriber/proposals.h"
#include "store/subscriber/subscribers.h"
#include "store/subscriber/suppression.h"

#define NOW "2026-11-20T09:00:00Z"

/* One row in each table; the digest and its message have id 1. */
static struct store_fixture *
new_world(void)
{
	struct store_fixture *fixture = store_fixture_new();

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
	store_fixture_subscribe(
	    fixture, "ada@example.org", "UTC", "diffusion", store_fixture_time(NOW));
	assert_digests_at(fixture, NOW, 1);
	store_fixture_run(fixture,
	    "INSERT INTO suppression VALUES (hex(zeroblob(32)), 'dead', 1);"
	    "INSERT INTO confirmation (hash, purpose, address, address_key, recipient,"
	    " action, made_at, expires_at) VALUES (hex(zeroblob(32)), 'confirm',"
	    " 'a@b.example', 'a@b.example', 'a@b.example', 'add x', 1, 9e9);"
	    "INSERT INTO bounce (subscriber_id, message, at, class, is_scored, rule)"
	    " VALUES (1, 'digest-1', 1, 'dead', 1, 'no-such-user');"
	    "INSERT INTO proposal (subscriber_id, number, subscription_id, filter,"
	    " term, command, gained, lost, days, title, made_at, expires_at, state)"
	    " VALUES (1, 1, 0, '', 'x', 'block x', 1, 0, 30, '', 1, 9, 'open');"
	    "INSERT INTO inbox (key, receiver, received_at, size, state, next_try_at, "
	    "raw)"
	    " VALUES (hex(zeroblob(32)), 'lmtp', 1, 1, 'new', 1, x'41');"
	    "INSERT INTO paper_event (paper_seq, kind, version, at)"
	    " VALUES (1, 'code', 0, 1)");
	return fixture;
}

static void
execute(sqlite3 *db, const char *sql)
{
	char *problem = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &problem) != SQLITE_OK)
		g_error("%s: %s", sql, problem);
}

static sqlite3 *
open_raw(const struct store_fixture *fixture)
{
	sqlite3 *db = NULL;

	g_assert_cmpint(sqlite3_open(fixture->path, &db), ==, SQLITE_OK);
	execute(db, "PRAGMA ignore_check_constraints = ON");
	return db;
}

/* As a flipped bit or a hex editor would: without the CHECKs of the schema. */
static void
damage(struct store_fixture *fixture, const char *table, const char *column,
    const char *value)
{
	g_autofree char *allow = g_strdup_printf(
	    "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE type ="
	    " 'trigger' AND tbl_name = '%s'; UPDATE sqlite_schema SET sql ="
	    " replace(replace(sql, 'TEXT NOT NULL', 'TEXT'), 'INTEGER NOT NULL',"
	    " 'INTEGER') WHERE type = 'table' AND name = '%s'",
	    table, table);
	g_autofree char *change =
	    g_strdup_printf("UPDATE %s SET %s = %s", table, column, value);
	sqlite3 *db;

	g_clear_pointer(&fixture->store, store_free);
	db = open_raw(fixture);
	execute(db, allow);
	sqlite3_close(db);
	db = open_raw(fixture);
	execute(db, change);
	sqlite3_close(db);
	fixture->store = NO_ERROR(store_open(fixture->path, &error));
}

/* ---- readers --------------------------------------------------------------- */

static void
free_rows(GPtrArray *rows)
{
	g_clear_pointer(&rows, g_ptr_array_unref);
}

static void
read_subscriber(struct store_fixture *fixture, GError **error)
{
	subscriber_free(subscribers_load(fixture->store, 1, error));
}

static void
read_suppressions(struct store_fixture *fixture, GError **error)
{
	free_rows(suppression_load_batch(fixture->store, "", 9, error));
}

static void
read_paper(struct store_fixture *fixture, GError **error)
{
	stored_paper_free(papers_load(fixture->store, 1, error));
}

static void
read_events(struct store_fixture *fixture, GError **error)
{
	g_autoptr(GPtrArray) events = paper_events_load(fixture->store, 0, error);

	(void)events;
}

static void
read_listings(struct store_fixture *fixture, GError **error)
{
	free_rows(paper_history_load_listings(fixture->store, 1, error));
}

static void
read_reports(struct store_fixture *fixture, GError **error)
{
	free_rows(papers_load_reports(fixture->store, error));
}

static void
read_digests(struct store_fixture *fixture, GError **error)
{
	free_rows(digests_load_newest(fixture->store, 0, 9, error));
}

static void
read_digest(struct store_fixture *fixture, GError **error)
{
	digest_free(digests_load(fixture->store, 1, error));
}

static void
read_history(struct store_fixture *fixture, GError **error)
{
	free_rows(paper_history_load_digests(fixture->store, 1, 1, error));
}

static void
read_claim(struct store_fixture *fixture, GError **error)
{
	const struct outbox_claim claim = {.now = store_fixture_time(NOW),
	    .limit = 9,
	    .cache_key = "key",
	    .key = fixture->key};
	bool is_more;

	free_rows(outbox_claim(fixture->store, &claim, &is_more, error));
}

static void
read_queue(struct store_fixture *fixture, GError **error)
{
	const struct outbox_filter all = {.is_all = true};

	free_rows(outbox_load_rows(fixture->store, &all, 0, 9, error));
}

static void
read_message(struct store_fixture *fixture, GError **error)
{
	g_free(outbox_load_message(fixture->store, 1, error));
}

static void
read_confirmations(struct store_fixture *fixture, GError **error)
{
	free_rows(confirmations_load_batch(fixture->store, 5, 0, 9, error));
}

static void
process_inbox(struct store_fixture *fixture, GError **error)
{
	g_free(inbox_load(fixture->store, 1, NULL, error));
}

static void
read_bounces(struct store_fixture *fixture, GError **error)
{
	free_rows(bounces_load_person(fixture->store, 1, error));
}

static void
read_proposal(struct store_fixture *fixture, GError **error)
{
	struct proposal *proposal = NULL;

	proposals_find(fixture->store, 1, 1, 2, &proposal, error);
	g_free(proposal);
}

#define READERS 3

static const struct {
	bool is_number, may_be_null;
	void (*readers[READERS])(struct store_fixture *fixture, GError **error);
} rows[ENUMERATIONS] = {
    [ENUMERATION_SUBSCRIBER_STATE] = {false, false, {read_subscriber}},
    [ENUMERATION_SUBSCRIBER_FREQUENCY] = {false, false, {read_subscriber}},
    [ENUMERATION_SUBSCRIBER_SORTING] = {false, false, {read_subscriber}},
    [ENUMERATION_SUBSCRIBER_ABSTRACT] = {false, false, {read_subscriber}},
    [ENUMERATION_SUBSCRIBER_FORMAT] = {false, false, {read_subscriber}},
    [ENUMERATION_SUBSCRIBER_EMPTY_DIGEST] = {false, false, {read_subscriber}},
    [ENUMERATION_SUBSCRIBER_UPDATES] = {false, false, {read_subscriber}},
    [ENUMERATION_SUBSCRIBER_CROSSLIST] = {false, false, {read_subscriber}},
    [ENUMERATION_SUBSCRIBER_ATTACH] = {false, false, {read_subscriber}},
    [ENUMERATION_SUBSCRIBER_GROUPING] = {false, false, {read_subscriber}},
    [ENUMERATION_SUBSCRIBER_FEEDBACK] = {false, false, {read_subscriber}},
    [ENUMERATION_SUBSCRIBER_CHECKUP] = {false, false, {read_subscriber}},
    [ENUMERATION_SUBSCRIBER_VERSIONS] = {false, false, {read_subscriber}},
    [ENUMERATION_SUBSCRIBER_RETRACTIONS] = {false, false, {read_subscriber}},
    [ENUMERATION_SUPPRESSION_REASON] = {false, false, {read_suppressions}},
    [ENUMERATION_PAPER_SOURCE] = {true, false, {read_paper}},
    [ENUMERATION_PAPER_EVENT_KIND] = {false, false, {read_events}},
    [ENUMERATION_LISTING_TYPE] = {false, false, {read_listings, read_paper}},
    [ENUMERATION_SOURCE_FETCH_STATUS] = {false, false, {read_reports}},
    [ENUMERATION_DIGEST_STATE] = {false, false, {read_digests, read_history}},
    [ENUMERATION_OUTBOX_KIND] = {false, false, {read_queue, read_message}},
    [ENUMERATION_OUTBOX_STATE] = {false, false, {read_queue, read_message}},
    [ENUMERATION_OUTBOX_HELD_FROM] = {false, true, {read_message}},
    [ENUMERATION_OUTBOX_HELD_WHY] = {false, true, {read_message}},
    [ENUMERATION_CONFIRMATION_PURPOSE] = {false, false, {read_confirmations}},
    [ENUMERATION_INBOX_RECEIVER] = {false, false, {process_inbox}},
    [ENUMERATION_INBOX_STATE] = {false, false, {process_inbox}},
    [ENUMERATION_BOUNCE_CLASS] = {false, false, {read_bounces}},
    [ENUMERATION_PROPOSAL_STATE] = {false, false, {read_proposal}},
};

/* @param value  as SQL */
static void
check_damage(enum enumeration which, const char *value)
{
	const char *table, *column;

	record_get_word_column(which, &table, &column);
	for (unsigned i = 0; i < READERS && rows[which].readers[i]; i++) {
		pb_auto(store_fixture) fixture = new_world();
		g_autoptr(GError) error = NULL;

		g_test_message("%s.%s = %s, reader %u", table, column, value, i);
		rows[which].readers[i](fixture, &error);
		g_assert_no_error(error);
		damage(fixture, table, column, value);
		rows[which].readers[i](fixture, &error);
		g_assert_error(error, PB_ERROR, PB_ERROR_DAMAGED);
		g_assert_nonnull(strstr(error->message, table));
		g_assert_nonnull(strstr(error->message, column));
		g_assert_nonnull(strstr(error->message, ", row "));
		g_assert_nonnull(strstr(error->message, "paperboyctl doctor"));
		store_fixture_assert_idle(fixture);
	}
}

TEST(every_damaged_value_is_an_error_that_names_its_place)
{
	for (enum enumeration which = 0; which < ENUMERATIONS; which++) {
		g_assert_nonnull(rows[which].readers[0]);
		check_damage(which, rows[which].is_number ? "99" : "'damaged'");
		check_damage(which, rows[which].is_number ? "-1" : "''");
		if (!rows[which].may_be_null)
			check_damage(which, "NULL");
	}
}

static void
read_excluded(struct store_fixture *fixture, GError **error)
{
	struct candidate_previous *previous = g_new0(struct candidate_previous, 1);

	previous->subscriber_id = 1;
	if (candidates_load_previous(fixture->store, &previous, 1, 0, error))
		pb_error_forward(error, &previous->problem);
	candidate_previous_free(previous);
}

TEST(damaged_contents_are_an_error)
{
	static void (*const readers[])(struct store_fixture *, GError **) = {
	    read_digest, read_history, read_excluded};

	for (size_t i = 0; i < G_N_ELEMENTS(readers); i++) {
		pb_auto(store_fixture) fixture = new_world();
		g_autoptr(GError) error = NULL;

		readers[i](fixture, &error);
		g_assert_no_error(error);
		damage(fixture, "digest", "contents", "x'01ff'");
		readers[i](fixture, &error);
		g_assert_error(error, PB_ERROR, PB_ERROR_DAMAGED);
		g_assert_nonnull(strstr(error->message, "paperboyctl doctor"));
		store_fixture_assert_idle(fixture);
	}
}

/* A claim reads the kind of the claimed message. */
TEST(a_claim_stops_at_a_damaged_kind)
{
	pb_auto(store_fixture) fixture = new_world();
	g_autoptr(GError) error = NULL;

	damage(fixture, "outbox", "kind", "'damaged'");
	read_claim(fixture, &error);
	/* It is neither a digest nor another message: not found, or rejected. */
	g_assert_true(!error || g_error_matches(error, PB_ERROR, PB_ERROR_DAMAGED));
	assert_rows(fixture, "SELECT state FROM outbox", "NEW");
}

/* All columns with a CHECK on a list of words are tested. */
STORE_TEST(every_list_of_words_in_the_schema_is_known)
{
	g_autofree char *found = store_fixture_text(fixture,
	    "SELECT t.name || '.' || c.name FROM sqlite_schema t,"
	    " pragma_table_info(t.name) c WHERE t.type = 'table'"
	    " AND replace(replace(t.sql, char(10), ' '), char(9), '')"
	    "  GLOB '*CHECK (' || c.name || ' IN (''*'"
	    " ORDER BY 1");
	g_auto(GStrv) names = g_strsplit(found, " ", -1);

	for (char **name = names; *name; name++) {
		bool is_known = false;

		for (enum enumeration which = 0; which < ENUMERATIONS; which++) {
			const char *table, *column;
			g_autofree char *known = NULL;

			record_get_word_column(which, &table, &column);
			known = g_strconcat(table, ".", column, NULL);
			is_known |= strcmp(known, *name) == 0;
		}
		/* Only written and compared, never read. */
		is_known |= strcmp(*name, "rate_log.kind") == 0 ||
		            strcmp(*name, "skipped_message.receiver") == 0;
		g_test_message("%s", *name);
		g_assert_true(is_known);
	}
	g_assert_cmpuint(g_strv_length(names), >, 10);
}

UNIT_MAIN
