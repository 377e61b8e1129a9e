/*
 * store_fixture.c - a store in its own directory, filled by the test, at a simulated
 * time.
 */
#include "store_fixture.h"

#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

#include "digest_views.h"
#include "errors.h"
#include "service/digest/digest_build.h"
#include "service/match/match.h"
#include "service/people/subscribe.h"
#include "sources/huggingface.h"
#include "store/core/engine.h"
#include "store/core/transaction.h"
#include "store/paper/archive.h"
#include "store/paper/archive_cache.h"
#include "store/paper/papers.h"
#include "store_server.h"

static int64_t
load_status_line(const struct clock *clock)
{
	return clock->at_s;
}

static bool
is_rerun(void)
{
	return g_getenv("PAPERBOY_TEST_RERUN") != NULL;
}

struct store *
store_fixture_open(const struct store_fixture *fixture)
{
	g_autofree char *archive =
	    g_build_filename(fixture->directory, "archive.db", NULL);
	struct store *store = NO_ERROR(store_open(fixture->path, &error));

	if (store->postgresql) {
		NO_ERROR(archive_cache_open(store, archive, &error));
	}
	return store;
}

struct store_fixture *
store_fixture_new(void)
{
	struct store_fixture *fixture = g_new0(struct store_fixture, 1);

	fixture->directory = NO_ERROR(g_dir_make_tmp("pb-test-XXXXXX", &error));
	fixture->path = store_server_create();
	if (!fixture->path)
		fixture->path =
		    g_build_filename(fixture->directory, "paperboy.db", NULL);
	fixture->store = store_fixture_open(fixture);
	store_set_rerun(fixture->store, is_rerun());
	fixture->clock.read = load_status_line;
	fixture->key = g_bytes_new_static(STORE_FIXTURE_KEY, strlen(STORE_FIXTURE_KEY));
	return fixture;
}

void
store_fixture_remove_directory(const char *directory)
{
	GDir *dir = g_dir_open(directory, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(directory, name, NULL);

		if (g_file_test(path, G_FILE_TEST_IS_DIR) &&
		    !g_file_test(path, G_FILE_TEST_IS_SYMLINK))
			store_fixture_remove_directory(path);
		else
			g_unlink(path);
	}
	if (dir)
		g_dir_close(dir);
	g_rmdir(directory);
}

void
store_fixture_free(struct store_fixture *fixture)
{
	if (!fixture)
		return;
	store_free(fixture->store);
	if (store_is_server(fixture->path))
		store_server_drop(fixture->path);
	g_bytes_unref(fixture->key);
	store_fixture_remove_directory(fixture->directory);
	g_free(fixture->directory);
	g_free(fixture->path);
	g_free(fixture);
}

int64_t
store_fixture_time(const char *text)
{
	g_autoptr(GDateTime) time = g_date_time_new_from_iso8601(text, NULL);

	g_assert_nonnull(time);
	return g_date_time_to_unix(time);
}

void
store_fixture_set_now(struct store_fixture *fixture, int64_t now)
{
	fixture->clock.at_s = now;
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of all files of whole days, without those of the next day. */
static GPtrArray *
list_days(const char *directory)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	GDir *dir = g_dir_open(directory, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		if (g_regex_match_simple(
		        "^daily_papers-\\d{4}-\\d\\d-\\d\\d\\.json$", name, 0, 0))
			g_ptr_array_add(names, g_strdup(name));
	if (dir)
		g_dir_close(dir);
	g_ptr_array_sort(names, compare_names);
	return names;
}

struct fetched {
	const struct source_fetch *fetch;
	const GPtrArray *listings;
};

static bool
save_fetched(struct store *store, void *data, GError **error)
{
	const struct fetched *fetched = data;
	struct papers_saved saved;

	return papers_save_fetch(
	    store, fetched->fetch, fetched->listings, &saved, error);
}

static void
save_fetch(struct store_fixture *fixture, const struct source_fetch *fetch,
    const GPtrArray *listings)
{
	struct fetched fetched = {fetch, listings};

	NO_ERROR(store_transact(fixture->store, save_fetched, &fetched, &error));
}

unsigned
store_fixture_fill_real(struct store_fixture *fixture)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *directory =
	    g_build_filename(top ? top : ".", "..", "shared", "data", NULL);
	g_autoptr(GPtrArray) names = list_days(directory);

	for (unsigned i = 0; i < names->len; i++) {
		g_autofree char *path =
		    g_build_filename(directory, names->pdata[i], NULL);
		g_autofree char *day =
		    g_strndup((char *)names->pdata[i] + strlen("daily_papers-"), 10);
		g_autofree char *noon = g_strconcat(day, "T12:00:00Z", NULL);
		g_autoptr(GPtrArray) listings = NULL;
		g_autoptr(GBytes) bytes = NULL;
		struct source_fetch batch = {
		    .source = "hf", .day = day, .status = SOURCE_FETCH_OK};
		char *text = NULL;
		struct json_page page = {.total = -1};
		size_t size;

		NO_ERROR(g_file_get_contents(path, &text, &size, &error));
		bytes = g_bytes_new_take(text, size);
		listings = NO_ERROR(huggingface_parse(bytes, NULL, day, &page, &error));
		g_free(page.next);
		listings = source_merge_listings(listings);
		batch.fetched_at = store_fixture_time(noon);
		save_fetch(fixture, &batch, listings);
	}
	return names->len;
}

