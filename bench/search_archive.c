/*
 * search_archive.c - store papers, run backtests and searches, compared with plain
 * FTS5.
 *
 * search_archive fill STORE DAY FILE [DAY FILE]...: store the papers of files of
 * Hugging Face's list; reading the files is not timed. search_archive
 * backtest|search|fts5 STORE QUERIES: run a query on each line, without invalid ones.
 * fts5 sorts the hits of its own index by bm25() and reads 20 titles.
 */
#include <glib.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "input.h"
#include "query/eval/fts_query.h"
#include "service/explain/backtest.h"
#include "service/match/search.h"
#include "sources/huggingface_parse.h"
#include "stopwatch.h"
#include "store/core/transaction.h"
#include "store/paper/archive.h"
#include "store/paper/papers.h"

#define LIMIT 20

static unsigned
save_day(
    struct store *store, const char *day, const char *path, struct stopwatch *watch)
{
	struct source_fetch batch = {.source = "hf",
	    .day = day,
	    .fetched_at = INPUT_NOW,
	    .status = SOURCE_FETCH_OK};
	g_autoptr(GPtrArray) listings = NULL;
	g_autoptr(GBytes) bytes = NULL;
	g_autoptr(GError) error = NULL;
	struct papers_saved saved;
	pb_transaction transaction = {0};
	size_t size, elements;
	char *text = NULL;

	g_file_get_contents(path, &text, &size, &error);
	g_assert_no_error(error);
	bytes = g_bytes_new_take(text, size);
	listings = huggingface_parse_page(bytes, day, &elements, &error);
	g_assert_no_error(error);
	stopwatch_start(watch);
	g_assert_true(store_begin(store, &transaction, &error));
	papers_save_fetch(store, &batch, listings, &saved, &error);
	store_commit(&transaction, &error);
	stopwatch_stop(watch);
	g_assert_no_error(error);
	return saved.fresh;
}

static unsigned
backtest(struct store *store, const char *text)
{
	const struct backtest_request request = {.text = text, .now = INPUT_NOW};
	pb_auto(backtest) result = backtest_run(store, &request, NULL, NULL);

	return result ? result->found : 0;
}

static unsigned
search(struct store *store, const char *text)
{
	const struct search_scope scope = {.now = INPUT_NOW};
	pb_auto(search_answer) answer =
	    search_run(store, text, &scope, LIMIT, NULL, NULL);

	return answer ? answer->found : 0;
}

/* Our own expressions, plurals and all, given to FTS5 and nobody else. */
static GPtrArray *
translate(struct store *store, const GPtrArray *queries)
{
	GPtrArray *expressions = g_ptr_array_new_with_free_func(g_free);

	for (unsigned i = 0; i < queries->len; i++) {
		pb_auto(query) query = query_parse(
		    queries->pdata[i], store_get_tokenizer(store), NULL, NULL, NULL);
		pb_auto(fts_query) fts = fts_query_new(query);

		g_ptr_array_add(expressions,
		    g_strdup(fts->expression ? fts->expression : "nothing"));
	}
	return expressions;
}

static unsigned
ask_fts5(sqlite3_stmt *statement, const char *expression)
{
	unsigned rows = 0;

	sqlite3_bind_text(statement, 1, expression, -1, SQLITE_STATIC);
	while (sqlite3_step(statement) == SQLITE_ROW)
		rows++;
	sqlite3_reset(statement);
	return rows;
}

static int
fill(struct store *store, int argc, char **argv)
{
	struct stopwatch watch = {0};
	unsigned papers = 0;

	for (int i = 0; i + 1 < argc; i += 2)
		papers += save_day(store, argv[i], argv[i + 1], &watch);
	store_checkpoint(store);
	stopwatch_print(&watch);
	printf("papers=%u\n", papers);
	return 0;
}

static GPtrArray *
read_queries(struct store *store, const char *path)
{
	GPtrArray *queries = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;

	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++) {
		pb_auto(query) query =
		    query_parse(*line, store_get_tokenizer(store), NULL, NULL, NULL);

		if (query)
			g_ptr_array_add(queries, g_strdup(*line));
	}
	return queries;
}

static int
ask(struct store *store, const char *way, const char *store_path, const char *path)
{
	static const char sql[] = "SELECT paper.title FROM paper_fts JOIN paper ON "
	                          "paper.seq = paper_fts.rowid"
	                          " WHERE paper_fts MATCH ?1 ORDER BY bm25(paper_fts, "
	                          "3.0, 1.0, 0.0) LIMIT 20";
	g_autoptr(GPtrArray) queries = read_queries(store, path);
	g_autoptr(GPtrArray) expressions = translate(store, queries);
	struct stopwatch watch = {0};
	sqlite3_stmt *statement = NULL;
	sqlite3 *db = NULL;
	int64_t slowest = 0, found = 0;
	struct stopwatch first = {0};

	sqlite3_open_v2(store_path, &db, SQLITE_OPEN_READWRITE, NULL);
	g_assert_cmpint(
	    sqlite3_prepare_v2(db, sql, -1, &statement, NULL), ==, SQLITE_OK);
	for (unsigned i = 0; i < queries->len; i++) {
		int64_t before = watch.wall_us;

		stopwatch_start(&watch);
		if (g_str_equal(way, "backtest"))
			found += backtest(store, queries->pdata[i]);
		else if (g_str_equal(way, "search"))
			found += search(store, queries->pdata[i]);
		else
			found += ask_fts5(statement, expressions->pdata[i]);
		stopwatch_stop(&watch);
		slowest = MAX(slowest, watch.wall_us - before);
		if (i == 0)
			first = watch;
	}
	sqlite3_finalize(statement);
	sqlite3_close(db);
	stopwatch_print(&watch);
	printf("queries=%u found=%" G_GINT64_FORMAT " longest_ms=%.3f first_ms=%.3f"
	       " first_cpu_ms=%.3f\n",
	    queries->len, found, (double)slowest / 1e3, (double)first.wall_us / 1e3,
	    (double)first.cpu_us / 1e3);
	return 0;
}

int
main(int argc, char **argv)
{
	pb_auto(store) store = NULL;

	if (argc < 4) {
		fprintf(stderr,
		    "usage: search_archive fill STORE DAY FILE [DAY FILE]... |"
		    " backtest|search|fts5 STORE QUERIES\n");
		return 64;
	}
	store = input_open_store(argv[2]);
	if (g_str_equal(argv[1], "fill"))
		return fill(store, argc - 3, argv + 3);
	return ask(store, argv[1], argv[2], argv[3]);
}
