/*
 * fts5.c - the same filters and papers in SQLite's FTS5, one MATCH a filter.
 *
 * fts5 STORE: a table in memory holds the day.  FTS5 folds no plurals, so it is given
 * texts whose words are folded already (not timed), and plain ones for prefixes: then
 * it must find what paperboy finds.
 */
#include <glib.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "input.h"
#include "query/plural.h"
#include "stopwatch.h"
#include "store/matches.h"
#include "store/papers.h"

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
	g_autofree char *word = plural_fold(token, len);

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

static void
match(sqlite3 *db, const GPtrArray *filters, char **queries, unsigned *pairs,
    uint64_t *sum)
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
			*sum += (uint64_t)(filter->id * 1000003 +
			                   sqlite3_column_int64(statement, 0));
		}
		if (rc != SQLITE_DONE)
			g_error("%s: %s", queries[i], sqlite3_errmsg(db));
		sqlite3_reset(statement);
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
	sqlite3 *db = NULL;
	unsigned pairs = 0;
	uint64_t sum = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: fts5 STORE\n");
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

	stopwatch_start(&all);
	g_assert_cmpint(sqlite3_open(":memory:", &db), ==, SQLITE_OK);
	index_day(db, papers, folded);
	stopwatch_start(&decide);
	match(db, filters, queries, &pairs, &sum);
	stopwatch_stop(&decide);
	stopwatch_stop(&all);
	sqlite3_close(db);
	stopwatch_print(&all);
	printf("decide_wall=%.6f decide_cpu=%.6f pairs=%u sum=%" PRIu64 "\n",
	    (double)decide.wall_us / 1e6, (double)decide.cpu_us / 1e6, pairs, sum);
	return 0;
}
