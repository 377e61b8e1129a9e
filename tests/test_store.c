/*
 * test_store.c - the database: creation, rejected files, constraints, failures, query
 * plans.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "lib/cases.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/digest/digest_build.h"
#include "service/match/match.h"
#include "service/people/subscribe.h"
#include "store/core/migrate.h"
#include "store/core/sql.h"
#include "store/mail/outbox.h"
#include "store/subscriber/subscribers.h"

#define NOW "2026-11-20T09:00:00Z"

STORE_TEST(new_store_is_complete_and_private)
{
	GStatBuf status;
	GDir *dir = g_dir_open(fixture->directory, 0, NULL);
	const char *name;

	g_assert_cmpint(g_stat(fixture->path, &status), ==, 0);
	g_assert_cmpint(status.st_mode & 07777, ==, 0600);
	g_assert_cmpint(status.st_nlink, ==, 1);
	/* No draft is left behind. */
	while ((name = g_dir_read_name(dir)))
		g_assert_null(strstr(name, ".new"));
	g_dir_close(dir);
	assert_rows(fixture, "PRAGMA journal_mode", "wal");
	assert_rows(fixture, "PRAGMA foreign_keys", "1");
	assert_rows(fixture, "PRAGMA synchronous", "2");
	assert_rows(fixture, "PRAGMA integrity_check", "ok");
	g_assert_cmpint(
	    store_fixture_number(fixture, "PRAGMA user_version"), ==, MIGRATE_VERSION);
	g_assert_cmpint(store_fixture_number(fixture, "PRAGMA application_id"), ==,
	    MIGRATE_APPLICATION_ID);
}

STORE_TEST(commits_survive_reopening)
{
	g_autofree char *before = NULL, *after = NULL;

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
	store_fixture_subscribe(
	    fixture, "ada@example.org", "UTC", "diffusion", store_fixture_time(NOW));
	before = store_fixture_hash(fixture);
	store_free(fixture->store);
	fixture->store = NO_ERROR(store_open(fixture->path, &error));
	after = store_fixture_hash(fixture);
	g_assert_cmpstr(before, ==, after);
}

STORE_TEST(two_handles_work_on_one_store)
{
	g_autoptr(GError) error = NULL;
	pb_auto(store) other = store_open(fixture->path, &error);
	int64_t value;

	g_assert_no_error(error);
	g_assert_true(store_save_cursor(other, "made-up", 42, &error));
	g_assert_true(store_load_cursor(fixture->store, "made-up", 0, &value, &error));
	g_assert_cmpint(value, ==, 42);
	g_assert_true(store_save_cursor(fixture->store, "made-up", 43, &error));
	g_assert_true(store_load_cursor(other, "made-up", 0, &value, &error));
	g_assert_cmpint(value, ==, 43);
	g_assert_true(store_load_cursor(other, "never set", -7, &value, &error));
	g_assert_cmpint(value, ==, -7);
}

/* ---- refused files --------------------------------------------------------- */

static void
write_file(const char *path, const void *data, gsize size)
{
	NO_ERROR(g_file_set_contents(path, data, (gssize)size, &error));
}

