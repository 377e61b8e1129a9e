/*
 * helper_postgresql.c - tests of the driver, which tests/test_engines.py runs.
 *
 * Needs $PAPERBOY_TEST_STORE, see tests/lib/store_server.h.
 */
#include <glib/gstdio.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "store/core/history.h"
#include "store/core/postgresql.h"
#include "store/core/sql.h"
#include "store/core/transaction.h"
#include "store/mail/digests.h"

/* A fixture with a table, and another handle on its store. */
struct pair {
	struct store_fixture *fixture;
	struct store *one, *other; /* one is the fixture's */
};

static void
pair_clear(struct pair *pair)
{
	store_free(pair->other);
	store_fixture_free(pair->fixture);
}

static void
pair_init(struct pair *pair)
{
	pair->fixture = store_fixture_new();
	pair->one = pair->fixture->store;
	pair->other = NO_ERROR(store_open(pair->fixture->path, &error));
	store_fixture_run(pair->fixture,
	    "CREATE TABLE value (id BIGINT PRIMARY KEY, number BIGINT, name TEXT,"
	    " data BYTEA, CHECK (number <> 13));"
	    "INSERT INTO value (id, number) VALUES (1, 0), (2, 0)");
}

static bool
insert(struct store *store, int64_t id, int64_t number, GError **error)
{
	static const char sql[] = "INSERT INTO value (id, number) VALUES (?1, ?2)";

	return sql_exec(store, sql, error, SQL_INT(id), SQL_INT(number));
}

static int64_t
load_number(struct store *store, int64_t id, GError **error)
{
	static const char sql[] =
	    "SELECT coalesce((SELECT number FROM value WHERE id = ?1), -1)";
	int64_t number = -2;

	sql_number(store, sql, &number, error, SQL_INT(id));
	return number;
}

static bool
save_number(struct store *store, int64_t id, int64_t number, GError **error)
{
	static const char sql[] = "UPDATE value SET number = ?2 WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(id), SQL_INT(number));
}

