/*
 * fts5.c - the same filters and papers in SQLite's FTS5, one MATCH a filter.
 *
 * fts5 STORE [rows | FILE]: one MATCH for each distinct filter, or with rows for each
 * filter of each person; with FILE what is found is stored there, a row for each filter
 * and paper, in one transaction.  A table in memory holds the day.  FTS5 folds no
 * plurals, so it is given texts whose words are folded already (not timed), and plain
 * ones for prefixes: then it must find what paperboy finds.
 */
#include <glib.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "input.h"
#include "query/text/stem.h"
#include "stopwatch.h"
#include "store/core/sql.h"
#include "store/paper/filter_progress.h"
#include "store/paper/papers.h"

static const char sql_create[] =
    "CREATE VIRTUAL TABLE day USING fts5(title, abstract, plain_title, plain_abstract,"
    " content='', tokenize='unicode61 remove_diacritics 2')";
static const char sql_insert[] =
    "INSERT INTO day (rowid, title, abstract, plain_title, plain_abstract)"
    " VALUES (?1, ?2, ?3, ?4, ?5)";
static const char sql_match[] = "SELECT rowid FROM day WHERE day MATCH ?1";

/* Our clauses as FTS5 says them. */
static const struct {
	const char *ours, *words, *prefix;
} terms[] = {
    {"AND NOT ", "NOT ", NULL},
    {"text:", "{title abstract} : ", "{plain_title plain_abstract} : "},
    {"title:", "{title} : ", "{plain_title} : "},
    {"abstract:", "{abstract} : ", "{plain_abstract} : "},
};

static void
append_folded(void *data, const char *token, size_t len, size_t start, size_t end)
{
	g_autofree char *word = stem_plural(token, len);

	(void)start;
	(void)end;
	g_string_append_printf(data, "%s ", word);
}

static char *
fold(const struct tokenizer *tokenizer, const char *text)
{
	GString *folded = g_string_new(NULL);

	g_assert_true(tokenizer->split(
	    tokenizer->self, text, strlen(text), append_folded, folded));
	return g_string_free(folded, FALSE);
}

/* A clause ends at the next blank outside quotation marks; a prefix has its star. */
static bool
is_prefix(const char *clause)
{
	const char *end = clause;
	bool is_quoted = false;

	for (; *end && (is_quoted || !strchr(" )", *end)); end++)
		is_quoted ^= *end == '"';
	return end > clause && end[-1] == '*';
}

static char *
translate(const char *canonical)
{
	GString *query = g_string_new(NULL);

	for (const char *at = canonical; *at;) {
		bool is_start = at == canonical || strchr(" (", at[-1]);
		size_t i = 0;

		while (i < G_N_ELEMENTS(terms) && !g_str_has_prefix(at, terms[i].ours))
			i++;
		if (!is_start || i == G_N_ELEMENTS(terms)) {
			g_string_append_c(query, *at++);
			continue;
		}
		g_string_append(query, terms[i].prefix && is_prefix(at)
		                           ? terms[i].prefix
		                           : terms[i].words);
		at += strlen(terms[i].ours);
	}
	return g_string_free(query, FALSE);
}

static void
index_day(sqlite3 *db, const GPtrArray *papers, char **folded)
{
	sqlite3_stmt *insert = NULL;

	g_assert_cmpint(sqlite3_exec(db, sql_create, 0, 0, 0), ==, SQLITE_OK);
	g_assert_cmpint(sqlite3_exec(db, "BEGIN", 0, 0, 0), ==, SQLITE_OK);
	sqlite3_prepare_v2(db, sql_insert, -1, &insert, NULL);
	for (unsigned i = 0; i < papers->len; i++) {
		const struct stored_paper *stored = papers->pdata[i];
		const char *texts[] = {folded[2 * i], folded[2 * i + 1],
		    stored->paper->title, stored->paper->abstract};

		sqlite3_bind_int64(insert, 1, stored->seq);
		for (int n = 0; n < 4; n++)
			sqlite3_bind_text(insert, n + 2, texts[n], -1, SQLITE_STATIC);
		g_assert_cmpint(sqlite3_step(insert), ==, SQLITE_DONE);
		sqlite3_reset(insert);
	}
	sqlite3_finalize(insert);
	g_assert_cmpint(sqlite3_exec(db, "COMMIT", 0, 0, 0), ==, SQLITE_OK);
}

/* Number of subscribers of each filter, by its id. */
static GHashTable *
count_people(struct store *store)
{
	static const char sql[] =
	    "SELECT filter_id, count(*) FROM subscription GROUP BY filter_id";
	GHashTable *counts = g_hash_table_new(g_direct_hash, g_direct_equal);
	sql_auto *statement = sql_bind(store, sql, NULL);

	while (sql_step(statement, NULL) == SQL_STEP_ROW)
		g_hash_table_insert(counts, GINT_TO_POINTER(sql_get_int(statement, 0)),
		    GINT_TO_POINTER(sql_get_int(statement, 1)));
	return counts;
}

/* Where what is found is stored. @return NULL when it is not */
static sqlite3_stmt *
open_file(const char *path)
{
	static const char create[] =
	    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
	    "CREATE TABLE found (filter_id INTEGER NOT NULL, paper_seq INTEGER NOT "
	    "NULL,"
	    " PRIMARY KEY (filter_id, paper_seq)) STRICT, WITHOUT ROWID; BEGIN";
	sqlite3_stmt *insert = NULL;
	sqlite3 *db = NULL;

	if (!path)
		return NULL;
	g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
	g_assert_cmpint(sqlite3_exec(db, create, 0, 0, 0), ==, SQLITE_OK);
	sqlite3_prepare_v2(db, "INSERT INTO found VALUES (?1, ?2)", -1, &insert, NULL);
	return insert;
}

