/*
 * match_papers.c - match_run() on a store with a new day, and then on one new paper.
 *
 * match_papers STORE [day]: one_wall and one_cpu are of a paper with a new text once
 * all is matched, which there is not with day; shown is the number of pairs that were
 * evaluated, read the number of filters that were read; rows and pages are of the first
 * run.  Changes the store.
 */
#include <glib.h>
#include <stdio.h>

#include <sqlite3.h>

#include "input.h"
#include "service/match/match.h"
#include "stopwatch.h"
#include "store/core/sql.h"

static struct match_report
run(struct store *store, int64_t now, struct stopwatch *watch)
{
	g_autoptr(GError) error = NULL;
	struct match_report report = {0};

	stopwatch_start(watch);
	match_run(store, now, &report, &error);
	stopwatch_stop(watch);
	g_assert_no_error(error);
	return report;
}

/* A paper of the day comes once more, as another one. */
static void
add_one(struct store *store)
{
	static const char sql[] =
	    "INSERT INTO paper (id, title, abstract, authors, url, fetched_at,"
	    " first_seen_at, last_day, upvotes, revision)"
	    " SELECT 'once-more', title, abstract, authors, url, fetched_at, "
	    "first_seen_at,"
	    " last_day, upvotes, (SELECT max(revision) + 1 FROM paper) FROM paper"
	    " WHERE last_day = '" INPUT_DAY "' ORDER BY seq LIMIT 1 OFFSET 49";

	g_assert_cmpint(sqlite3_exec(store->db, sql, 0, 0, 0), ==, SQLITE_OK);
}

static int
get_status(struct store *store, int what)
{
	int value = 0, highest = 0;

	sqlite3_db_status(store->db, what, &value, &highest, 1);
	return value;
}

static int64_t
count_rows(struct store *store)
{
	static const char sql[] = "SELECT (SELECT count(*) FROM match)"
	                          " + (SELECT count(*) FROM match_pending)";
	int64_t count = 0;

	g_assert_true(sql_number(store, sql, &count, NULL));
	return count;
}

int
main(int argc, char **argv)
{
	pb_auto(store) store = NULL;
	struct match_report report, one_report;
	struct stopwatch watch = {0}, one = {0};
	double server;

	if (argc != 2 && argc != 3) {
		fprintf(stderr, "usage: match_papers STORE [day]\n");
		return 64;
	}
	store = input_open_store(argv[1]);
	get_status(store, SQLITE_DBSTATUS_CACHE_MISS);
	get_status(store, SQLITE_DBSTATUS_CACHE_WRITE);
	server = input_load_server_cpu(store);
	report = run(store, INPUT_NOW, &watch);
	stopwatch_print(&watch);
	printf("server=%.2f trips=%u pages_read=%d pages_written=%d ",
	    input_load_server_cpu(store) - server, (unsigned)store->trips,
	    get_status(store, SQLITE_DBSTATUS_CACHE_MISS),
	    get_status(store, SQLITE_DBSTATUS_CACHE_WRITE));
	printf("read=%u written=%d ", report.filters, (int)count_rows(store));
	if (argc == 2) {
		add_one(store);
		one_report = run(store, INPUT_NOW + 60, &one);
		printf("one_wall=%.6f one_cpu=%.6f one_pairs=%u ",
		    (double)one.wall_us / 1e6, (double)one.cpu_us / 1e6,
		    one_report.found);
	}
	printf("pairs=%u shown=%u\n", report.found, report.papers);
	store_checkpoint(store);
	return 0;
}
