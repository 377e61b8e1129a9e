/*
 * test_backup.c - backup of a store during writes, and restore.
 */
#include "store/admin/backup.h"

#include <glib/gstdio.h>
#include <string.h>

#include "base/error.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "store/core/transaction.h"
#include "store/mail/outbox.h"

#define NOW "2026-11-20T09:00:00Z"

static const guint8 key_bytes[32] = {1, 2, 254, 255};

static struct store_fixture *
new_fixture(GBytes **key)
{
	struct store_fixture *fixture = store_fixture_new();

	*key = g_bytes_new_static(key_bytes, sizeof(key_bytes));
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "One paper", 1);
	store_fixture_subscribe(
	    fixture, "ada@example.org", "UTC", "paper", store_fixture_time(NOW));
	assert_digests_at(fixture, NOW, 1);
	return fixture;
}

/* Another program commits between any two steps of the copy. */
struct writer {
	struct store *store;
	unsigned steps;
	int all_pages;
};

static void
write_between(void *data, int done_pages, int all_pages)
{
	struct writer *writer = data;
	pb_transaction transaction = {0};
	g_autoptr(GError) error = NULL;

	writer->steps++;
	writer->all_pages = all_pages;
	g_assert_cmpint(done_pages, <=, all_pages);
	/* Far more than a copy without a restart can have. */
	g_assert_cmpuint(writer->steps, <, 1000);
	store_begin(writer->store, &transaction, &error);
	store_save_cursor(writer->store, "first", writer->steps, &error);
	store_save_cursor(writer->store, "last", writer->steps, &error);
	store_commit(&transaction, &error);
	g_assert_no_error(error);
}

TEST(a_writer_between_all_steps_does_not_starve_it)
{
	g_autoptr(GBytes) key = NULL;
	pb_auto(store_fixture) fixture = new_fixture(&key);
	g_autofree char *path = g_build_filename(fixture->directory, "copy", NULL);
	g_autoptr(GError) error = NULL;
	pb_auto(store) other = store_open(fixture->path, &error);
	struct writer writer = {.store = other};
	const struct backup_plan plan = {
	    key, NULL, store_fixture_time(NOW), write_between, &writer};
	pb_auto(store) copy = NULL;
	int64_t first, last;

	g_assert_no_error(error);
	store_fixture_run(fixture,
	    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
	    " WHERE i < 100000) INSERT INTO cursor SELECT 'row ' || i, i FROM n");
	g_assert_true(backup_write(fixture->store, path, &plan, &error));
	g_assert_no_error(error);
	g_assert_cmpuint(writer.steps, >, 1);
	g_assert_cmpuint(writer.steps, ==,
	    (unsigned)(writer.all_pages + BACKUP_STEP_PAGES - 1) / BACKUP_STEP_PAGES);
	copy = store_open(path, &error);
	g_assert_no_error(error);
	store_load_cursor(copy, "first", 0, &first, &error);
	store_load_cursor(copy, "last", 0, &last, &error);
	g_assert_cmpint(first, ==, last);
	store_fixture_assert_idle(fixture);
}