struct paper *
store_fixture_paper(const char *id, const char *title, const char *abstract)
{
	struct paper *paper = paper_new();

	paper->id = g_strdup(id);
	paper->title = g_strdup(title);
	paper->abstract = g_strdup(abstract);
	paper->url = g_strdup_printf("https://example.org/%s", id);
	g_ptr_array_add(paper->authors, g_strdup("Ada Example"));
	return paper;
}

void
store_fixture_save(struct store_fixture *fixture, const char *source, const char *day,
    int64_t at, struct paper *paper)
{
	store_fixture_announce(fixture, source, day, at, paper, LISTING_NEW, 0);
}

void
store_fixture_save_copies(struct store_fixture *fixture,
    const struct store_fixture_copies *rows, size_t count, unsigned number)
{
	for (size_t i = 0; i < count; i++)
		for (unsigned k = 0; k < rows[i].count; k++) {
			g_autofree char *id = g_strdup_printf("2611.%05u", ++number);

			store_fixture_save(fixture, "hf", "2026-11-18",
			    store_fixture_time("2026-11-18T12:00:00Z"),
			    store_fixture_paper(id, rows[i].title, rows[i].abstract));
		}
}

void
store_fixture_announce(struct store_fixture *fixture, const char *source,
    const char *day, int64_t at, struct paper *paper, enum listing_type listing_type,
    unsigned version)
{
	struct listing *listing = listing_new(paper, day);
	g_autoptr(GPtrArray) listings =
	    g_ptr_array_new_with_free_func((GDestroyNotify)listing_free);
	struct source_fetch batch = {
	    .source = source,
	    .day = day,
	    .fetched_at = at,
	    .status = SOURCE_FETCH_OK,
	};

	listing->listing_type = listing_type;
	listing->version = version;
	g_ptr_array_add(listings, listing);
	save_fetch(fixture, &batch, listings);
}

void
store_fixture_enrich(
    struct store_fixture *fixture, const char *id, const char *categories, int64_t at)
{
	struct paper *paper = store_fixture_paper(id, "", "");
	g_autoptr(GPtrArray) papers =
	    g_ptr_array_new_with_free_func((GDestroyNotify)paper_free);
	g_auto(GStrv) names = g_strsplit(categories, " ", -1);
	struct papers_saved saved;

	paper->categories = g_ptr_array_new_with_free_func(g_free);
	for (char **name = names; *name; name++)
		g_ptr_array_add(paper->categories, g_strdup(*name));
	g_ptr_array_add(papers, paper);
	NO_ERROR(papers_save_lookup(
	    fixture->store, PAPER_LOOKUP_ARXIV, papers, NULL, at, &saved, &error));
	g_assert_cmpuint(saved.listed, ==, 1);
}

void
store_fixture_list(struct store_fixture *fixture, const char *day, const char *id,
    const char *title, int64_t upvotes)
{
	g_autofree char *noon = g_strconcat(day, "T12:00:00Z", NULL);
	struct paper *paper = store_fixture_paper(id, title, "");

	paper->upvotes = upvotes;
	store_fixture_save(fixture, "made-up", day, store_fixture_time(noon), paper);
}

