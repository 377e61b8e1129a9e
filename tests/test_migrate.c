/*
 * test_migrate.c - a filled store of version 1 becomes one of today.
 */
#include <gio/gio.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "store/core/migrate.h"
#include "store/core/migrations.h"
#include "store/core/sql.h"
#include "store/mail/digests.h"

#define COUNT \
	"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "

/* Digest 7 was pruned, and has the highest number of all. */
static const char fill[] = COUNT
    "40) INSERT INTO paper (id, title, abstract, authors, url, fetched_at,"
    " first_seen_at, last_day, revision, doi, categories, keywords)"
    " SELECT printf('2611.%05d', i), 'Title ' || i, 'An abstract.', 'Ada',"
    " 'https://example.org', i, i, '2026-11-20', i, '10.1/' || i, 'cs.LG', NULL"
    " FROM n;" COUNT
    "8) INSERT INTO subscriber (address, address_key, state, frequency, weekdays,"
    " minute, zone, max_full, created_at, consent_at, consent_text, next_due_at)"
    " SELECT 'p' || i || '@example.org', 'p' || i || '@example.org', 'active',"
    " 'daily', 127, 450, 'UTC', 20, 1, 1, 'asked', 9 FROM n;" COUNT
    "90) INSERT INTO digest (id, subscriber_id, slot, date, message_token,"
    " created_at, state, coverage, notices, filters, papers, abstract, format,"
    " attach, grouping, language, is_note) SELECT i, 1 + i % 8, 's' || i,"
    " '2026-11-21', printf('%017d', i), 1795176000 + i,"
    " CASE i % 5 WHEN 0 THEN 'sent' WHEN 1 THEN 'failed' WHEN 2 THEN 'cancelled'"
    "  ELSE 'live' END, 'all lists ' || i, iif(i % 3, '', 'many' || char(10) ||"
    " 'late'), iif(i % 4, '2' || char(9) || '3' || char(9) || 'ssm' || char(9) ||"
    " '\"state space\"' || char(10) || '5' || char(9) || '1' || char(9) ||"
    " '\xc3\xa4' || char(9) || '\xc3\xa4', ''), i % 7,"
    " CASE i % 4 WHEN 0 THEN 'brief' WHEN 1 THEN 'short' WHEN 2 THEN 'full'"
    "  ELSE 'none' END, CASE i % 3 WHEN 0 THEN 'both' WHEN 1 THEN 'text'"
    "  ELSE 'html' END, CASE i % 5 WHEN 0 THEN 'none' WHEN 1 THEN 'bibtex'"
    "  WHEN 2 THEN 'ris' WHEN 3 THEN 'markdown' ELSE 'none' END,"
    " iif(i % 2, 'on', 'off'), iif(i % 6, NULL, 'de'), i % 7 = 0 FROM n;" COUNT
    "90) INSERT INTO digest_item (digest_id, position, paper_seq, day, upvotes,"
    " upvotes_before, stars, venue, shown, reasons, replacement)"
    " SELECT n.i, p.seq, p.seq * 37 % 40 + 1, printf('2026-%02d-%02d',"
    " 10 + p.seq % 3, p.seq), iif(n.i % 3, p.seq * 997, NULL),"
    " iif(n.i % 2, 0, NULL), iif(p.seq % 2, p.seq, NULL), iif(p.seq % 4, 'cs.LG',"
    " NULL), p.seq % 3, iif(p.seq % 3, 'ssm' || char(9) || 'tSSM' || char(9) ||"
    " 'bstate' || char(10) || '\xc3\xa4' || char(9), 'old' || char(9) || 'aX'),"
    " p.seq % 2 FROM n JOIN paper p ON p.seq <= n.i % 7;"
    "INSERT INTO digest_reference (digest_id, position, journal, doi, published_at,"
    " categories, keywords) SELECT g.id, i.position, iif(g.id % 2, 'J. Diff.', NULL),"
    " '10.2/' || g.id, iif(g.id % 3, g.id, NULL), 'cs.LG' || char(10) || 'cs.CL',"
    " iif(g.id % 5, '', NULL) FROM digest g JOIN digest_item i ON i.digest_id = g.id"
    " WHERE g.attach <> 'none';"
    "INSERT INTO outbox (kind, subscriber_id, digest_id, state, queued_at, next_try_at,"
    " ended_at) SELECT 'digest', subscriber_id, id, iif(state = 'live', 'NEW',"
    " 'CANCELLED'), 1, iif(state = 'live', 1, NULL), iif(state = 'live', NULL, 1)"
    " FROM digest;"
    "INSERT INTO outbox (kind, subscriber_id, recipient, address_key, sender, message,"
    " state, queued_at, next_try_at) VALUES ('notice', 1, 'p1@example.org',"
    " 'p1@example.org', '', x'0d0a', 'NEW', 1, 1);"
    "INSERT INTO filter (canonical, hash, created_at) VALUES ('ssm',"
    " printf('%064d', 1), 1), ('other', printf('%064d', 2), 1);"
    "DELETE FROM filter WHERE id = 1;"
    "INSERT INTO delivered (subscriber_id, paper_seq, replacement, digest_id, at)"
    " SELECT g.subscriber_id, i.paper_seq, i.replacement, g.id, g.created_at"
    " FROM digest g JOIN digest_item i ON i.digest_id = g.id WHERE g.state = 'sent'"
    " ON CONFLICT DO NOTHING;"
    "UPDATE sqlite_sequence SET seq = 123 WHERE name = 'digest'";