static void
make_store(const char *path, int version, int64_t schema_hash)
{
	g_autofree char *sql = g_strdup_printf(
	    "CREATE TABLE cursor (name, value); PRAGMA application_id = 1885499257;"
	    "PRAGMA user_version = %d; INSERT INTO cursor VALUES ('schema', "
	    "%" G_GINT64_FORMAT ")",
	    version, schema_hash);
	sqlite3 *db;

	sqlite3_open(path, &db);
	g_assert_cmpint(sqlite3_exec(db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
	sqlite3_close(db);
}

static void
make_newer(const char *path)
{
	make_store(path, 9, migrate_get_schema_hash());
}

static void
make_other(const char *path)
{
	make_store(path, 1, migrate_get_schema_hash() + 1);
}

static void
make_foreign(const char *path)
{
	sqlite3 *db;

	sqlite3_open(path, &db);
	sqlite3_exec(db, "CREATE TABLE bookmarks (url)", NULL, NULL, NULL);
	sqlite3_close(db);
}

static void
make_empty(const char *path)
{
	write_file(path, "", 0);
}

static void
make_text(const char *path)
{
	write_file(path,
	    "This is no database, and it is longer than a header.\n"
	    "It goes on for a while, so that SQLite reads a page of it.",
	    111);
}

static void
make_directory(const char *path)
{
	g_mkdir(path, 0700);
}

static void
make_log_alone(const char *path)
{
	g_autofree char *log = g_strconcat(path, "-wal", NULL);

	write_file(log, "log", 3);
}

static void
make_damaged(const char *path)
{
	g_autofree char *data = NULL;
	g_autoptr(GError) error = NULL;
	pb_auto(store) store = store_open(path, &error);
	gsize size;

	g_clear_pointer(&store, store_free);
	g_file_get_contents(path, &data, &size, &error);
	g_assert_no_error(error);
	/* The first page has the header and the schema. */
	memset(data + 100, 0xa5, 3000);
	write_file(path, data, size);
}

TEST(other_files_are_rejected_and_unchanged)
{
	static const struct {
		void (*make)(const char *path);
		const char *says;
	} rows[] = {
	    {make_newer,
	        "newer paperboy (store version 9, supported up to " G_STRINGIFY(
	            MIGRATE_VERSION) ")"},
	    {make_other, "another development version of paperboy: export"},
	    {make_foreign, "is a database of another program"},
	    {make_empty, "is empty, so it is not a store"},
	    {make_text, "is damaged or not a store"},
	    {make_damaged, "malformed"},
	    {make_directory, "is not a regular file"},
	    {make_log_alone, "is missing, but its log"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *directory = g_dir_make_tmp("pb-store-XXXXXX", NULL);
		g_autofree char *path =
		    g_build_filename(directory, "paperboy.db", NULL);
		g_autofree char *before = NULL, *after = NULL;
		gsize before_size = 0, after_size = 0;

		rows[i].make(path);
		if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
			g_chmod(path, 0600);
		g_file_get_contents(path, &before, &before_size, NULL);
		g_assert_null(store_open(path, &error));
		g_assert_error(error, PB_ERROR, PB_ERROR_PERMANENT);
		if (!strstr(error->message, rows[i].says) ||
		    !strstr(error->message, path))
			g_test_fail_printf("row %zu: %s", i, error->message);
		g_file_get_contents(path, &after, &after_size, NULL);
		g_assert_cmpmem(before, before_size, after, after_size);
		store_fixture_remove_directory(directory);
	}
}

TEST(missing_directory_is_named)
{
	g_autoptr(GError) error = NULL;

	g_assert_null(store_open("/nonexistent/paperboy.db", &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_PERMANENT);
	g_assert_nonnull(strstr(error->message, "/nonexistent"));
	g_assert_nonnull(strstr(error->message, g_strerror(ENOENT)));
}

TEST(concurrent_creation_gives_one_store)
{
	g_autofree char *directory = g_dir_make_tmp("pb-store-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(directory, "paperboy.db", NULL);
	pid_t children[6];

	for (size_t i = 0; i < G_N_ELEMENTS(children); i++) {
		children[i] = fork();
		if (children[i] == 0) {
			struct store *store = store_open(path, NULL);
			bool is_ok = store && store_save_cursor(
			                          store, "made-up", (int64_t)i, NULL);

			store_free(store);
			_exit(is_ok ? 0 : 1);
		}
	}
	for (size_t i = 0; i < G_N_ELEMENTS(children); i++) {
		int status;

		g_assert_cmpint(waitpid(children[i], &status, 0), ==, children[i]);
		g_assert_cmpint(status, ==, 0);
	}
	store_fixture_remove_directory(directory);
}

/* ---- states that the schema rejects ---------------------------------------- */

#define CLAIM                                                                    \
	"UPDATE outbox SET state = 'SENDING', next_try_at = NULL, attempt = 1, " \
	"claimed_at = 1, holder = 0;"
#define END           "UPDATE outbox SET state = 'SENT', ended_at = 2, next_try_at = NULL;"
#define ADDRESS(text) "UPDATE subscriber SET address = " text " WHERE id = 1"

TEST(schema_rejects_invalid_states)
{
	/* SQL to get there, what is refused, and how; "": a server has another reason.
	 */
	CASES_FOREACH(row, "store_invalid", *first, *sql, *says) {
		pb_auto(store_fixture) fixture = store_fixture_new_filled();
		g_autofree char *says = NULL;

		store_fixture_run(fixture, row->first);
		says = store_fixture_try(fixture, row->sql);
		if (!says || !strstr(says, row->says))
			g_test_fail_printf(
			    "%s: %s", row->sql, says ? says : "accepted");
	}
}

TEST(schema_accepts_valid_states)
{
	static const char *const rows[] = {
	    ADDRESS("'j\xc3\xbcrgen@example.org'"),
	    ADDRESS("'o''neil+tag@[192.0.2.1]'"),
	    "UPDATE subscriber SET name = 'Ada \xe2\x80\x9c"
	    "A\xe2\x80\x9d Example'",
	    "UPDATE subscriber SET state = 'paused', paused_until = '2026-12-01',"
	    " next_due_at = 1",
	    "INSERT INTO suppression VALUES (hex(zeroblob(32)), 'complaint', 1)",
	    "UPDATE match SET papers = papers || ',2'",
	    "UPDATE outbox SET state = 'HELD', next_try_at = NULL",
	    "UPDATE outbox SET state = 'CANCELLED', ended_at = 1, next_try_at = NULL",
	    CLAIM END,
	    CLAIM "UPDATE outbox SET state = 'UNKNOWN', next_try_at = 3;" END,
	    "DELETE FROM outbox; DELETE FROM digest",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = store_fixture_new_filled();

		store_fixture_run(fixture, rows[i]);
	}
}

/* ---- failures in the middle ------------------------------------------------ */

static bool
claim_all(struct store *store, void *data, GError **error)
{
	const struct store_fixture *fixture = data;
	const struct outbox_claim claim = {.now = store_fixture_time(NOW),
	    .limit = 50,
	    .cache_key = "key",
	    .key = fixture->key};
	bool is_more;
	g_autoptr(GPtrArray) jobs = outbox_claim(store, &claim, &is_more, error);

	return jobs != NULL;
}

static bool
call_claim(struct store_fixture *fixture, void *data, GError **error)
{
	(void)data;
	return store_transact(fixture->store, claim_all, fixture, error);
}

static bool
save_results(struct store *store, void *data, GError **error)
{
	return outbox_save_results(store, data, store_fixture_time(NOW), error);
}

static bool
call_save_results(struct store_fixture *fixture, void *data, GError **error)
{
	struct outbox_result result = {.id = 1,
	    .end = *(enum outbox_status *)data,
	    .next_try_at = -1,
	    .code = 250};
	g_autoptr(GPtrArray) results = g_ptr_array_new();

	if (result.end == OUTBOX_DEFERRED || result.end == OUTBOX_RETURNED)
		result.next_try_at = store_fixture_time(NOW) + 60;
	g_ptr_array_add(results, &result);
	return store_transact(fixture->store, save_results, results, error);
}

static bool
build_digests(struct store_fixture *fixture, void *data, GError **error)
{
	struct digest_build_report report = {0};

	(void)data;
	return digest_build_run(fixture->store, fixture->key, NULL,
	    store_fixture_time(NOW) + CLOCK_DAY_S, &report, error);
}

static bool
save_batch(struct store *store, void *data, GError **error)
{
	g_autoptr(GPtrArray) listings =
	    g_ptr_array_new_with_free_func((GDestroyNotify)listing_free);
	const struct source_fetch batch = {.source = "made-up",
	    .day = "2026-11-20",
	    .fetched_at = store_fixture_time(NOW),
	    .status = SOURCE_FETCH_OK};
	struct papers_saved saved = {77, 77, 77, 77};
	bool is_ok;

	(void)data;
	for (int i = 1; i < 4; i++) {
		struct paper *paper = paper_new();

		paper->id = g_strdup_printf("2611.0000%d", i);
		paper->title = g_strdup("Another title");
		paper->abstract = g_strdup("");
		paper->url = g_strdup("https://example.org/");
		paper->upvotes = 9;
		g_ptr_array_add(listings, listing_new(paper, "2026-11-21"));
	}
	is_ok = papers_save_fetch(store, &batch, listings, &saved, error);
	g_assert_cmpuint(saved.listed, ==, is_ok ? 3 : 77);
	g_assert_cmpuint(saved.fresh, ==, is_ok ? 1 : 77);
	g_assert_cmpuint(saved.changed, ==, is_ok ? 2 : 77);
	return is_ok;
}

static bool
call_batch(struct store_fixture *fixture, void *data, GError **error)
{
	return store_transact(fixture->store, save_batch, data, error);
}

static bool
call_subscribe(struct store_fixture *fixture, void *data, GError **error)
{
	const struct subscribe_filter filters[] = {
	    {.text = "mamba"}, {.text = "diffusion upvotes:>=3"}};
	const struct subscribe_request request = {
	    .address = data,
	    .consent = STORE_FIXTURE_CONSENT,
	    .zone = "UTC",
	    .max_full = 20,
	    .filters = filters,
	    .filter_count = 2,
	    .who = "test",
	    .key = fixture->key,
	};
	pb_auto(subscriber) subscriber = subscribe_add(
	    fixture->store, &request, store_fixture_time(NOW), NULL, NULL, error);

	return subscriber != NULL;
}

static bool
call_remove(struct store_fixture *fixture, void *data, GError **error)
{
	return subscribe_remove(
	    fixture->store, data, "test", store_fixture_time(NOW), error);
}

static bool
call_remove_filter(struct store_fixture *fixture, void *data, GError **error)
{
	return subscribe_remove_filter(
	    fixture->store, data, 1, "test", store_fixture_time(NOW), error);
}

TEST(a_failure_anywhere_leaves_the_store_as_it_was)
{
	static enum outbox_status ends[] = {OUTBOX_SENT, OUTBOX_DEFERRED,
	    OUTBOX_RETURNED, OUTBOX_UNKNOWN, OUTBOX_FAILED, OUTBOX_REJECTED,
	    OUTBOX_HELD};
	static const struct {
		bool (*call)(struct store_fixture *fixture, void *data, GError **error);
		void *data;
		const char *first;
		unsigned least; /* minimum number of failures */
	} rows[] = {
	    {call_claim, NULL, "", 10},
	    {call_claim, NULL, "UPDATE subscriber SET state = 'paused' WHERE id = 1",
	        10},
	    {call_save_results, &ends[0], CLAIM, 10},
	    {call_save_results, &ends[1], CLAIM, 5},
	    {call_save_results, &ends[2], CLAIM, 5},
	    {call_save_results, &ends[3], CLAIM, 10},
	    {call_save_results, &ends[4], CLAIM, 10},
	    {call_save_results, &ends[5], CLAIM, 10},
	    {call_save_results, &ends[6], CLAIM, 5},
	    {call_batch, NULL, "", 20},
	    {call_subscribe, (void *)"new@example.org", "", 20},
	    {call_subscribe, (void *)"gone@example.org", "", 20},
	    {call_remove, (void *)"ada@example.org", "", 10},
	    {call_remove_filter, (void *)"ada@example.org", "", 10},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = store_fixture_new_filled();
		unsigned failures;

		store_fixture_run(fixture, rows[i].first);
		failures = store_fixture_fail_everywhere(
		    fixture, rows[i].call, rows[i].data, true);
		g_test_message("row %zu failed %u times", i, failures);
		g_assert_cmpuint(
		    failures, >=, store_fixture_get_least(fixture, rows[i].least));
	}
}

#define FILLED_TEST(function) \
	TEST_WITH(function, store_fixture, fixture, store_fixture_new_filled())

FILLED_TEST(deleting_a_filter_deletes_its_matches)
{
	store_fixture_run(fixture,
	    "DELETE FROM match; INSERT INTO match VALUES"
	    " (1, 0, '1'), (1, 1, '2'); DELETE FROM subscription;"
	    "DELETE FROM filter WHERE id = 1");
	assert_rows(fixture, "SELECT count(*) FROM match", "0");
}

FILLED_TEST(failed_digest_is_built_in_the_next_run)
{
	store_fixture_run(fixture, "DELETE FROM match_pending;"
	                           "INSERT INTO match VALUES (1, 0, '2')");
	/* It commits page by page; committed digests remain, without duplicates. */
	g_assert_cmpuint(
	    store_fixture_fail_everywhere(fixture, build_digests, NULL, false), >=, 20);
	assert_rows(fixture, "SELECT count(*) FROM digest", "2");
}

/* ---- transactions ---------------------------------------------------------- */

/* A work function writes cursor 1, its inner one 2, and then it writes 3. */
struct nesting {
	struct store_fixture *fixture;
	bool fails_inside, fails_outside, ignores_inner;
	unsigned conflicts; /* left, in the inner transaction */
	unsigned runs;
};

static bool
write_inside(struct store *store, void *data, GError **error)
{
	struct nesting *nesting = data;

	if (!store_save_cursor(store, "2", 1, error))
		return false;
	if (nesting->conflicts) {
		nesting->conflicts--;
		store->has_conflict = true;
	}
	return !nesting->fails_inside ||
	       pb_fail(error, PB_ERROR_NOT_FOUND, "inner failure");
}

static bool
write_outside(struct store *store, void *data, GError **error)
{
	struct nesting *nesting = data;
	g_autoptr(GError) problem = NULL;

	nesting->runs++;
	if (!store_save_cursor(store, "1", 1, error))
		return false;
	if (!store_transact(store, write_inside, nesting, &problem) &&
	    !nesting->ignores_inner)
		return pb_error_forward(error, &problem);
	if (!store_save_cursor(store, "3", 1, error))
		return false;
	return !nesting->fails_outside ||
	       pb_fail(error, PB_ERROR_LIMIT, "outer failure");
}

static bool
write_both(struct nesting *nesting, GError **error)
{
	bool is_ok;

	nesting->fixture = store_fixture_new();
	store_set_rerun(nesting->fixture->store, false);
	is_ok = store_transact(nesting->fixture->store, write_outside, nesting, error);
	store_fixture_assert_idle(nesting->fixture);
	return is_ok;
}

#define CURSORS "SELECT name FROM cursor WHERE name < '4' ORDER BY name"

TEST(nested_transaction_is_part_of_the_outer_one)
{
	static const struct {
		bool fails_inside, fails_outside, ignores_inner;
		int code; /* -1: none */
		const char *wanted;
	} cases[] = {
	    {false, false, false, -1, "1 2 3"},
	    {true, false, true, -1, "1 3"},
	    {true, false, false, PB_ERROR_NOT_FOUND, ""},
	    {false, true, false, PB_ERROR_LIMIT, ""},
	    {true, true, true, PB_ERROR_LIMIT, ""},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct nesting nesting = {.fails_inside = cases[i].fails_inside,
		    .fails_outside = cases[i].fails_outside,
		    .ignores_inner = cases[i].ignores_inner};
		g_autoptr(GError) error = NULL;
		bool is_ok = write_both(&nesting, &error);

		g_assert_cmpint(error ? error->code : -1, ==, cases[i].code);
		g_assert_true(is_ok == !error);
		assert_rows(nesting.fixture, CURSORS, cases[i].wanted);
		store_fixture_free(nesting.fixture);
	}
}

TEST(transaction_with_a_conflict_runs_again_as_a_whole)
{
	static const struct {
		bool fails_inside, ignores_inner;
		unsigned conflicts, runs;
		const char *wanted;
	} cases[] = {
	    {false, false, 1, 2, "1 2 3"},
	    {false, true, 3, 4, "1 2 3"},
	    /* Its failure is not the last one. */
	    {true, true, 2, 3, "1 3"},
	    {false, false, 1000, 14, ""},
	    {false, true, 1000, 14, ""},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct nesting nesting = {.fails_inside = cases[i].fails_inside,
		    .ignores_inner = cases[i].ignores_inner,
		    .conflicts = cases[i].conflicts};
		g_autoptr(GError) error = NULL;
		bool is_ok = write_both(&nesting, &error);

		g_assert_cmpuint(nesting.runs, ==, cases[i].runs);
		if (*cases[i].wanted)
			g_assert_no_error(error);
		else
			g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
		g_assert_true(is_ok == !error);
		assert_rows(nesting.fixture, CURSORS, cases[i].wanted);
		store_fixture_free(nesting.fixture);
	}
}

static bool
count_up(struct store *store, void *data, GError **error)
{
	unsigned *runs = data;
	int64_t value;

	++*runs;
	return store_load_cursor(store, "1", 0, &value, error) &&
	       store_save_cursor(store, "1", value + 1, error);
}

STORE_TEST(work_runs_twice_for_one_commit_in_tests)
{
	unsigned runs = 0;

	store_set_rerun(fixture->store, true);
	g_assert_true(store_transact(fixture->store, count_up, &runs, NULL));
	g_assert_cmpuint(runs, ==, 2);
	assert_rows(fixture, "SELECT value FROM cursor WHERE name = '1'", "1");
}

STORE_TEST(snapshot_does_not_change_until_its_end)
{
	pb_auto(store) other = store_open(fixture->path, NULL);
	unsigned runs = 0;
	int64_t value;

	{
		pb_snapshot snapshot = {0};
		pb_snapshot inner = {0};

		g_assert_true(store_begin_reading(fixture->store, &snapshot, NULL));
		store_load_cursor(fixture->store, "1", 0, &value, NULL);
		g_assert_true(store_transact(other, count_up, &runs, NULL));
		g_assert_true(store_begin_reading(fixture->store, &inner, NULL));
		store_load_cursor(fixture->store, "1", 0, &value, NULL);
		g_assert_cmpint(value, ==, 0);
	}
	store_fixture_assert_idle(fixture);
	store_load_cursor(fixture->store, "1", 0, &value, NULL);
	g_assert_cmpint(value, ==, 1);
}

FILLED_TEST(rejected_row_leaves_no_statement_open)
{
	struct subscriber subscriber = {
	    .address = (char *)"a\n@b.example",
	    .address_key = (char *)"key",
	    .state = SUBSCRIBER_PENDING,
	    .schedule = {.weekdays = 1},
	    .zone = (char *)"UTC",
	    .max_full = 1,
	    .consent_at = -1,
	    .next_due_at = -1,
	};

	FAILS(PB_ERROR_INPUT, subscribers_insert(fixture->store, &subscriber, &error));
	g_assert_cmpint(subscriber.id, ==, 0);
	store_fixture_assert_idle(fixture);
}

UNIT_MAIN