int64_t
store_fixture_subscribe(struct store_fixture *fixture, const char *address,
    const char *zone, const char *filter, int64_t now)
{
	const struct subscribe_filter filters[] = {{.text = filter}};
	const struct subscribe_request request = {
	    .address = address,
	    .consent = STORE_FIXTURE_CONSENT,
	    .zone = zone,
	    .schedule = {.frequency = SCHEDULE_DAILY, .minute = 7 * 60 + 30},
	    .max_full = 20,
	    .filters = filters,
	    .filter_count = filter ? 1 : 0,
	    .who = "test",
	    .key = fixture->key,
	};
	pb_auto(subscriber) subscriber =
	    NO_ERROR(subscribe_add(fixture->store, &request, now, NULL, NULL, &error));

	return subscriber->id;
}

static void
add_filter(struct store_fixture *fixture, const char *address, const char *filter,
    bool is_block, int64_t now)
{
	const struct subscribe_filter wanted = {.text = filter, .is_block = is_block};
	pb_auto(subscription) subscription = NO_ERROR(subscribe_add_filter(
	    fixture->store, address, &wanted, "test", now, NULL, NULL, &error));

	g_assert_nonnull(subscription);
}

void
store_fixture_add_filter(
    struct store_fixture *fixture, const char *address, const char *filter, int64_t now)
{
	add_filter(fixture, address, filter, false, now);
}

void
store_fixture_add_block(
    struct store_fixture *fixture, const char *address, const char *filter, int64_t now)
{
	add_filter(fixture, address, filter, true, now);
}

unsigned
store_fixture_build_digests(struct store_fixture *fixture, int64_t now)
{
	struct match_report matched = {0};
	struct digest_build_report made = {0};

	NO_ERROR(match_run(fixture->store, now, &matched, &error));
	NO_ERROR(
	    digest_build_run(fixture->store, fixture->key, NULL, now, &made, &error));
	return made.digests;
}

void
store_fixture_run(struct store_fixture *fixture, const char *sql)
{
	g_autofree char *refusal = store_fixture_try(fixture, sql);

	if (refusal)
		g_error("%s: %s", sql, refusal);
}

/* The handle for SQL, also for the tables of the archive; NULL: the server. */
static sqlite3 *
find_db(const struct store_fixture *fixture, const char *sql)
{
	bool is_archive =
	    g_regex_match_simple("\\b(paper_fts|vocabulary|acronym)\\b", sql, 0, 0);

	if (!fixture->store->postgresql)
		return fixture->store->db;
	return is_archive ? store_get_archive(fixture->store)->db : NULL;
}

char *
store_fixture_try(struct store_fixture *fixture, const char *sql)
{
	char *message = NULL;
	char *copy = NULL;

	digest_views_load(fixture->store, sql);
	if (!find_db(fixture, sql)) {
		copy = store_server_try(fixture->store, sql);
	} else if (sqlite3_exec(find_db(fixture, sql), sql, NULL, NULL, &message) !=
	           SQLITE_OK) {
		copy = g_strdup(message);
		sqlite3_free(message);
	}
	if (!copy)
		digest_views_save(fixture->store, sql);
	return copy;
}

void
store_fixture_set_sequence(
    struct store_fixture *fixture, const char *table, int64_t last)
{
	g_autofree char *sql =
	    fixture->store->postgresql
	        ? g_strdup_printf(
	              "ALTER TABLE %s ALTER id RESTART WITH %" G_GINT64_FORMAT, table,
	              last + 1)
	        : g_strdup_printf(
	              "DELETE FROM sqlite_sequence WHERE name = '%s'; INSERT INTO"
	              " sqlite_sequence VALUES ('%s', %" G_GINT64_FORMAT ")",
	              table, table, last);

	store_fixture_run(fixture, sql);
}

/* Rebuild, count the rows that differ from before, and roll back. */
static char *
compare_with_rebuilt(struct store_fixture *fixture, const char *what, const char *rows)
{
	g_autofree char *save = g_strdup_printf("CREATE TEMP TABLE before AS %s", rows);
	g_autofree char *count = g_strdup_printf(
	    "SELECT count(DISTINCT key) FROM (SELECT * FROM (SELECT * FROM before"
	    " EXCEPT %s) UNION ALL SELECT * FROM (%s EXCEPT SELECT * FROM before))",
	    rows, rows);
	struct store *archive = store_get_archive(fixture->store);
	g_autofree char *wrong = NULL;
	pb_transaction transaction = {0};

	g_assert_true(store_begin(archive, &transaction, NULL));
	store_fixture_run(fixture, save);
	NO_ERROR(archive_rebuild(archive, &error));
	wrong = store_fixture_text(fixture, count);
	return g_str_equal(wrong, "0")
	           ? NULL
	           : g_strdup_printf("%s %s have wrong counts", wrong, what);
}