TEST(values_come_back_as_they_were)
{
	static const char sql[] = "SELECT ?1, ?2, ?3, ?4, '?5' || $tag$?6$tag$";
	static const char bytes[] = "\0\xff\\x41";
	const int64_t numbers[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
	pb_local(pair) pair;

	pair_init(&pair);
	for (unsigned i = 0; i < G_N_ELEMENTS(numbers); i++) {
		g_autofree char *digits =
		    g_strdup_printf("%" G_GINT64_FORMAT, numbers[i]);
		sql_auto *row = sql_bind(pair.one, sql, NULL, SQL_INT(numbers[i]),
		    SQL_TEXT("a'\"\\\t\xc3\xbc"), SQL_BLOB(bytes, sizeof(bytes)),
		    SQL_TEXT(NULL));
		struct sql_bytes found;

		g_assert_cmpint(sql_step(row, NULL), ==, SQL_STEP_ROW);
		g_assert_cmpint(sql_count_columns(row), ==, 5);
		g_assert_cmpint(sql_get_int(row, 0), ==, numbers[i]);
		g_assert_cmpstr(sql_get_text(row, 0), ==, digits);
		g_assert_cmpint(sql_get_kind(row, 0), ==, SQL_KIND_INT);
		g_assert_cmpstr(sql_get_text(row, 1), ==, "a'\"\\\t\xc3\xbc");
		g_assert_cmpint(sql_get_kind(row, 1), ==, SQL_KIND_TEXT);
		found = sql_get_bytes(row, 2);
		g_assert_cmpmem(found.data, found.size, bytes, sizeof(bytes));
		g_assert_cmpint(sql_get_kind(row, 2), ==, SQL_KIND_BLOB);
		g_assert_null(sql_get_text(row, 3));
		g_assert_cmpint(sql_get_int(row, 3), ==, -1);
		g_assert_cmpint(sql_get_kind(row, 3), ==, SQL_KIND_NULL);
		g_assert_cmpstr(sql_get_text(row, 4), ==, "?5?6");
		g_assert_cmpint(sql_step(row, NULL), ==, SQL_STEP_DONE);
	}
}

static int64_t
load_hash(struct store *store, const char *sql)
{
	int64_t number = 0;

	g_assert_true(NO_ERROR(sql_int64(store, sql, &number, &error)));
	return number;
}

TEST(sums_and_truth_values_are_numbers)
{
	static const char *const sums[] = {
	    "SELECT sum(n) FROM (VALUES (CAST(9223372036854775807 AS BIGINT))) v (n)",
	    "SELECT sum(n) FROM (VALUES (CAST(-90000 AS BIGINT)), (-12345678)) v (n)",
	    "SELECT sum(n) FROM (VALUES (CAST(200000000 AS BIGINT))) v (n)",
	    "SELECT sum(n) FROM (VALUES (CAST(0 AS BIGINT))) v (n)",
	    "SELECT 2 > 1",
	    "SELECT 2 < 1",
	    "SELECT CAST(-7 AS SMALLINT)",
	    "SELECT CAST(1e30 AS NUMERIC)",
	    "SELECT CAST(-1e30 AS NUMERIC)",
	    "SELECT CAST(0.5 AS NUMERIC)",
	};
	static const int64_t wanted[] = {
	    INT64_MAX, -12435678, 200000000, 0, 1, 0, -7, INT64_MAX, INT64_MIN, 0};
	pb_local(pair) pair;

	pair_init(&pair);
	for (unsigned i = 0; i < G_N_ELEMENTS(sums); i++)
		g_assert_cmpint(load_hash(pair.one, sums[i]), ==, wanted[i]);
}

TEST(first_value_may_be_null)
{
	static const char sql[] =
	    "UPDATE value SET number = coalesce(?1, 3) WHERE id = 1";
	pb_local(pair) pair;
	g_autoptr(GError) error = NULL;

	pair_init(&pair);
	g_assert_true(sql_exec(pair.one, sql, &error, SQL_NULL));
	g_assert_cmpint(load_number(pair.one, 1, &error), ==, 3);
	g_assert_true(sql_exec(pair.one, sql, &error, SQL_INT(SQL_NUMBER_MAX)));
	g_assert_cmpint(load_number(pair.one, 1, &error), ==, SQL_NUMBER_MAX);
	g_assert_no_error(error);
}

TEST(changed_rows_are_counted)
{
	static const char sql[] = "UPDATE value SET number = 5 WHERE id <= ?1";
	pb_transaction transaction = {0};
	pb_local(pair) pair;
	unsigned count = 9;

	pair_init(&pair);
	g_assert_true(sql_exec_count(pair.one, sql, &count, NULL, SQL_INT(2)));
	g_assert_cmpuint(count, ==, 2);
	g_assert_true(store_begin(pair.one, &transaction, NULL));
	g_assert_true(insert(pair.one, 3, 1, NULL));
	g_assert_true(sql_exec_count(pair.one, sql, &count, NULL, SQL_INT(0)));
	g_assert_cmpuint(count, ==, 0);
	store_rollback(&transaction);
}

TEST(violated_constraint_is_an_error_of_input)
{
	pb_local(pair) pair;
	g_autoptr(GError) twice = NULL;
	g_autoptr(GError) check = NULL;
	g_autoptr(GError) unknown = NULL;

	pair_init(&pair);
	g_assert_false(insert(pair.one, 1, 1, &twice));
	g_assert_error(twice, PB_ERROR, PB_ERROR_INPUT);
	g_assert_nonnull(strstr(twice->message, "23505"));
	g_assert_false(insert(pair.one, 3, 13, &check));
	g_assert_error(check, PB_ERROR, PB_ERROR_INPUT);
	g_assert_false(sql_exec(pair.one, "SELECT a FROM nowhere", &unknown));
	g_assert_error(unknown, PB_ERROR, PB_ERROR_PERMANENT);
}

TEST(error_that_waited_is_one_of_the_commit)
{
	pb_local(pair) pair;
	g_autoptr(GError) error = NULL;

	pair_init(&pair);
	for (unsigned i = 0; i < 2; i++) {
		pb_transaction transaction = {0};

		g_assert_true(store_begin(pair.one, &transaction, &error));
		g_assert_true(insert(pair.one, 10, 1, &error));
		g_assert_true(insert(pair.one, i ? 11 : 1, 1, &error));
		g_assert_true(store_commit(&transaction, &error) == (i == 1));
		if (!i)
			g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
		g_clear_error(&error);
	}
	g_assert_cmpint(load_number(pair.other, 10, NULL), ==, 1);
	g_assert_cmpint(load_number(pair.other, 11, NULL), ==, 1);
}

TEST(ignored_error_does_not_commit)
{
	pb_transaction transaction = {0};
	pb_local(pair) pair;

	pair_init(&pair);
	g_assert_true(store_begin(pair.one, &transaction, NULL));
	g_assert_true(insert(pair.one, 10, 1, NULL));
	g_assert_false(sql_exec(pair.one, "SELECT 1 / 0", NULL));
	FAILS(PB_ERROR_PERMANENT, store_commit(&transaction, &error));
	store_rollback(&transaction);
	g_assert_cmpint(load_number(pair.one, 10, NULL), ==, -1);
}

TEST(savepoint_is_rolled_back_alone)
{
	pb_transaction outer = {0};
	pb_local(pair) pair;
	g_autoptr(GError) error = NULL;

	pair_init(&pair);
	g_assert_true(store_begin(pair.one, &outer, &error));
	g_assert_true(insert(pair.one, 10, 1, &error));
	for (int64_t i = 0; i < 3; i++) {
		pb_transaction inner = {0};

		/* It exists, is new, exists. */
		g_assert_true(store_begin(pair.one, &inner, &error));
		insert(pair.one, 20 + i, 1, NULL);
		insert(pair.one, i == 1 ? 30 : 1, 1, NULL);
		g_assert_true(store_commit(&inner, NULL) == (i == 1));
	}
	g_assert_true(store_commit(&outer, &error));
	g_assert_no_error(error);
	assert_rows(pair.fixture, "SELECT id FROM value ORDER BY id", "1 2 10 21 30");
}

TEST(rows_of_a_snapshot_do_not_change)
{
	pb_local(pair) pair;
	g_autoptr(GError) error = NULL;

	pair_init(&pair);
	{
		pb_snapshot snapshot = {0};

		g_assert_true(store_begin_reading(pair.one, &snapshot, &error));
		g_assert_cmpint(load_number(pair.one, 1, &error), ==, 0);
		g_assert_true(save_number(pair.other, 1, 4, &error));
		g_assert_cmpint(load_number(pair.one, 1, &error), ==, 0);
	}
	g_assert_cmpint(load_number(pair.one, 1, &error), ==, 4);
	g_assert_no_error(error);
}

/* ---- conflicts and lost connections ---- */

/* Work that is disturbed in its first run. */
struct disturbed {
	struct pair *pair;
	void (*disturb)(struct pair *pair);
	unsigned runs;
};

/* Read one row and write the other. */
static bool
work(struct store *store, void *data, GError **error)
{
	struct disturbed *disturbed = data;
	int64_t number = load_number(store, 2, error);

	if (!disturbed->runs++)
		disturbed->disturb(disturbed->pair);
	return number >= 0 && save_number(store, 1, number + 1, error);
}

/* The other handle reads what the work writes, and writes what it has read. */
static void
write_across(struct pair *pair)
{
	pb_transaction transaction = {0};
	g_autoptr(GError) error = NULL;

	g_assert_true(store_begin(pair->other, &transaction, &error));
	g_assert_true(save_number(
	    pair->other, 2, load_number(pair->other, 1, &error) + 10, &error));
	g_assert_true(store_commit(&transaction, &error));
	g_assert_no_error(error);
}

static void
end_session(struct pair *pair)
{
	static const char sql[] =
	    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
	    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
	    " AND application_name = 'paperboy'";
	int64_t count;

	g_assert_true(sql_number(pair->other, sql, &count, NULL));
	g_assert_cmpint(count, ==, 1);
}

static void
assert_runs_twice(void (*disturb)(struct pair *pair), int64_t wanted)
{
	pb_local(pair) pair;
	struct disturbed disturbed = {&pair, disturb, 0};
	g_autoptr(GError) error = NULL;

	pair_init(&pair);
	store_transact(pair.one, work, &disturbed, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(disturbed.runs, ==, 2);
	g_assert_cmpint(load_number(pair.one, 1, &error), ==, wanted);
}

TEST(transaction_that_conflicts_runs_again)
{
	assert_runs_twice(write_across, 11);
}

TEST(transaction_that_lost_its_connection_runs_again)
{
	assert_runs_twice(end_session, 1);
}

TEST(lost_connection_is_made_again)
{
	pb_local(pair) pair;
	g_autoptr(GError) error = NULL;

	pair_init(&pair);
	g_assert_cmpint(load_number(pair.one, 1, &error), ==, 0);
	end_session(&pair);
	g_assert_cmpint(load_number(pair.one, 1, &error), ==, 0);
	end_session(&pair);
	/* The server reports that it was not run. */
	g_assert_true(save_number(pair.one, 1, 7, &error));
	g_assert_cmpint(load_number(pair.other, 1, &error), ==, 7);
	g_assert_no_error(error);
}

TEST(transaction_that_lost_its_connection_fails_to_its_end)
{
	pb_transaction outer = {0};
	pb_local(pair) pair;
	g_autoptr(GError) error = NULL;

	pair_init(&pair);
	g_assert_true(store_begin(pair.one, &outer, &error));
	g_assert_cmpint(load_number(pair.one, 1, &error), ==, 0);
	end_session(&pair);
	for (unsigned i = 0; i < 3; i++) {
		pb_transaction inner = {0};
		g_autoptr(GError) lost = NULL;

		g_assert_cmpint(load_number(pair.one, 1, &lost), ==, -2);
		g_assert_error(lost, PB_ERROR, PB_ERROR_TEMPORARY);
		g_assert_false(store_begin(pair.one, &inner, NULL));
	}
	g_assert_false(store_commit(&outer, NULL));
	store_rollback(&outer);
	g_assert_cmpint(load_number(pair.one, 1, &error), ==, 0);
	g_assert_no_error(error);
}

TEST(many_statements_wait_at_once)
{
	pb_transaction transaction = {0};
	pb_local(pair) pair;
	g_autoptr(GError) error = NULL;

	pair_init(&pair);
	g_assert_true(store_begin(pair.one, &transaction, &error));
	for (int64_t i = 0; i < 5000; i++)
		g_assert_true(insert(pair.one, 100 + i, 100 + i, &error));
	g_assert_true(store_commit(&transaction, &error));
	g_assert_no_error(error);
	assert_rows(
	    pair.fixture, "SELECT count(*), sum(number) FROM value", "5002|12997500");
}

TEST(maintenance_of_files_is_that_of_tables)
{
	int version = 0, ours = 1;
	pb_local(pair) pair;
	pb_snapshot snapshot = {0};
	g_autoptr(GError) error = NULL;

	pair_init(&pair);
	store_defer_sync(pair.one);
	g_assert_true(save_number(pair.one, 1, 2, &error));
	g_assert_true(store_resume_sync(pair.one, &error));
	store_checkpoint(pair.one);
	/* Others read meanwhile. */
	g_assert_true(store_begin_reading(pair.other, &snapshot, &error));
	g_assert_cmpint(load_number(pair.other, 1, &error), ==, 2);
	g_assert_true(store_erase(pair.one, &error));
	g_assert_true(store_get_data_version(pair.one, &version, &ours, &error));
	g_assert_no_error(error);
	g_assert_cmpint(version, ==, ours);
	assert_rows(pair.fixture, "SHOW synchronous_commit", "on");
	assert_rows(pair.fixture, "SHOW statement_timeout", "10min");
}

/* ---- opening ---- */

static void
assert_refused(const char *url, int code, const char *part)
{
	g_autoptr(GError) error = NULL;

	g_assert_null(store_open(url, &error));
	g_assert_error(error, PB_ERROR, code);
	if (!strstr(error->message, part))
		g_error("%s: %s", url, error->message);
}

TEST(wrong_urls_are_refused)
{
	assert_refused("postgresql://a:secret@localhost/b", PB_ERROR_INPUT,
	    "has a password: move it to a file");
	assert_refused("postgresql://a/b?nonsense=1", PB_ERROR_INPUT, "nonsense");
	assert_refused("postgresql:///b?host=/nowhere", PB_ERROR_TEMPORARY,
	    "cannot connect to the database");
}

TEST(too_few_connections_are_reported)
{
	pb_local(pair) pair;
	g_autofree char *url = NULL;

	pair_init(&pair);
	store_fixture_run(pair.fixture, "DROP ROLE IF EXISTS limited; CREATE ROLE "
	                                "limited LOGIN CONNECTION LIMIT 0");
	url = g_strconcat(pair.fixture->path, "&user=limited", NULL);
	assert_refused(url, PB_ERROR_TEMPORARY, "max_connections");
}

TEST(reader_cannot_write)
{
	pb_local(pair) pair;
	pb_auto(store) reader = NULL;
	g_autoptr(GError) error = NULL;

	pair_init(&pair);
	reader = store_open_for_reading(pair.fixture->path, &error);
	g_assert_no_error(error);
	g_assert_cmpint(load_number(reader, 1, &error), ==, 0);
	g_assert_no_error(error);
	g_assert_false(save_number(reader, 1, 1, &error));
	g_assert_cmpint(load_number(pair.one, 1, NULL), ==, 0);
}

/* A server that accepts connections and answers no statement, or one that passes on
 * what another server says, and lies about a number. */
struct silent_server {
	char *directory, *path;
	struct sockaddr_un other; /* a lying server's */
	int fd;
	GThread *thread;
};

/* The number 123456789 as a numeric, and one that claims to have more digits. */
static const char honest[] = "\0\3\0\2\0\0\0\0\0\1\11\51\32\205";
static const char lying[] = "\177\377\177\377\0\0\0\0\0\1\11\51\32\205";

static void
pass_on(int from, int to)
{
	char buffer[65536], *found;
	ssize_t size = read(from, buffer, sizeof(buffer));

	found =
	    size > 0 ? memmem(buffer, (size_t)size, honest, sizeof(honest) - 1) : NULL;
	if (found)
		memcpy(found, lying, sizeof(lying) - 1);
	if (size <= 0 || send(to, buffer, (size_t)size, MSG_NOSIGNAL) != size)
		shutdown(from, SHUT_RDWR);
}

static void
lie(const struct silent_server *server, int fd)
{
	int other = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct pollfd fds[] = {
	    {.fd = fd, .events = POLLIN}, {.fd = other, .events = POLLIN}};

	g_assert_cmpint(connect(other, (const struct sockaddr *)&server->other,
	                    sizeof(server->other)),
	    ==, 0);
	while (poll(fds, 2, -1) > 0 && !((fds[0].revents | fds[1].revents) & POLLHUP)) {
		if (fds[0].revents)
			pass_on(fd, other);
		if (fds[1].revents)
			pass_on(other, fd);
	}
	close(other);
}

/* PostgreSQL's manual, "Message Formats": accepted, parameters, ready. */
static const char accepted[] = "R\0\0\0\10\0\0\0\0"
                               "S\0\0\0\26server_version\00015\0"
                               "S\0\0\0\46default_transaction_read_only\0off\0"
                               "S\0\0\0\27in_hot_standby\0off\0"
                               "Z\0\0\0\5I";

static gpointer
run_silent_server(gpointer data)
{
	const struct silent_server *server = data;
	char buffer[4096];
	int fd;

	while ((fd = accept(server->fd, NULL, NULL)) >= 0) {
		if (server->other.sun_family)
			lie(server, fd);
		else if (read(fd, buffer, sizeof(buffer)) > 0 &&
		         /* The client may have found another server. */
		         send(fd, accepted, sizeof(accepted) - 1, MSG_NOSIGNAL) > 0)
			while (read(fd, buffer, sizeof(buffer)) > 0)
				continue;
		close(fd);
	}
	return NULL;
}

/* @param url  of the other server of a lying one; or NULL */
static void
silent_server_init(struct silent_server *server, const char *url)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	server->other = (struct sockaddr_un){0};
	if (url) {
		const char *host = strstr(url, "host=") + strlen("host=");

		server->other.sun_family = AF_UNIX;
		g_snprintf(server->other.sun_path, sizeof(server->other.sun_path),
		    "%.*s/.s.PGSQL.5432", (int)strcspn(host, "&"), host);
	}
	server->directory = g_dir_make_tmp("pb-XXXXXX", NULL);
	server->path = g_build_filename(server->directory, ".s.PGSQL.5432", NULL);
	g_strlcpy(address.sun_path, server->path, sizeof(address.sun_path));
	server->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	g_assert_cmpint(
	    bind(server->fd, (struct sockaddr *)&address, sizeof(address)), ==, 0);
	g_assert_cmpint(listen(server->fd, 10), ==, 0);
	server->thread = g_thread_new("server", run_silent_server, server);
}

static void
silent_server_clear(struct silent_server *server)
{
	shutdown(server->fd, SHUT_RDWR);
	g_thread_join(server->thread);
	close(server->fd);
	g_unlink(server->path);
	g_rmdir(server->directory);
	g_free(server->path);
	g_free(server->directory);
}

TEST(server_that_hangs_is_not_waited_for)
{
	pb_local(silent_server) server;
	pb_local(pair) pair;
	pb_auto(store) store = NULL;
	g_autofree char *hosts = NULL, *alone = NULL, *both = NULL;
	g_auto(GStrv) parts = NULL;

	pair_init(&pair);
	silent_server_init(&server, NULL);
	alone = g_strdup_printf("postgresql:///postgres?host=%s", server.directory);
	assert_refused(alone, PB_ERROR_TEMPORARY, "no answer");
	hosts = g_strdup_printf("host=%s,", server.directory);
	parts = g_strsplit(pair.fixture->path, "host=", 2);
	both = g_strjoinv(hosts, parts);
	store = NO_ERROR(store_open(both, &error));
	g_assert_cmpint(NO_ERROR(load_number(store, 1, &error)), ==, 0);
}

TEST(digits_that_a_server_only_counts_are_not_read)
{
	pb_local(silent_server) server;
	pb_local(pair) pair;
	pb_auto(store) store = NULL;
	g_autofree char *url = NULL;
	g_auto(GStrv) parts = NULL;

	pair_init(&pair);
	silent_server_init(&server, pair.fixture->path);
	parts = g_strsplit(pair.fixture->path, "host=", 2);
	url = g_strdup_printf(
	    "%shost=%s%s", parts[0], server.directory, strchr(parts[1], '&'));
	store = NO_ERROR(store_open(url, &error));
	g_assert_cmpint(
	    load_hash(store, "SELECT CAST(123456789 AS NUMERIC)"), ==, INT64_MAX);
	g_clear_pointer(&store, store_free);
}

static bool
sleep_once(struct store *store, void *data, GError **error)
{
	static const char sql[] = "SELECT 1 FROM pg_sleep(60)";
	unsigned *runs = data;
	int64_t number;

	++*runs;
	return sql_number(store, sql, &number, error);
}

TEST(statement_that_hangs_is_given_up)
{
	pb_local(pair) pair;
	unsigned runs = 0;

	pair_init(&pair);
	store_set_wait(pair.one, 1);
	FAILS(PB_ERROR_TEMPORARY, sleep_once(pair.one, &runs, &error));
	runs = 0;
	FAILS(PB_ERROR_TEMPORARY, store_transact(pair.one, sleep_once, &runs, &error));
	g_assert_cmpuint(runs, ==, 1);
	store_set_wait(pair.one, STORE_WAIT_S);
	g_assert_cmpint(NO_ERROR(load_number(pair.one, 1, &error)), ==, 0);
}

TEST(server_that_was_replaced_is_refused)
{
	static const char sql[] = "SELECT 1 AS one";
	pb_local(pair) pair;
	g_autofree char *directory = g_dir_make_tmp("pb-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(directory, "server", NULL);
	struct store_server server = {.history_path = path};
	struct history found;
	struct store *handle;
	g_autoptr(GError) error = NULL;
	int64_t number;

	pair_init(&pair);
	server.url = pair.fixture->path;
	handle = postgresql_open(&server, &error);
	g_assert_no_error(error);
	g_assert_true(history_load_file(path, &found, &error));
	g_assert_cmpint(found.timeline, ==, 1);
	/* Another process has used a server that was promoted. */
	found.timeline++;
	g_assert_true(history_save_file(path, &found, &error));
	g_assert_false(sql_number(handle, sql, &number, &error));
	g_assert_true(store_is_outdated(handle));
	store_free(handle);
	g_clear_error(&error);
	for (int i = 0; i < 2; i++) {
		server.is_read_only = i;
		g_assert_null(postgresql_open(&server, &error));
		g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
		g_assert_nonnull(strstr(error->message, "it must not run"));
		g_clear_error(&error);
	}
	/* A server that continues no other one has lost nothing. */
	found.cluster++;
	g_assert_true(history_save_file(path, &found, &error));
	server.is_read_only = false;
	store_free(postgresql_open(&server, &error));
	g_assert_no_error(error);
	g_assert_true(g_file_set_contents(path, "x", -1, NULL));
	g_assert_null(postgresql_open(&server, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_PERMANENT);
	g_unlink(path);
	g_rmdir(directory);
}

/* The server's statistics count rows that were read, of indexes and tables. */
static int64_t
count_rows_read(struct store_fixture *fixture)
{
	store_fixture_run(fixture, "SELECT pg_stat_force_next_flush()");
	return store_fixture_number(fixture,
	    "SELECT (SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname ="
	    " 'digest') + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes"
	    " WHERE relname = 'digest')");
}

TEST(last_digest_is_found_without_those_of_others)
{
	pb_auto(store_fixture) fixture = store_fixture_new();
	int64_t before, at;

	store_fixture_subscribe(fixture, "ada@example.org", "UTC", NULL, 1);
	store_fixture_subscribe(fixture, "bob@example.org", "UTC", NULL, 1);
	store_fixture_run(fixture,
	    "INSERT INTO digest (subscriber_id, slot, date, message_token, created_at,"
	    " state, papers, newest_day, contents) SELECT CASE n WHEN 1 THEN 1 ELSE 2"
	    " END, 's' || n, '2026-01-01', '12345678901234567', n, 'sent', 0,"
	    " '2026-01-01', CAST('x' AS BYTEA) FROM generate_series(1, 1000) n;"
	    "ANALYZE digest");
	before = count_rows_read(fixture);
	g_assert_true(
	    NO_ERROR(digests_load_last_built(fixture->store, 1, &at, &error)));
	g_assert_cmpint(at, ==, 1);
	g_assert_cmpint(count_rows_read(fixture) - before, <, 10);
}

UNIT_MAIN