static void
run(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		g_error("%s", sqlite3_errmsg(db));
}

/* @param rows  SQL, or NULL: leave the store empty */
static void
make_old_store(const char *path, const char *rows)
{
	g_autofree char *header = g_strdup_printf(
	    "PRAGMA application_id = %d; PRAGMA user_version = 1; PRAGMA journal_mode ="
	    " WAL;",
	    MIGRATE_APPLICATION_ID);
	g_autoptr(GBytes) schema = g_resource_lookup_data(
	    migrations_get_resource(), "/paperboy/migrations/001", 0, NULL);
	sqlite3 *db = NULL;

	g_assert_nonnull(schema);
	g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
	run(db, g_bytes_get_data(schema, NULL));
	run(db, header);
	run(db, "PRAGMA foreign_keys = ON");
	if (rows)
		run(db, rows);
	sqlite3_close(db);
	g_assert_cmpint(g_chmod(path, 0600), ==, 0);
}

static void
copy(const char *from, const char *to)
{
	g_autofree char *bytes = NULL;
	size_t size;

	g_assert_true(g_file_get_contents(from, &bytes, &size, NULL));
	g_assert_true(g_file_set_contents(to, bytes, (gssize)size, NULL));
}

/* Put a store of version 1 in the place of the fixture's, and open it. */
static struct store_fixture *
migrate(const char *rows)
{
	struct store_fixture *fixture = store_fixture_new();
	g_autofree char *old = g_strconcat(fixture->path, ".old", NULL);
	g_autofree char *attach = g_strdup_printf("ATTACH '%s' AS old", old);
	g_autoptr(GError) error = NULL;

	g_clear_pointer(&fixture->store, store_free);
	g_unlink(fixture->path);
	make_old_store(fixture->path, rows);
	copy(fixture->path, old);
	fixture->store = store_open(fixture->path, &error);
	g_assert_no_error(error);
	store_fixture_run(fixture, attach);
	return fixture;
}

/* Both select the same rows. */
static void
assert_same_rows(struct store_fixture *fixture, const char *one, const char *other)
{
	g_autofree char *sql = g_strdup_printf(
	    "SELECT count(*) FROM (SELECT * FROM (%s EXCEPT %s) UNION ALL"
	    " SELECT * FROM (%s EXCEPT %s))",
	    one, other, other, one);
	g_autofree char *count = g_strdup_printf("SELECT count(*) FROM (%s)", one);

	assert_rows(fixture, sql, "0");
	g_assert_cmpint(store_fixture_number(fixture, count), >, 0);
}

