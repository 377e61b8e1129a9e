/*
 * lab.c - a store in a folder of its own, filled by hand, at a made-up time.
 */
#include "lab.h"

#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

#include "service/edition.h"
#include "service/match.h"
#include "service/subscribe.h"
#include "sources/huggingface_parse.h"
#include "store/papers.h"
#include "store/sql.h"

static int64_t
read_standing(const struct clock *clock)
{
	return clock->at_s;
}

struct lab *
lab_new(void)
{
	struct lab *lab = g_new0(struct lab, 1);
	g_autoptr(GError) error = NULL;

	lab->folder = g_dir_make_tmp("pb-lab-XXXXXX", &error);
	g_assert_no_error(error);
	lab->path = g_build_filename(lab->folder, "paperboy.db", NULL);
	lab->store = store_open(lab->path, &error);
	g_assert_no_error(error);
	lab->clock.read = read_standing;
	lab->key = g_bytes_new_static(LAB_KEY, strlen(LAB_KEY));
	return lab;
}

void
lab_remove_folder(const char *folder)
{
	GDir *dir = g_dir_open(folder, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(folder, name, NULL);

		if (g_file_test(path, G_FILE_TEST_IS_DIR) &&
		    !g_file_test(path, G_FILE_TEST_IS_SYMLINK))
			lab_remove_folder(path);
		else
			g_unlink(path);
	}
	if (dir)
		g_dir_close(dir);
	g_rmdir(folder);
}

void
lab_free(struct lab *lab)
{
	if (!lab)
		return;
	store_free(lab->store);
	g_bytes_unref(lab->key);
	lab_remove_folder(lab->folder);
	g_free(lab->folder);
	g_free(lab->path);
	g_free(lab);
}

int64_t
lab_time(const char *text)
{
	g_autoptr(GDateTime) time = g_date_time_new_from_iso8601(text, NULL);

	g_assert_nonnull(time);
	return g_date_time_to_unix(time);
}

void
lab_set_now(struct lab *lab, int64_t now)
{
	lab->clock.at_s = now;
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of all files of whole days, without those of the next day. */
static GPtrArray *
list_days(const char *folder)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	GDir *dir = g_dir_open(folder, 0, NULL);
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

unsigned
lab_fill_real(struct lab *lab)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *folder =
	    g_build_filename(top ? top : ".", "..", "shared", "data", NULL);
	g_autoptr(GPtrArray) names = list_days(folder);

	for (unsigned i = 0; i < names->len; i++) {
		g_autofree char *path = g_build_filename(folder, names->pdata[i], NULL);
		g_autofree char *day =
		    g_strndup((char *)names->pdata[i] + strlen("daily_papers-"), 10);
		g_autofree char *noon = g_strconcat(day, "T12:00:00Z", NULL);
		g_autoptr(GPtrArray) listings = NULL;
		g_autoptr(GBytes) bytes = NULL;
		g_autoptr(GError) error = NULL;
		struct batch batch = {.source = "hf", .day = day, .status = BATCH_OK};
		struct papers_saved saved;
		char *text = NULL;
		size_t size, elements;

		g_file_get_contents(path, &text, &size, &error);
		g_assert_no_error(error);
		bytes = g_bytes_new_take(text, size);
		listings = huggingface_parse_page(bytes, day, &elements, &error);
		g_assert_no_error(error);
		batch.asked_at = lab_time(noon);
		papers_save_batch(lab->store, &batch, listings, &saved, &error);
		g_assert_no_error(error);
	}
	return names->len;
}

struct paper *
lab_paper(const char *id, const char *title, const char *abstract)
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
lab_save(struct lab *lab, const char *source, const char *day, int64_t at,
    struct paper *paper)
{
	lab_announce(lab, source, day, at, paper, ANNOUNCEMENT_NEW, 0);
}

void
lab_announce(struct lab *lab, const char *source, const char *day, int64_t at,
    struct paper *paper, enum announcement announcement, unsigned version)
{
	struct listing *listing = listing_new(paper, day);
	g_autoptr(GPtrArray) listings =
	    g_ptr_array_new_with_free_func((GDestroyNotify)listing_free);
	g_autoptr(GError) error = NULL;
	struct batch batch = {
	    .source = source,
	    .day = day,
	    .asked_at = at,
	    .status = BATCH_OK,
	};
	struct papers_saved saved;

