/*
 * search_archive.c - backtests and searches, and FTS5's own.
 *
 * search_archive fill STORE DAY FILE [DAY FILE]...: store the papers of files of
 * Hugging Face's list.
 *
 * search_archive backtest|search|fts5 STORE QUERIES: run the query of each line and
 * print "QUERY TAB MS"; invalid ones are left out.  fts5 sorts the hits of its own
 * index by bm25() and reads 20 titles.
 */
#include <glib.h>
#include <sqlite3.h>
#include <stdio.h>

#include "base/bounds.h"
#include "input.h"
#include "query/eval/fts_query.h"
#include "service/advice/backtest.h"
#include "service/match/search.h"
#include "sources/huggingface.h"
#include "store/core/sql.h"
#include "store/core/transaction.h"
#include "store/paper/archive.h"
#include "store/paper/papers.h"

#define LIMIT 20

static void
save_day(struct store *store, const char *day, const char *path)
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
	struct json_page page = {.total = -1};
	size_t size;
	char *text = NULL;

	g_file_get_contents(path, &text, &size, &error);
	g_assert_no_error(error);
	bytes = g_bytes_new_take(text, size);
	listings = huggingface_parse(bytes, NULL, day, &page, &error);
	g_assert_no_error(error);
	g_free(page.next);
	listings = source_merge_listings(listings);
	g_assert_true(store_begin(store, &transaction, &error));
	papers_save_fetch(store, &batch, listings, &saved, &error);
	store_commit(&transaction, &error);
	g_assert_no_error(error);
}

static void
run_backtest(struct store *store, const char *text)
{
	const struct backtest_request request = {
	    .text = text, .now = INPUT_NOW, .days = BACKTEST_LONG_DAYS};

	backtest_free(backtest_run(store, &request, NULL, NULL));
}

static void
run_search(struct store *store, const char *text)
{
	const struct search_scope scope = {.now = INPUT_NOW};

	search_answer_free(search_run(store, text, &scope, LIMIT, NULL, NULL));
}

/* Our own expression, plurals and all, given to FTS5 and nobody else. */
static void
run_fts5(struct store *store, const char *text)
{
	static const char sql[] = "SELECT paper.title FROM paper_fts JOIN paper ON "
	                          "paper.seq = paper_fts.rowid"
	                          " WHERE paper_fts MATCH ?1 ORDER BY bm25(paper_fts, "
	                          "3.0, 1.0, 0.0) LIMIT 20";
	pb_auto(query) query =
	    query_parse(text, store_get_tokenizer(store), NULL, NULL, NULL);
	pb_auto(fts_query) fts = fts_query_new(query);
	sqlite3_stmt *statement = NULL;

	g_assert_cmpint(
	    sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL), ==, SQLITE_OK);
	sqlite3_bind_text(statement, 1, fts->expression ? fts->expression : "nothing",
	    -1, SQLITE_STATIC);
	while (sqlite3_step(statement) == SQLITE_ROW)
		;
	sqlite3_finalize(statement);
}

static int
run_queries(struct store *store, const char *way, const char *path)
{
	static const struct {
		const char *name;
		void (*run)(struct store *store, const char *text);
	} ways[] = {
	    {"backtest", run_backtest}, {"search", run_search}, {"fts5", run_fts5}};
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	size_t at = 0;

	while (!g_str_equal(ways[at].name, way))
		g_assert_cmpuint(++at, <, G_N_ELEMENTS(ways));
	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++) {
		pb_auto(query) query =
		    query_parse(*line, store_get_tokenizer(store), NULL, NULL, NULL);
		int64_t begin = g_get_monotonic_time();

		if (!query)
			continue;
		ways[at].run(store, *line);
		printf("%s\t%.3f\n", *line,
		    (double)(g_get_monotonic_time() - begin) / 1e3);
	}
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
	if (!g_str_equal(argv[1], "fill"))
		return run_queries(store, argv[1], argv[3]);
	for (int i = 3; i + 1 < argc; i += 2)
		save_day(store, argv[i], argv[i + 1]);
	store_checkpoint(store);
	return 0;
}
