/*
 * busy.c - how long the writer's lock is held, and how long a mail waits for it.
 *
 * busy STORE: match a day, build all digests and run the maintenance, while another
 * handle inserts a small row every few milliseconds, like an arriving mail.  Changes
 * the store.  On a machine that does other work, too, the CPU time with the lock says
 * more.
 */
#include <glib.h>
#include <sqlite3.h>
#include <stdio.h>
#include <time.h>

#include "input.h"
#include "service/digest/digest_build.h"
#include "service/health/maintenance.h"
#include "service/match/match.h"
#include "stopwatch.h"
#include "store/core/sql.h"

/* Pause between two mails. */
#define MAIL_US 2000

static const char sql_inbox[] =
    "INSERT INTO audit_log (at, who, what) VALUES (0, 'inbox', 'stored')";

/* Duration of the transactions of a handle. */
struct watch {
	int64_t started_us; /* 0: no transaction */
	int64_t started_cpu_us;
	int64_t longest_us;
	int64_t longest_cpu_us;
};

struct postman {
	const char *path;
	gint is_over;
	gint longest_us; /* of this step: from the first try to the commit */
	unsigned messages;
	struct watch watch;
};

/* Checkpoint threshold, as in the daemon: after a commit, when others may write. */
#define CHECKPOINT_PAGES 1000

/* CPU time of this thread. */
static int64_t
get_cpu_us(void)
{
	struct timespec at;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
	return at.tv_sec * G_USEC_PER_SEC + at.tv_nsec / 1000;
}

/* Called after a commit, when the writer's lock is released. */
static int
record_end(void *data, sqlite3 *db, const char *name, int pages)
{
	struct watch *watch = data;

	if (watch->started_us) {
		watch->longest_us =
		    MAX(watch->longest_us, g_get_monotonic_time() - watch->started_us);
		watch->longest_cpu_us =
		    MAX(watch->longest_cpu_us, get_cpu_us() - watch->started_cpu_us);
	}
	watch->started_us = 0;
	/* SQLITE_BUSY is fine: the other handle checkpoints. */
	if (pages >= CHECKPOINT_PAGES)
		sqlite3_wal_checkpoint(db, name);
	return SQLITE_OK;
}

static gpointer
deliver_mail(gpointer data)
{
	struct postman *postman = data;
	pb_auto(store) store = input_open_store(postman->path);

	sqlite3_wal_hook(store->db, record_end, &postman->watch);
	while (!g_atomic_int_get(&postman->is_over)) {
		postman->watch.started_us = g_get_monotonic_time();
		g_assert_cmpint(
		    sqlite3_exec(store->db, sql_inbox, 0, 0, 0), ==, SQLITE_OK);
		postman->messages++;
		if (postman->watch.longest_us > g_atomic_int_get(&postman->longest_us))
			g_atomic_int_set(
			    &postman->longest_us, (gint)postman->watch.longest_us);
		postman->watch.longest_us = 0;
		g_usleep(MAIL_US);
	}
	return NULL;
}

/* The lock is held once BEGIN IMMEDIATE is done; a statement alone begins with it. */
static int
note_begin(unsigned event, void *context, void *statement, void *detail)
{
	struct watch *watch = context;
	bool is_begin = g_str_has_prefix(sqlite3_sql(statement), "BEGIN IMMEDIATE");
	bool is_alone = sqlite3_get_autocommit(sqlite3_db_handle(statement)) &&
	                !sqlite3_stmt_readonly(statement) && !is_begin;

	(void)detail;
	if (event == SQLITE_TRACE_STMT ? is_alone : is_begin) {
		watch->started_us = g_get_monotonic_time();
		watch->started_cpu_us = get_cpu_us();
	}
	return 0;
}

/* Print how long a step held the lock at most, and a mail waited, in ms. */
static void
end_step(const char *name, struct watch *watch, struct postman *postman)
{
	printf("%s_ms=%.3f %s_cpu_ms=%.3f %s_mail_ms=%.3f ", name,
	    (double)watch->longest_us / 1e3, name, (double)watch->longest_cpu_us / 1e3,
	    name, g_atomic_int_get(&postman->longest_us) / 1e3);
	g_atomic_int_set(&postman->longest_us, 0);
	*watch = (struct watch){0};
}

int
main(int argc, char **argv)
{
	struct match_report matched = {0};
	struct digest_build_report made = {0};
	struct stopwatch all = {0};
	struct watch watch = {0};
	g_autoptr(GBytes) key =
	    g_bytes_new_static("0123456789abcdef0123456789abcdef", 32);
	g_autoptr(GError) error = NULL;
	struct postman postman = {0};
	pb_auto(store) store = NULL;
	GThread *thread;

	if (argc != 2) {
		fprintf(stderr, "usage: busy STORE\n");
		return 64;
	}
	store = input_open_store(argv[1]);
	sqlite3_trace_v2(
	    store->db, SQLITE_TRACE_STMT | SQLITE_TRACE_PROFILE, note_begin, &watch);
	sqlite3_wal_hook(store->db, record_end, &watch);
	postman.path = argv[1];
	thread = g_thread_new("postman", deliver_mail, &postman);
	stopwatch_start(&all);
	g_assert_true(match_run(store, INPUT_NOW, &matched, &error));
	end_step("match", &watch, &postman);
	g_assert_true(digest_build_run(store, key, NULL, INPUT_NOW, &made, &error));
	end_step("digest_build", &watch, &postman);
	g_assert_true(maintenance_run(store, INPUT_NOW, &error));
	end_step("maintenance", &watch, &postman);
	stopwatch_stop(&all);
	g_atomic_int_set(&postman.is_over, 1);
	g_thread_join(thread);
	stopwatch_print(&all);
	printf("mails=%u pairs=%u digests=%u\n", postman.messages, matched.found,
	    made.digests);
	return 0;
}