TEST(failed_backup_leaves_no_file)
{
	g_autoptr(GBytes) key = NULL;
	pb_auto(store_fixture) fixture = new_fixture(&key);
	g_autofree char *path = g_build_filename(fixture->directory, "copy", NULL);
	g_autofree char *deep =
	    g_build_filename(fixture->directory, "none", "copy", NULL);
	const struct backup_plan plan = {.key = key, .now = store_fixture_time(NOW)};
	g_autoptr(GError) error = NULL;

	g_assert_false(backup_write(fixture->store, deep, &plan, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_PERMANENT);
	g_clear_error(&error);
	/* An existing file must not be overwritten. */
	g_file_set_contents(path, "mine", -1, NULL);
	g_assert_false(backup_write(fixture->store, path, &plan, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_PERMANENT);
	g_clear_error(&error);
	g_unlink(path);
	store_fixture_run(fixture, "PRAGMA foreign_keys = OFF; DELETE FROM subscriber;"
	                           "PRAGMA foreign_keys = ON");
	g_assert_false(backup_write(fixture->store, path, &plan, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
	g_assert_nonnull(strstr(error->message, "refers to no row"));
	g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
	store_fixture_assert_idle(fixture);
}

TEST(unsent_messages_are_held_with_their_state)
{
	static const struct {
		const char *state, *more, *from;
	} rows[] = {
	    {"NEW", "next_try_at = 5", "NEW"},
	    {"DEFERRED", "next_try_at = 5", "DEFERRED"},
	    {"UNKNOWN", "claimed_at = 5", "UNKNOWN"},
	    {"SENDING", "next_try_at = NULL, claimed_at = 5, attempt = 1", "UNKNOWN"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GBytes) key = NULL;
		pb_auto(store_fixture) fixture = new_fixture(&key);
		g_autofree char *path =
		    g_build_filename(fixture->directory, "copy", NULL);
		g_autofree char *draft =
		    g_build_filename(fixture->directory, "new", NULL);
		g_autofree char *sql = g_strdup_printf(
		    "UPDATE outbox SET state = '%s', %s", rows[i].state, rows[i].more);
		const struct backup_plan plan = {
		    .key = key, .now = store_fixture_time(NOW)};
		const struct backup_make make = {.path = path,
		    .draft = draft,
		    .now = store_fixture_time(NOW) + 60,
		    .who = "a test",
		    .replaced = {.own = 2, .newest = 7},
		    .newest_id = 70};
		struct backup_restored restored;
		g_autoptr(GBytes) came = NULL;
		g_autoptr(GError) error = NULL;
		pb_auto(store) store = NULL;
		g_autofree struct outbox_message *message = NULL;
		struct backup_restored_from over;
		struct backup_generation generation;
		bool is_superseded;

		store_fixture_run(fixture, sql);
		g_assert_true(backup_write(fixture->store, path, &plan, &error));
		g_assert_true(backup_make_store(&make, &restored, &error));
		g_assert_no_error(error);
		g_assert_cmpint(restored.held, ==, 1);
		g_assert_cmpint(restored.made_at, ==, store_fixture_time(NOW));
		store = store_open(draft, &error);
		message = outbox_load_message(store, 1, &error);
		g_assert_no_error(error);
		g_assert_cmpstr(message->state, ==, "HELD");
		g_assert_cmpstr(message->held_from, ==, rows[i].from);
		g_assert_cmpint(message->next_try_at, ==, -1);
		g_assert_true(backup_load_restored_from(store, &over, &error));
		g_assert_cmpint(over.restored_at, ==, store_fixture_time(NOW) + 60);
		g_assert_cmpint(over.fetched_at, ==, -1);
		g_assert_true(backup_load_generation(store, &generation, &error));
		g_assert_cmpint(generation.own, >, 7);
		g_assert_true(backup_announce(store, generation.own, &error));
		g_assert_true(backup_is_superseded(store, &is_superseded, &error));
		g_assert_false(is_superseded);
		g_assert_true(backup_announce(store, BACKUP_GENERATION_MAX, &error));
		g_assert_true(backup_is_superseded(store, &is_superseded, &error));
		g_assert_true(is_superseded);
		g_assert_true(backup_supersede(store, 0, &error));
		g_assert_true(backup_is_superseded(store, &is_superseded, &error));
		g_assert_false(is_superseded);
		g_assert_true(backup_load_key(store, &came, &error));
		g_assert_true(g_bytes_equal(came, key));
		g_assert_true(backup_delete_key(store, &error));
		g_clear_pointer(&came, g_bytes_unref);
		g_assert_true(backup_load_key(store, &came, &error));
		g_assert_null(came);
	}
}

/* Deliveries and erasures after the backup must not be repeated. */
TEST(confirmations_and_new_mail_are_not_restored)
{
	static const char sql[] =
	    "INSERT INTO confirmation (hash, purpose, address, address_key, recipient,"
	    " action, made_at, expires_at, used_at) VALUES"
	    " (printf('%064d', 1), 'confirm', 'a@b.example', 'a@b.example',"
	    "  'a@b.example', 'add x', 1, 9, NULL),"
	    " (printf('%064d', 2), 'undo', 'a@b.example', 'a@b.example',"
	    "  'a@b.example', '', 1, 9, 5);"
	    "INSERT INTO inbox (key, receiver, received_at, size, state, next_try_at,"
	    " ended_at, raw) VALUES (printf('%064d', 1), 'lmtp', 1, 1, 'new', 1, NULL,"
	    "  x'78'), (printf('%064d', 2), 'lmtp', 1, 1, 'done', NULL, 1, NULL)";
	g_autoptr(GBytes) key = NULL;
	pb_auto(store_fixture) fixture = new_fixture(&key);
	g_autofree char *path = g_build_filename(fixture->directory, "copy", NULL);
	g_autofree char *draft = g_build_filename(fixture->directory, "new", NULL);
	const struct backup_plan plan = {.key = key, .now = store_fixture_time(NOW)};
	const struct backup_make make = {.path = path,
	    .draft = draft,
	    .now = store_fixture_time(NOW) + 60,
	    .who = "a test",
	    .replaced = {.own = 2, .newest = 7},
	    .newest_id = 70};
	struct backup_restored restored;
	g_autoptr(GError) error = NULL;

	store_fixture_run(fixture, sql);
	g_assert_true(backup_write(fixture->store, path, &plan, &error));
	g_assert_true(backup_make_store(&make, &restored, &error));
	g_assert_no_error(error);
	g_assert_cmpint(restored.confirmations, ==, 1);
	g_assert_cmpint(restored.messages, ==, 1);
	store_free(fixture->store);
	fixture->store = store_open(draft, &error);
	g_assert_no_error(error);
	assert_rows(fixture, "SELECT count(*) FROM confirmation", "0");
	assert_rows(fixture, "SELECT state FROM inbox ORDER BY id", "quarantined done");
	/* The numbers are parts of addresses: none is reused. */
	assert_rows(fixture,
	    "SELECT seq FROM sqlite_sequence WHERE name = 'confirmation'", "70");
}

TEST(only_due_subscribers_are_held)
{
	static const struct {
		const char *state;
		int due_in_s; /* from the restore; -1 for none */
		int is_held;
	} rows[] = {{"active", -3600, 1}, {"active", 0, 1}, {"active", 1, 0},
	    {"paused", -1, 1}, {"gone", -1, 0}};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GBytes) key = NULL;
		pb_auto(store_fixture) fixture = new_fixture(&key);
		g_autofree char *path =
		    g_build_filename(fixture->directory, "copy", NULL);
		g_autofree char *draft =
		    g_build_filename(fixture->directory, "new", NULL);
		int64_t at = store_fixture_time(NOW) + CLOCK_DAY_S;
		g_autofree char *due =
		    rows[i].due_in_s == -1
		        ? g_strdup("NULL")
		        : g_strdup_printf("%" G_GINT64_FORMAT, at + rows[i].due_in_s);
		g_autofree char *sql = g_strdup_printf(
		    "UPDATE subscriber SET state = '%s', next_due_at = %s",
		    rows[i].state, due);
		const struct backup_plan plan = {
		    .key = key, .now = store_fixture_time(NOW)};
		const struct backup_make make = {
		    .path = path, .draft = draft, .now = at, .who = "a test"};
		struct backup_restored restored;
		g_autoptr(GError) error = NULL;
		pb_auto(store) store = NULL;
		bool is_held;

		store_fixture_run(fixture, sql);
		g_assert_true(backup_write(fixture->store, path, &plan, &error));
		g_assert_true(backup_make_store(&make, &restored, &error));
		store = store_open(draft, &error);
		g_assert_true(backup_is_next_held(store, 1, &is_held, &error));
		g_assert_no_error(error);
		if (is_held != rows[i].is_held)
			g_test_fail_printf("row %zu: %d", i, is_held);
	}
}

UNIT_MAIN