static void
keep(sqlite3_stmt *insert, int64_t filter_id, int64_t paper_seq)
{
	if (!insert)
		return;
	sqlite3_bind_int64(insert, 1, filter_id);
	sqlite3_bind_int64(insert, 2, paper_seq);
	g_assert_cmpint(sqlite3_step(insert), ==, SQLITE_DONE);
	sqlite3_reset(insert);
}

static void
close_file(sqlite3_stmt *insert)
{
	sqlite3 *db = insert ? sqlite3_db_handle(insert) : NULL;

	if (!db)
		return;
	g_assert_cmpint(sqlite3_exec(db, "COMMIT", 0, 0, 0), ==, SQLITE_OK);
	sqlite3_finalize(insert);
	sqlite3_close(db);
}

/* Another person has it too: all the same work. */
static void
match_again(sqlite3_stmt *statement, int times)
{
	for (; times > 0; times--) {
		while (sqlite3_step(statement) == SQLITE_ROW)
			(void)sqlite3_column_int64(statement, 0);
		sqlite3_reset(statement);
	}
}

/* @param people  of each filter, or NULL; insert  or NULL */
static void
match(sqlite3 *db, const GPtrArray *filters, char **queries, GHashTable *people,
    sqlite3_stmt *insert, unsigned *pairs, uint64_t *sum)
{
	sqlite3_stmt *statement = NULL;

	/* In one transaction: a lock for each SELECT would cost more than the SELECT.
	 */
	g_assert_cmpint(sqlite3_exec(db, "BEGIN", 0, 0, 0), ==, SQLITE_OK);
	sqlite3_prepare_v2(db, sql_match, -1, &statement, NULL);
	for (unsigned i = 0; i < filters->len; i++) {
		const struct stored_filter *filter = filters->pdata[i];
		int rc;

		sqlite3_bind_text(statement, 1, queries[i], -1, SQLITE_STATIC);
		while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
			(*pairs)++;
			keep(insert, filter->id, sqlite3_column_int64(statement, 0));
			*sum += (uint64_t)(filter->id * 1000003 +
			                   sqlite3_column_int64(statement, 0));
		}
		if (rc != SQLITE_DONE)
			g_error("%s: %s", queries[i], sqlite3_errmsg(db));
		sqlite3_reset(statement);
		if (people)
			match_again(
			    statement, GPOINTER_TO_INT(g_hash_table_lookup(
			                   people, GINT_TO_POINTER((int)filter->id))) -
			                   1);
	}
	sqlite3_finalize(statement);
	g_assert_cmpint(sqlite3_exec(db, "COMMIT", 0, 0, 0), ==, SQLITE_OK);
}

static char **
fold_papers(const GPtrArray *papers, const struct tokenizer *tokenizer)
{
	char **folded = g_new0(char *, 2 * papers->len + 1);

	for (unsigned i = 0; i < papers->len; i++) {
		const struct stored_paper *stored = papers->pdata[i];

		folded[2 * i] = fold(tokenizer, stored->paper->title);
		folded[2 * i + 1] = fold(tokenizer, stored->paper->abstract);
	}
	return folded;
}

int
main(int argc, char **argv)
{
	pb_auto(store) store = NULL;
	g_autoptr(GPtrArray) filters = NULL, papers = NULL;
	g_auto(GStrv) folded = NULL, queries = NULL;
	struct stopwatch all = {0}, decide = {0};
	g_autoptr(GHashTable) people = NULL;
	sqlite3_stmt *insert;
	sqlite3 *db = NULL;
	unsigned pairs = 0;
	uint64_t sum = 0;
	bool is_rows;

	if (argc != 2 && argc != 3) {
		fprintf(stderr, "usage: fts5 STORE [rows | FILE]\n");
		return 64;
	}
	store = input_open_store(argv[1]);
	filters = input_load_filters(store);
	papers = input_load_papers(store);
	folded = fold_papers(papers, store_get_tokenizer(store));
	queries = g_new0(char *, filters->len + 1);
	for (unsigned i = 0; i < filters->len; i++)
		queries[i] =
		    translate(((struct stored_filter *)filters->pdata[i])->canonical);

	is_rows = argc == 3 && strcmp(argv[2], "rows") == 0;
	people = is_rows ? count_people(store) : NULL;
	insert = open_file(argc == 3 && !is_rows ? argv[2] : NULL);
	stopwatch_start(&all);
	g_assert_cmpint(sqlite3_open(":memory:", &db), ==, SQLITE_OK);
	index_day(db, papers, folded);
	stopwatch_start(&decide);
	match(db, filters, queries, people, insert, &pairs, &sum);
	close_file(insert);
	stopwatch_stop(&decide);
	stopwatch_stop(&all);
	sqlite3_close(db);
	stopwatch_print(&all);
	printf("decide_wall=%.6f decide_cpu=%.6f pairs=%u sum=%" PRIu64 "\n",
	    (double)decide.wall_us / 1e6, (double)decide.cpu_us / 1e6, pairs, sum);
	return 0;
}