char *
store_fixture_check_archive(struct store_fixture *fixture)
{
	g_autofree char *damage = store_fixture_try(fixture,
	    "INSERT INTO paper_fts (paper_fts, rank) VALUES ('integrity-check', 1)");
	char *problem = NULL;

	NO_ERROR(
	    archive_check_counts(store_get_archive(fixture->store), &problem, &error));
	if (!problem && damage)
		problem =
		    g_strdup("the index is damaged, or does not match the papers");
	if (!problem)
		problem = compare_with_rebuilt(
		    fixture, "words", "SELECT text AS key, papers FROM vocabulary");
	if (!problem)
		problem = compare_with_rebuilt(fixture, "short forms",
		    "SELECT short || char(9) || long AS key, papers FROM acronym");
	return problem;
}

static sqlite3_stmt *
prepare(struct store_fixture *fixture, const char *sql)
{
	sqlite3 *db = find_db(fixture, sql);
	sqlite3_stmt *statement = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		g_error("%s: %s", sql, sqlite3_errmsg(db));
	return statement;
}

int64_t
store_fixture_number(struct store_fixture *fixture, const char *sql)
{
	sqlite3_stmt *statement;
	int64_t number = -1;

	digest_views_load(fixture->store, sql);
	if (!find_db(fixture, sql))
		return store_server_number(fixture->store, sql);
	statement = prepare(fixture, sql);
	if (sqlite3_step(statement) == SQLITE_ROW)
		number = sqlite3_column_type(statement, 0) == SQLITE_NULL
		             ? -1
		             : sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return number;
}

char *
store_fixture_text(struct store_fixture *fixture, const char *sql)
{
	sqlite3_stmt *statement;
	GString *text;

	digest_views_load(fixture->store, sql);
	if (!find_db(fixture, sql))
		return store_server_text(fixture->store, sql);
	statement = prepare(fixture, sql);
	text = g_string_new(NULL);
	while (sqlite3_step(statement) == SQLITE_ROW) {
		if (text->len)
			g_string_append_c(text, ' ');
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			const char *cell =
			    (const char *)sqlite3_column_text(statement, i);

			g_string_append_printf(
			    text, "%s%s", i ? "|" : "", cell ? cell : "-");
		}
	}
	sqlite3_finalize(statement);
	return g_string_free(text, FALSE);
}

char *
store_fixture_format_plans(struct store_fixture *fixture)
{
	GString *plans = g_string_new(NULL);
	GHashTableIter iter;
	gpointer sql;

	g_hash_table_iter_init(&iter, fixture->store->statements);
	while (g_hash_table_iter_next(&iter, &sql, NULL)) {
		g_autofree char *explain =
		    g_strconcat("EXPLAIN QUERY PLAN ", (const char *)sql, NULL);
		g_autofree char *plan = store_fixture_text(fixture, explain);

		g_string_append_printf(plans, "%s\n    %s\n", (const char *)sql, plan);
	}
	return g_string_free(plans, FALSE);
}

char *
store_fixture_hash(struct store_fixture *fixture)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	g_autofree char *tables = NULL;
	g_auto(GStrv) names = NULL;

	if (fixture->store->postgresql)
		return store_server_hash(fixture->store);
	tables = store_fixture_text(fixture,
	    "SELECT name FROM sqlite_schema WHERE type = 'table'"
	    " AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'paper_fts*'"
	    " ORDER BY name");
	names = g_strsplit(tables, " ", -1);

	for (char **name = names; *name; name++) {
		g_autofree char *sql =
		    g_strdup_printf("SELECT *, 0, 0 FROM %s ORDER BY 1, 2, 3", *name);
		g_autofree char *text = NULL;

		if (strcmp(*name, "cursor") == 0)
			strstr(sql, ", 3")[0] = '\0';
		text = store_fixture_text(fixture, sql);
		g_checksum_update(sum, (const guchar *)text, (gssize)strlen(text));
	}
	return g_strdup(g_checksum_get_string(sum));
}

void
store_fixture_assert_idle(struct store_fixture *fixture)
{
	sqlite3_stmt *statement = NULL;

	if (fixture->store->postgresql) {
		g_assert_false(fixture->store->engine->is_open(fixture->store));
		return;
	}
	while ((statement = sqlite3_next_stmt(fixture->store->db, statement)))
		if (sqlite3_stmt_busy(statement))
			g_error("still open: %s", sqlite3_sql(statement));
	g_assert_true(sqlite3_get_autocommit(fixture->store->db));
}

