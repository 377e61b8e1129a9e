/*
 * copy.c - SQLite alone writes the rows of digests that were built before.
 *
 * copy STORE MADE [all]: STORE is matched, MADE is the same store with its digests.
 * Copy the rows in as many commits as digest_build_run(), or in one: the lower bound
 * without any decisions, and the cost of paging.
 */
#include <glib.h>
#include <sqlite3.h>
#include <stdio.h>

#include "stopwatch.h"

#define PAGE_PEOPLE 25

static const char sql_begin[] = "BEGIN IMMEDIATE";
static const char sql_commit[] = "COMMIT";
static const char sql_pragmas[] =
    "PRAGMA foreign_keys = ON; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
    "PRAGMA cache_size = -8192";
static const char sql_attach[] = "ATTACH ?1 AS made";
static const char sql_people[] = "SELECT max(id) FROM subscriber";

/* Rows of a page of subscribers: ?1 <= subscriber < ?2. */
static const char *const sql_page[] = {
    "INSERT INTO digest SELECT * FROM made.digest"
    " WHERE subscriber_id >= ?1 AND subscriber_id < ?2",
    "INSERT INTO outbox SELECT o.* FROM made.digest d"
    " JOIN made.outbox o ON o.digest_id = d.id"
    " WHERE d.subscriber_id >= ?1 AND d.subscriber_id < ?2",
    "UPDATE subscriber SET is_first_due = 0, next_due_at ="
    " (SELECT m.next_due_at FROM made.subscriber m WHERE m.id = subscriber.id)"
    " WHERE id >= ?1 AND id < ?2",
};

static int64_t
run(sqlite3 *db, const char *sql, int64_t first, int64_t last)
{
	sqlite3_stmt *statement = NULL;
	int64_t number = -1;
	int rc;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		g_error("%s", sqlite3_errmsg(db));
	if (sqlite3_bind_parameter_count(statement) == 2) {
		sqlite3_bind_int64(statement, 1, first);
		sqlite3_bind_int64(statement, 2, last);
	}
	while ((rc = sqlite3_step(statement)) == SQLITE_ROW)
		number = sqlite3_column_int64(statement, 0);
	if (rc != SQLITE_DONE)
		g_error("%s", sqlite3_errmsg(db));
	sqlite3_finalize(statement);
	return number;
}

static sqlite3 *
open_both(const char *path, const char *made)
{
	sqlite3_stmt *attach = NULL;
	sqlite3 *db = NULL;

	g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
	g_assert_cmpint(sqlite3_exec(db, sql_pragmas, 0, 0, 0), ==, SQLITE_OK);
	sqlite3_prepare_v2(db, sql_attach, -1, &attach, NULL);
	sqlite3_bind_text(attach, 1, made, -1, SQLITE_STATIC);
	g_assert_cmpint(sqlite3_step(attach), ==, SQLITE_DONE);
	sqlite3_finalize(attach);
	return db;
}

int
main(int argc, char **argv)
{
	struct stopwatch watch = {0};
	sqlite3 *db;
	int64_t people, page;

	if (argc != 3 && argc != 4) {
		fprintf(stderr, "usage: copy STORE MADE [all]\n");
		return 64;
	}
	db = open_both(argv[1], argv[2]);
	people = run(db, sql_people, 0, 0);
	page = argc == 4 ? people : PAGE_PEOPLE;
	stopwatch_start(&watch);
	for (int64_t first = 1; first <= people; first += page) {
		run(db, sql_begin, 0, 0);
		for (unsigned i = 0; i < G_N_ELEMENTS(sql_page); i++)
			run(db, sql_page[i], first, first + page);
		run(db, sql_commit, 0, 0);
	}
	stopwatch_stop(&watch);
	stopwatch_print(&watch);
	printf("digests=%d\n", (int)run(db, "SELECT count(*) FROM outbox", 0, 0));
	sqlite3_close(db);
	return 0;
}
