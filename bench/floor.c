/*
 * floor.c - SQLite alone stores the matches of a day: the lower bound.
 *
 * floor STORE MATCHED rows|pairs: STORE is not matched, MATCHED is the same store after
 * matching.  rows: as paperboy stores them, a row for each filter; pairs: a row for
 * each filter and paper.  One transaction, in the order of the key, no other index.
 */
#include <glib.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "stopwatch.h"

static const char sql_open[] =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -8192;"
    "CREATE TABLE floor_rows (filter_id INTEGER NOT NULL, decided_at INTEGER NOT NULL,"
    " papers TEXT NOT NULL, PRIMARY KEY (filter_id, decided_at)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE floor_pairs (filter_id INTEGER NOT NULL, paper_seq INTEGER NOT NULL,"
    " PRIMARY KEY (filter_id, paper_seq)) STRICT, WITHOUT ROWID;"
    /* The rows to store are prepared first, and not timed. */
    "CREATE TEMP TABLE rows AS SELECT * FROM made.match"
    " ORDER BY filter_id, decided_at;"
    "CREATE TEMP TABLE pairs AS SELECT filter_id, value AS paper_seq"
    " FROM made.match, json_each('[' || papers || ']') UNION ALL"
    " SELECT filter_id, paper_seq FROM made.match_pending ORDER BY 1, 2;";
static const char sql_rows[] =
    "BEGIN IMMEDIATE; INSERT INTO floor_rows SELECT * FROM rows; COMMIT";
static const char sql_pairs[] =
    "BEGIN IMMEDIATE; INSERT INTO floor_pairs SELECT * FROM pairs; COMMIT";

static void
run(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		g_error("%s: %s", sql, sqlite3_errmsg(db));
}

int
main(int argc, char **argv)
{
	g_autofree char *attach = NULL;
	struct stopwatch watch = {0};
	sqlite3 *db;

	if (argc != 4) {
		fprintf(stderr, "usage: floor STORE MATCHED rows|pairs\n");
		return 64;
	}
	g_assert_cmpint(sqlite3_open(argv[1], &db), ==, SQLITE_OK);
	attach = g_strdup_printf("ATTACH '%s' AS made", argv[2]);
	run(db, attach);
	run(db, sql_open);
	stopwatch_start(&watch);
	run(db, strcmp(argv[3], "rows") == 0 ? sql_rows : sql_pairs);
	stopwatch_stop(&watch);
	stopwatch_print(&watch);
	printf("rows=%d\n", (int)sqlite3_changes(db));
	sqlite3_close(db);
	return 0;
}