static bool
is_any_running(sqlite3 *db)
{
	sqlite3_stmt *statement = NULL;

	while ((statement = sqlite3_next_stmt(db, statement)))
		if (sqlite3_stmt_busy(statement))
			return true;
	return false;
}

static int
count_down(void *data)
{
	struct store_fixture *fixture = data;

	/* SQLite would call a commit interrupted that it has just made; no real
	 * failure does that. */
	if (!fixture->steps_left ||
	    (fixture->steps_left == 1 && !is_any_running(fixture->store->db)))
		return 0;
	return --fixture->steps_left == 0;
}

void
store_fixture_interrupt_at(struct store_fixture *fixture, int nth)
{
	if (fixture->store->postgresql) {
		store_server_fail_at(fixture->store, nth);
		return;
	}
	fixture->steps_left = nth;
	sqlite3_progress_handler(
	    fixture->store->db, nth ? 1 : 0, nth ? count_down : NULL, fixture);
}

static int
refuse_commit(void *data)
{
	(void)data;
	return 1;
}

static void
set_commits(struct store_fixture *fixture, bool are_failing)
{
	if (fixture->store->postgresql)
		store_server_fail_commits(fixture->store, are_failing);
	else
		sqlite3_commit_hook(
		    fixture->store->db, are_failing ? refuse_commit : NULL, NULL);
}

static void
assert_same(struct store_fixture *fixture, const char *before)
{
	g_autofree char *after = store_fixture_hash(fixture);

	g_assert_cmpstr(before, ==, after);
}

unsigned
store_fixture_fail_everywhere(struct store_fixture *fixture,
    bool (*call)(struct store_fixture *fixture, void *data, GError **error), void *data,
    bool is_whole)
{
	g_autofree char *before = store_fixture_hash(fixture);
	g_autoptr(GError) refusal = NULL;
	unsigned failures = 0;
	int nth = 1;

	/* It would end at the rollback of a first run, which cannot fail. */
	store_set_rerun(fixture->store, false);
	set_commits(fixture, true);
	g_assert_false(call(fixture, data, &refusal));
	set_commits(fixture, false);
	g_assert_nonnull(refusal);
	store_fixture_assert_idle(fixture);
	assert_same(fixture, before);
	for (;;) {
		g_autoptr(GError) error = NULL;
		bool is_ok;

		store_fixture_interrupt_at(fixture, nth);
		is_ok = call(fixture, data, &error);
		store_fixture_interrupt_at(fixture, 0);
		store_fixture_assert_idle(fixture);
		if (is_ok) {
			g_assert_no_error(error);
			store_set_rerun(fixture->store, is_rerun());
			return failures;
		}
		g_assert_nonnull(error);
		failures++;
		if (is_whole)
			assert_same(fixture, before);
		/* Densely at first, where most steps begin, then in strides. */
		nth += !fixture->store->postgresql ? nth < 200 ? 3 : nth / 20
		       : nth < 40                  ? 1
		                                   : nth / 20;
	}
}

unsigned
store_fixture_get_least(const struct store_fixture *fixture, unsigned steps)
{
	return fixture->store->postgresql ? (steps + 2) / 3 : steps;
}

struct store_fixture *
store_fixture_new_filled(void)
{
	struct store_fixture *fixture = store_fixture_new();
	int64_t now = store_fixture_time("2026-11-20T09:00:00Z");

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
	store_fixture_list(fixture, "2026-11-20", "2611.00002", "Mamba", 3);
	g_assert_cmpint(store_fixture_subscribe(fixture, "ada@example.org", "UTC",
	                    "diffusion upvotes:>=3", now),
	    ==, 1);
	store_fixture_subscribe(fixture, "pending@example.org", "UTC", NULL, now);
	store_fixture_subscribe(fixture, "gone@example.org", "UTC", NULL, now);
	assert_digests(fixture, now, 1);
	store_fixture_run(fixture,
	    "UPDATE subscriber SET state = 'pending' WHERE id = 2;"
	    "UPDATE subscriber SET state = 'gone', next_due_at = NULL WHERE id = 3;"
	    "INSERT INTO match_pending VALUES (1, 2, 0, 9)");
	return fixture;
}