static void
contents_are_those_of_the_rows(void)
{
	static const char *const columns[] = {"digest_id, position, paper_seq, day, "
	                                      "upvotes, upvotes_before, stars, venue,"
	                                      " shown, reasons, replacement",
	    "id, subscriber_id, slot, date, message_token, created_at, state"};
	pb_auto(store_fixture) fixture = migrate(fill);
	g_autofree char *items =
	    g_strdup_printf("SELECT %s FROM digest_item", columns[0]);
	g_autofree char *old_items =
	    g_strdup_printf("SELECT %s FROM old.digest_item", columns[0]);
	g_autofree char *digests =
	    g_strdup_printf("SELECT %s FROM main.digest", columns[1]);
	g_autofree char *old_digests =
	    g_strdup_printf("SELECT %s FROM old.digest", columns[1]);

	assert_same_rows(fixture, items, old_items);
	assert_same_rows(fixture, digests, old_digests);
	assert_same_rows(fixture, "SELECT id, coverage, notices FROM digest_head",
	    "SELECT id, coverage, notices FROM old.digest");
	assert_same_rows(fixture, "SELECT id, papers, newest_day FROM main.digest",
	    "SELECT g.id, count(i.day), coalesce(max(i.day), g.date) FROM old.digest g"
	    " LEFT JOIN old.digest_item i ON i.digest_id = g.id GROUP BY g.id");
	assert_same_rows(fixture,
	    "SELECT subscriber_id, paper_seq, replacement, digest_id, at"
	    " FROM delivered_paper",
	    "SELECT subscriber_id, paper_seq, replacement, digest_id, at"
	    " FROM old.delivered");
	/* Filters of older digests are known by their reasons only. */
	assert_rows(fixture,
	    "SELECT count(*) FROM digest_head h JOIN old.digest g USING (id)"
	    " WHERE substr(h.filters, 1, length(g.filters)) <> g.filters",
	    "0");
	assert_same_rows(fixture, "SELECT id, canonical, hash FROM main.filter",
	    "SELECT id, canonical, hash FROM old.filter");
	assert_same_rows(fixture, "SELECT id, kind, digest_id, state FROM main.outbox",
	    "SELECT id, kind, digest_id, state FROM old.outbox");
	assert_same_rows(fixture,
	    "SELECT value FROM main.cursor WHERE name = 'matches'",
	    "SELECT count FROM old.row_count WHERE name = 'match'");
	assert_rows(fixture,
	    "SELECT DISTINCT priority, kind FROM main.outbox ORDER BY 1",
	    "0|digest 3|notice");
	assert_rows(fixture, "PRAGMA foreign_key_check", "");
	assert_rows(fixture, "PRAGMA foreign_keys", "1");
	assert_rows(
	    fixture, "SELECT seq FROM sqlite_sequence WHERE name = 'digest'", "123");
}

static void
migrated_digests_load_as_they_were(void)
{
	pb_auto(store_fixture) fixture = migrate(fill);

	for (int64_t id = 1; id <= 90; id++) {
		g_autoptr(GError) error = NULL;
		pb_auto(digest) digest = digests_load(fixture->store, id, &error);
		bool has_filters = id % 4 != 0;

		g_assert_no_error(error);
		g_assert_cmpuint(digest->entries->len, ==, id % 7);
		g_assert_cmpuint(digest->filters->len, ==, has_filters ? 2 : 0);
		g_assert_true(digest->is_note == (id % 7 == 0));
		g_assert_cmpint(digest->style.abstract, ==, id % 4);
		g_assert_cmpint(digest->style.format, ==, id % 3);
		g_assert_cmpint(digest->style.attach, ==, id % 5 == 4 ? 0 : id % 5);
		g_assert_cmpint(digest->style.group, ==, id % 2);
		g_assert_cmpstr(digest->style.language, ==, id % 6 ? "" : "de");
		for (unsigned i = 0; i < digest->entries->len; i++) {
			const struct digest_entry *entry = digest->entries->pdata[i];
			g_autofree char *doi = g_strdup_printf("10.2/%d", (int)id);

			g_assert_cmpuint(entry->reasons->len, ==, (i + 1) % 3 ? 2 : 1);
			if (digest->style.attach == PREFERENCE_ATTACH_NONE)
				continue;
			g_assert_cmpstr(entry->paper->doi, ==, doi);
			g_assert_cmpstr(
			    entry->paper->journal, ==, id % 2 ? "J. Diff." : NULL);
			g_assert_cmpint(
			    entry->paper->published_at, ==, id % 3 ? id : -1);
			g_assert_cmpuint(entry->paper->categories->len, ==, 2);
			g_assert_true(
			    (entry->paper->keywords == NULL) == (id % 5 == 0));
		}
	}
}

/* Row by row, tables, indexes and triggers are those of a new store. */
static void
empty_store_becomes_as_a_new_one(void)
{
	pb_auto(store_fixture) fixture = migrate(NULL);
	pb_auto(store_fixture) other = store_fixture_new();
	static const char schema[] = "SELECT group_concat(sql, char(10)) FROM (SELECT "
	                             "sql FROM main.sqlite_schema"
	                             " ORDER BY type, name)";
	g_autofree char *wanted = store_fixture_text(other, schema);

	assert_rows(fixture, schema, wanted);
}

UNIT_MAIN(contents_are_those_of_the_rows, migrated_digests_load_as_they_were,
    empty_store_becomes_as_a_new_one)
