/*
 * build_digests.c - digest_build_run() on a matched store, with all subscribers due.
 *
 * build_digests STORE [steps]: with steps, also print the time of the statements of
 * each step; the rest is planning, explaining and selecting.  `page` is the longest
 * time from one commit to the next, s.  Changes the store.
 */
#include <glib.h>
#include <sqlite3.h>
#include <stdio.h>

#include "input.h"
#include "service/digest/digest_build.h"
#include "stopwatch.h"
#include "store/core/sql.h"

/* Which statements are of which step: the first that begins so. */
static const struct {
	const char *sql;
	const char *step;
} steps[] = {
    {"SELECT s.filter_id, s.number, coalesce(s.name, s.text), f.canonical,",
        "candidates"},
    {"SELECT s.filter_id", "blocks"},
    {"INSERT INTO digest", "digest_rows"},
    {"INSERT INTO", "messages"},
    {"UPDATE subscriber", "plans"},
    {"COMMIT", "commits"},
    {"", "others"},
};

/* SQLite's clock for this has milliseconds: only sums of many are right. */
static int
note_time(unsigned event, void *context, void *statement, void *took_ns)
{
	const char *sql = sqlite3_sql(statement);
	int64_t *sums = context;
	size_t i = 0;

	g_assert(event == SQLITE_TRACE_PROFILE);
	while (!g_str_has_prefix(sql, steps[i].sql))
		i++;
	sums[i] += *(sqlite3_int64 *)took_ns;
	return 0;
}

struct pages {
	gint64 last_us; /* of the last commit */
	gint64 longest_us;
};

static void
note_commit(void *data)
{
	struct pages *pages = data;
	gint64 now_us = g_get_monotonic_time();

	pages->longest_us = MAX(pages->longest_us, now_us - pages->last_us);
	pages->last_us = now_us;
}

int
main(int argc, char **argv)
{
	pb_auto(store) store = NULL;
	g_autoptr(GBytes) key =
	    g_bytes_new_static("0123456789abcdef0123456789abcdef", 32);
	g_autoptr(GError) error = NULL;
	struct digest_build_report report = {0};
	int64_t sums[G_N_ELEMENTS(steps)] = {0};
	struct stopwatch watch = {0};
	struct pages pages = {0};
	double server;

	if (argc != 2 && argc != 3) {
		fprintf(stderr, "usage: build_digests STORE [steps]\n");
		return 64;
	}
	store = input_open_store(argv[1]);
	if (argc == 3)
		sqlite3_trace_v2(store->db, SQLITE_TRACE_PROFILE, note_time, sums);
	server = input_load_server_cpu(store);
	pages.last_us = g_get_monotonic_time();
	store_set_commit_hook(store, note_commit, &pages);
	stopwatch_start(&watch);
	digest_build_run(store, key, NULL, INPUT_NOW, &report, &error);
	stopwatch_stop(&watch);
	g_assert_no_error(error);
	stopwatch_print(&watch);
	for (size_t i = 0; argc == 3 && i < G_N_ELEMENTS(steps); i++)
		printf("%s=%.3f ", steps[i].step, (double)sums[i] / 1e9);
	printf("server=%.2f trips=%u page=%.3f due=%u digests=%u papers=%u\n",
	    input_load_server_cpu(store) - server, (unsigned)store->trips,
	    (double)pages.longest_us / 1e6, report.due, report.digests, report.papers);
	store_checkpoint(store);
	return 0;
}