	listing->announcement = announcement;
	listing->version = version;
	g_ptr_array_add(listings, listing);
	papers_save_batch(lab->store, &batch, listings, &saved, &error);
	g_assert_no_error(error);
}

void
lab_enrich(struct lab *lab, const char *id, const char *categories, int64_t at)
{
	struct paper *paper = lab_paper(id, "", "");
	g_autoptr(GPtrArray) papers =
	    g_ptr_array_new_with_free_func((GDestroyNotify)paper_free);
	g_auto(GStrv) names = g_strsplit(categories, " ", -1);
	g_autoptr(GError) error = NULL;
	struct papers_saved saved;

	paper->categories = g_ptr_array_new_with_free_func(g_free);
	for (char **name = names; *name; name++)
		g_ptr_array_add(paper->categories, g_strdup(*name));
	g_ptr_array_add(papers, paper);
	papers_save_enrichment(lab->store, papers, at, &saved, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(saved.listed, ==, 1);
}

void
lab_list(struct lab *lab, const char *day, const char *id, const char *title,
    int64_t upvotes)
{
	g_autofree char *noon = g_strconcat(day, "T12:00:00Z", NULL);
	struct paper *paper = lab_paper(id, title, "");

	paper->upvotes = upvotes;
	lab_save(lab, "made-up", day, lab_time(noon), paper);
}

int64_t
lab_subscribe(struct lab *lab, const char *address, const char *zone,
    const char *filter, int64_t now)
{
	const struct subscribe_filter filters[] = {{.text = filter}};
	const struct subscribe_request request = {
	    .address = address,
	    .consent = LAB_CONSENT,
	    .zone = zone,
	    .rhythm = {.cadence = RHYTHM_DAILY, .minute = 7 * 60 + 30},
	    .max_full = 20,
	    .filters = filters,
	    .filter_count = filter ? 1 : 0,
	    .who = "test",
	    .key = lab->key,
	};
	g_autoptr(GError) error = NULL;
	pb_auto(subscriber) subscriber =
	    subscribe_add(lab->store, &request, now, NULL, NULL, &error);

	g_assert_no_error(error);
	return subscriber->id;
}

static void
add_filter(struct lab *lab, const char *address, const char *filter, bool is_block,
    int64_t now)
{
	const struct subscribe_filter wanted = {.text = filter, .is_block = is_block};
	g_autoptr(GError) error = NULL;
	pb_auto(subscription) subscription = subscribe_add_filter(
	    lab->store, address, &wanted, "test", now, NULL, NULL, &error);

	g_assert_no_error(error);
	g_assert_nonnull(subscription);
}

void
lab_add_filter(struct lab *lab, const char *address, const char *filter, int64_t now)
{
	add_filter(lab, address, filter, false, now);
}

void
lab_add_block(struct lab *lab, const char *address, const char *filter, int64_t now)
{
	add_filter(lab, address, filter, true, now);
}

unsigned
lab_press(struct lab *lab, int64_t now)
{
	struct match_report matched = {0};
	struct edition_report made = {0};
	g_autoptr(GError) error = NULL;

	match_run(lab->store, now, &matched, &error);
	g_assert_no_error(error);
	edition_run(lab->store, lab->key, NULL, now, &made, &error);
	g_assert_no_error(error);
	return made.digests;
}

void
lab_run(struct lab *lab, const char *sql)
{
	g_autofree char *refusal = lab_try(lab, sql);

	if (refusal)
		g_error("%s: %s", sql, refusal);
}

char *
lab_try(struct lab *lab, const char *sql)
{
	char *message = NULL;
	char *copy = NULL;

	if (sqlite3_exec(lab->store->db, sql, NULL, NULL, &message) != SQLITE_OK)
		copy = g_strdup(message);
	sqlite3_free(message);
	return copy;
}

static sqlite3_stmt *
prepare(struct lab *lab, const char *sql)
{
	sqlite3_stmt *statement = NULL;

	if (sqlite3_prepare_v2(lab->store->db, sql, -1, &statement, NULL) != SQLITE_OK)
		g_error("%s: %s", sql, sqlite3_errmsg(lab->store->db));
	return statement;
}

int64_t
lab_number(struct lab *lab, const char *sql)
{
	sqlite3_stmt *statement = prepare(lab, sql);
	int64_t number = -1;

	if (sqlite3_step(statement) == SQLITE_ROW)
		number = sql_get_int(statement, 0);
	sqlite3_finalize(statement);
	return number;
}

char *
lab_text(struct lab *lab, const char *sql)
{
	sqlite3_stmt *statement = prepare(lab, sql);
	GString *text = g_string_new(NULL);

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
lab_format_plans(struct lab *lab)
{
	GString *plans = g_string_new(NULL);
	GHashTableIter iter;
	gpointer sql;

	g_hash_table_iter_init(&iter, lab->store->statements);
	while (g_hash_table_iter_next(&iter, &sql, NULL)) {
		g_autofree char *explain =
		    g_strconcat("EXPLAIN QUERY PLAN ", (const char *)sql, NULL);
		g_autofree char *plan = lab_text(lab, explain);

		g_string_append_printf(plans, "%s\n    %s\n", (const char *)sql, plan);
	}
	return g_string_free(plans, FALSE);
}

char *
lab_hash(struct lab *lab)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	g_autofree char *tables =
	    lab_text(lab, "SELECT name FROM sqlite_schema WHERE type = 'table'"
	                  " AND name NOT GLOB 'sqlite_*'"
	                  " AND name NOT GLOB 'paper_fts*' ORDER BY name");
	g_auto(GStrv) names = g_strsplit(tables, " ", -1);

	for (char **name = names; *name; name++) {
		g_autofree char *sql =
		    g_strdup_printf("SELECT *, 0, 0 FROM %s ORDER BY 1, 2, 3", *name);
		g_autofree char *text = NULL;

		if (strcmp(*name, "cursor") == 0)
			strstr(sql, ", 3")[0] = '\0';
		text = lab_text(lab, sql);
		g_checksum_update(sum, (const guchar *)text, (gssize)strlen(text));
	}
	return g_strdup(g_checksum_get_string(sum));
}

void
lab_assert_idle(struct lab *lab)
{
	GHashTableIter iter;
	gpointer sql, statement;

	g_hash_table_iter_init(&iter, lab->store->statements);
	while (g_hash_table_iter_next(&iter, &sql, &statement))
		if (sqlite3_stmt_busy(statement))
			g_error("still open: %s", (const char *)sql);
	g_assert_true(sqlite3_get_autocommit(lab->store->db));
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
	struct lab *lab = data;

	/* SQLite would call a commit interrupted that it has just made; no real
	 * failure does that. */
	if (!lab->steps_left ||
	    (lab->steps_left == 1 && !is_any_running(lab->store->db)))
		return 0;
	return --lab->steps_left == 0;
}

void
lab_interrupt_at(struct lab *lab, int nth)
{
	lab->steps_left = nth;
	sqlite3_progress_handler(
	    lab->store->db, nth ? 1 : 0, nth ? count_down : NULL, lab);
}

static int
refuse_commit(void *data)
{
	(void)data;
	return 1;
}

static void
assert_same(struct lab *lab, const char *before)
{
	g_autofree char *after = lab_hash(lab);

	g_assert_cmpstr(before, ==, after);
}

unsigned
lab_fail_everywhere(struct lab *lab,
    bool (*call)(struct lab *lab, void *data, GError **error), void *data,
    bool is_whole)
{
	g_autofree char *before = lab_hash(lab);
	g_autoptr(GError) refusal = NULL;
	unsigned failures = 0;
	int nth = 1;

	sqlite3_commit_hook(lab->store->db, refuse_commit, NULL);
	g_assert_false(call(lab, data, &refusal));
	sqlite3_commit_hook(lab->store->db, NULL, NULL);
	g_assert_nonnull(refusal);
	lab_assert_idle(lab);
	assert_same(lab, before);
	for (;;) {
		g_autoptr(GError) error = NULL;
		bool is_ok;

		lab_interrupt_at(lab, nth);
		is_ok = call(lab, data, &error);
		lab_interrupt_at(lab, 0);
		lab_assert_idle(lab);
		if (is_ok) {
			g_assert_no_error(error);
			return failures;
		}
		g_assert_nonnull(error);
		failures++;
		if (is_whole)
			assert_same(lab, before);
		/* Densely at first, where most steps begin, then in strides. */
		nth += nth < 200 ? 3 : nth / 20;
	}
}
