/*
 * postgresql.c - the engine PostgreSQL, by libpq.
 */
#include "store/core/postgresql.h"

#include <libpq-fe.h>
#include <string.h>

#include "base/error.h"
#include "store/core/engine.h"
#include "store/core/history.h"
#include "store/core/postgresql_connect.h"
#include "store/core/postgresql_load.h"
#include "store/core/transaction.h"

/* Maximum number of statements in the queue; their results wait in the server. */
#define QUEUE_MAX 200

/* Interval of looks at the recorded history. */
#define CHECK_S 5

#define NUMBER_BYTES 24

/* The types that are used (pg_type.dat). */
enum type {
	TYPE_UNKNOWN = 0,
	TYPE_BOOL = 16,
	TYPE_BYTEA = 17,
	TYPE_INT8 = 20,
	TYPE_INT2 = 21,
	TYPE_INT4 = 23,
	TYPE_TEXT = 25,
	TYPE_NUMERIC = 1700,
};

/* The connection of a store. */
struct postgresql {
	struct store_server server;
	PGconn *connection; /* NULL: lost, or not made yet */
	struct history history;
	/* Since a result took longer than store_set_wait(): the work is not run again,
	 * which would wait as long. */
	bool is_silent;
	int64_t check_us;    /* time of the next look at the recorded history */
	unsigned number;     /* of the connection, from 1 */
	unsigned statements; /* number of names given */
	GPtrArray *queue;    /* sent: the statement that is prepared, or NULL */
	unsigned depth;      /* 0: no transaction; 1: one; more: savepoints */
	GByteArray *rows;    /* of a COPY that is not at its end, or NULL */
	/* The last statement of the queue, if its rows are passed on as they arrive. */
	struct postgresql_statement *streamed;
	const struct sql_callback *callback;
};

struct postgresql_statement {
	struct sql_statement base;
	struct store *store;
	char *text; /* with $1 */
	char name[NUMBER_BYTES];
	unsigned prepared; /* the number of the connection; 0: none */
	bool is_bound;
	int count; /* of parameters */
	Oid *types;
	const char **values;
	int *lengths, *formats;
	char (*numbers)[NUMBER_BYTES];
	PGresult *result; /* of the run; NULL before */
	int row;
	GPtrArray *texts; /* numbers that were read as text, of the row */
};

/* ---- the connection ---- */

static void
lose(struct postgresql *postgresql)
{
	g_clear_pointer(&postgresql->connection, PQfinish);
	g_clear_pointer(&postgresql->rows, g_byte_array_unref);
	g_ptr_array_set_size(postgresql->queue, 0);
}

/* Whether a server has all commits that the handle may have seen. */
static bool
check_history(struct store *store, const struct history *history, GError **error)
{
	const struct history *known = &store->postgresql->history;

	store->is_outdated =
	    !store->postgresql->server.is_read_only &&
	    (history->cluster != known->cluster || history->timeline > known->timeline);
	return !store->is_outdated ||
	       pb_fail(error, PB_ERROR_TEMPORARY,
	           "the database server was replaced by another one, which may lack "
	           "the last commits");
}

/* Whether another handle or process has not found a newer server. */
static bool
check_recorded(struct store *store, GError **error)
{
	struct postgresql *postgresql = store->postgresql;
	int64_t now_us = g_get_monotonic_time();
	struct history recorded;

	if (postgresql->server.is_read_only || now_us < postgresql->check_us)
		return true;
	postgresql->check_us = now_us + CHECK_S * G_USEC_PER_SEC;
	if (!history_load_file(postgresql->server.history_path, &recorded, error))
		return false;
	if (!history_is_before(&postgresql->history, &recorded))
		return true;
	lose(postgresql);
	return check_history(store, &recorded, error);
}

static bool
connect_again(struct store *store, GError **error)
{
	struct postgresql *postgresql = store->postgresql;
	struct history history;
	PGconn *connection = postgresql_connect(
	    &postgresql->server, &postgresql->history, &history, error);

	if (!connection)
		return false;
	if (!check_history(store, &history, error)) {
		PQfinish(connection);
		return false;
	}
	postgresql->connection = connection;
	postgresql->is_silent = false;
	postgresql->number++;
	return true;
}

/*
 * Connect if there is no connection and no transaction that was lost with it, and check
 * before a transaction that the server is still the one to use.
 */
static bool
ensure(struct store *store, GError **error)
{
	struct postgresql *postgresql = store->postgresql;

	if (postgresql->connection)
		return postgresql->depth || check_recorded(store, error);
	if (postgresql->depth) {
		postgresql_set_lost(error, NULL);
		return false;
	}
	return store->is_outdated
	           ? pb_fail(error, PB_ERROR_TEMPORARY,
	                 "the database server was replaced by another one")
	           : connect_again(store, error);
}

/* @param statement  that is prepared, or NULL; @param is_sent  by libpq */
static bool
enqueue(struct store *store, struct postgresql_statement *statement, bool is_sent,
    GError **error)
{
	struct postgresql *postgresql = store->postgresql;

	if (is_sent) {
		g_ptr_array_add(postgresql->queue, statement);
		return true;
	}
	postgresql_set_lost(error, postgresql->connection);
	store->has_conflict = postgresql->depth > 0;
	lose(postgresql);
	return false;
}

static bool
send_command(struct store *store, const char *sql, GError **error)
{
	struct postgresql *postgresql = store->postgresql;

	return ensure(store, error) && enqueue(store, NULL,
	                                   PQsendQueryParams(postgresql->connection,
	                                       sql, 0, NULL, NULL, NULL, NULL, 1),
	                                   error);
}

static bool
send_statement(
    struct store *store, struct postgresql_statement *statement, GError **error)
{
	struct postgresql *postgresql = store->postgresql;

	if (!ensure(store, error))
		return false;
	if (statement->prepared != postgresql->number) {
		g_snprintf(statement->name, sizeof(statement->name), "s%u",
		    ++postgresql->statements);
		if (!enqueue(store, statement,
		        PQsendPrepare(postgresql->connection, statement->name,
		            statement->text, statement->count, statement->types),
		        error))
			return false;
		statement->prepared = postgresql->number;
	}
	return enqueue(store, NULL,
	    PQsendQueryPrepared(postgresql->connection, statement->name,
	        statement->count, statement->values, statement->lengths,
	        statement->formats, 1),
	    error);
}

static PGresult *
get_result(const struct store *store)
{
	struct postgresql *postgresql = store->postgresql;
	int64_t deadline_us = g_get_monotonic_time() + store->wait_s * G_USEC_PER_SEC;
	PGresult *result = postgresql_get_result(postgresql->connection, store->wait_s);

	postgresql->is_silent |= g_get_monotonic_time() >= deadline_us;
	return result;
}

/* The result of the next statement of the queue. @return NULL: the connection is lost
 */
static PGresult *
read_result(const struct store *store)
{
	PGresult *result = get_result(store), *more;

	while (result && PQresultStatus(result) != PGRES_PIPELINE_SYNC &&
	       (more = get_result(store)))
		PQclear(more);
	return result;
}

/* Pass on the rows of the streamed statement. @return the result after them, as
 * read_result() */
static PGresult *
read_rows(struct store *store)
{
	struct postgresql *postgresql = store->postgresql;
	struct postgresql_statement *statement = postgresql->streamed;
	PGresult *result, *more;

	PQsetSingleRowMode(postgresql->connection);
	statement->row = 0;
	while ((result = get_result(store)) &&
	       PQresultStatus(result) == PGRES_SINGLE_TUPLE) {
		statement->result = result;
		postgresql->callback->call(
		    postgresql->callback->data, &statement->base);
		g_ptr_array_set_size(statement->texts, 0);
		g_clear_pointer(&statement->result, PQclear);
	}
	while (result && (more = get_result(store)))
		PQclear(more);
	return result;
}

/*
 * Note the failure of a statement of the queue; the first one is reported.
 *
 * @return false if the session is over
 */
static bool
note_failure(struct store *store, struct postgresql_statement *statement,
    const PGresult *result, GError **problem)
{
	bool is_over = !store->postgresql->server.is_read_only &&
	               postgresql_is_session_over(result);

	if (statement)
		statement->prepared = 0;
	if (PQresultStatus(result) == PGRES_PIPELINE_ABORTED || *problem)
		return true;
	/* Nothing was committed. */
	store->has_conflict |= (is_over && !store->postgresql->is_silent) ||
	                       postgresql_is_conflict(result);
	postgresql_set_error(problem, result);
	if (statement)
		g_prefix_error(problem, "cannot prepare a statement: ");
	return !is_over;
}

/*
 * Read the results of the queue.
 *
 * @param last  set to the result of the last statement
 * @return false if the connection is lost; errors of statements are in `problem`
 */
static bool
read_results(struct store *store, PGresult **last, GError **problem)
{
	struct postgresql *postgresql = store->postgresql;
	PGresult *sync;
	bool is_over = false, is_in_step;

	for (guint i = 0; i < postgresql->queue->len; i++) {
		bool is_streamed =
		    postgresql->streamed && i + 1 == postgresql->queue->len;
		PGresult *result = is_streamed ? read_rows(store) : read_result(store);
		ExecStatusType status = PQresultStatus(result);

		g_clear_pointer(last, PQclear);
		*last = result;
		if (!result)
			return false;
		if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
			continue;
		is_over |=
		    !note_failure(store, postgresql->queue->pdata[i], result, problem);
	}
	sync = read_result(store);
	is_in_step = PQresultStatus(sync) == PGRES_PIPELINE_SYNC;
	PQclear(sync);
	return is_in_step && !is_over;
}

/*
 * Run the queue. @param last  set to the result of the last statement; or NULL
 */
static bool
run_queue(struct store *store, PGresult **last, GError **error)
{
	struct postgresql *postgresql = store->postgresql;
	g_autoptr(GError) problem = NULL;
	PGresult *result = NULL;
	bool is_connected = PQpipelineSync(postgresql->connection) == 1 &&
	                    read_results(store, &result, &problem);

	store->trips++;
	g_ptr_array_set_size(postgresql->queue, 0);
	if (!is_connected) {
		if (!problem)
			postgresql_set_lost(&problem, postgresql->connection);
		/* Nothing was committed before COMMIT was sent. */
		store->has_conflict |= postgresql->depth > 0 && !postgresql->is_silent;
		lose(postgresql);
	}
	if (last && !problem)
		*last = g_steal_pointer(&result);
	PQclear(result);
	if (!problem)
		return true;
	g_propagate_error(error, g_steal_pointer(&problem));
	return false;
}

/* ---- statements ---- */

static void
free_statement(gpointer data)
{
	struct postgresql_statement *statement = data;

	PQclear(statement->result);
	g_ptr_array_unref(statement->texts);
	g_free(statement->text);
	g_free(statement->types);
	g_free(statement->values);
	g_free(statement->lengths);
	g_free(statement->formats);
	g_free(statement->numbers);
	g_free(statement);
}

/* The end of a string, an identifier or text between $tag$ that begins here. */
static const char *
find_end(const char *at)
{
	const char *end = NULL;
	size_t tag = *at == '$' ? strcspn(at + 1, "$ \n\t'\"?") + 2 : 1;
	g_autofree char *mark = g_strndup(at, tag);

	if (*at != '$' || at[tag - 1] == '$')
		end = strstr(at + tag, mark);
	return end ? end + tag : at + 1;
}

/*
 * Replace ?1 by $1, and ? by the number after the last one, and remove the marks of
 * SQL_LOCK().
 *
 * @param count  set
 */
static char *
translate(const char *sql, int *count)
{
	GString *text = g_string_new(NULL);
	int number = 0;

	*count = 0;
	while (*sql) {
		const char *end = strchr("'\"$", *sql) ? find_end(sql) : sql + 1;

		if (*sql == '?') {
			char *digits = (char *)end;

			number = g_ascii_isdigit(*end)
			             ? (int)g_ascii_strtoll(end, &digits, 10)
			             : *count + 1;
			*count = MAX(*count, number);
			g_string_append_printf(text, "$%d", number);
			end = digits;
		} else if (g_str_has_prefix(sql, "/*!")) {
			end = sql + strlen("/*!");
		} else if (g_str_has_prefix(sql, "*/")) {
			end = sql + strlen("*/");
		} else {
			g_string_append_len(text, sql, end - sql);
		}
		sql = end;
	}
	return g_string_free(text, FALSE);
}

static void
set_type(struct postgresql_statement *statement, int i, Oid type)
{
	if (!type || statement->types[i] == type)
		return;
	/* It was prepared when the first value was NULL. */
	statement->types[i] = type;
	statement->prepared = 0;
}

static void
bind_value(struct postgresql_statement *statement, int i, const struct sql_value *value)
{
	statement->values[i] = value->text;
	statement->lengths[i] = (int)value->number;
	statement->formats[i] = value->kind == SQL_KIND_BLOB;
	switch (value->kind) {
	case SQL_KIND_INT:
		set_type(statement, i, TYPE_INT8);
		g_snprintf(statement->numbers[i], NUMBER_BYTES, "%" G_GINT64_FORMAT,
		    value->number);
		statement->values[i] = statement->numbers[i];
		break;
	case SQL_KIND_TEXT:
		set_type(statement, i, TYPE_TEXT);
		break;
	case SQL_KIND_BLOB:
		set_type(statement, i, TYPE_BYTEA);
		break;
	case SQL_KIND_NULL:
		break;
	case SQL_KIND_POINTER:
	case SQL_KIND_END:
		g_assert_not_reached();
	}
}

static struct sql_statement *
bind(struct store *store, const char *sql, const struct sql_value *values,
    GError **error)
{
	struct postgresql_statement *statement =
	    g_hash_table_lookup(store->statements, sql);
	int count = 0;

	(void)error;
	if (!statement) {
		statement = g_new0(struct postgresql_statement, 1);
		statement->base.engine = store->engine;
		statement->store = store;
		statement->text = translate(sql, &statement->count);
		statement->types = g_new0(Oid, statement->count);
		statement->values = g_new0(const char *, statement->count);
		statement->lengths = g_new0(int, statement->count);
		statement->formats = g_new0(int, statement->count);
		statement->numbers =
		    g_malloc0_n((gsize)statement->count, sizeof(*statement->numbers));
		statement->texts = g_ptr_array_new_with_free_func(g_free);
		g_hash_table_insert(store->statements, (gpointer)sql, statement);
	}
	/* Two loops over one statement would share its rows. */
	g_assert(!statement->is_bound);
	for (; values[count].kind != SQL_KIND_END; count++) {
		g_assert(count < statement->count);
		bind_value(statement, count, &values[count]);
	}
	g_assert(count == statement->count);
	statement->is_bound = true;
	return &statement->base;
}

static void
reset(struct sql_statement *base)
{
	struct postgresql_statement *statement = (struct postgresql_statement *)base;

	g_clear_pointer(&statement->result, PQclear);
	g_ptr_array_set_size(statement->texts, 0);
	statement->is_bound = false;
}

static bool
is_query(const struct postgresql_statement *statement)
{
	return g_str_has_prefix(statement->text, "SELECT ");
}

/* Run a statement that was bound, after those of the queue. */
static bool
run(struct postgresql_statement *statement, GError **error)
{
	struct store *store = statement->store;
	struct postgresql *postgresql = store->postgresql;

	for (unsigned runs = 1;; runs++) {
		bool is_alone = postgresql->depth == 0;
		g_autoptr(GError) problem = NULL;

		if (is_alone)
			store->has_conflict = false;
		if (send_statement(store, statement, &problem) &&
		    run_queue(store, &statement->result, &problem)) {
			statement->row = -1;
			return true;
		}
		/* A query may run again also if the connection was lost. */
		if (!is_alone || runs == TRANSACTION_RUNS_MAX ||
		    (!store->has_conflict &&
		        (!is_query(statement) || postgresql->connection ||
		            postgresql->is_silent || runs > 1))) {
			g_propagate_error(error, g_steal_pointer(&problem));
			return false;
		}
		transaction_wait(runs);
	}
}

static enum sql_step
step(struct sql_statement *base, GError **error)
{
	struct postgresql_statement *statement = (struct postgresql_statement *)base;

	if (!statement->result && !run(statement, error))
		return SQL_STEP_FAILED;
	g_ptr_array_set_size(statement->texts, 0);
	return ++statement->row < PQntuples(statement->result) ? SQL_STEP_ROW
	                                                       : SQL_STEP_DONE;
}

/* Whether nothing is to be known about the result but an error. */
static bool
may_wait(const struct postgresql_statement *statement)
{
	const char *text = statement->text;

	return g_str_has_prefix(text, "INSERT ") || g_str_has_prefix(text, "UPDATE ") ||
	       g_str_has_prefix(text, "DELETE ") || g_str_has_prefix(text, "WITH ");
}

static bool
exec(struct store *store, const char *sql, const struct sql_value *values,
    unsigned *count, GError **error)
{
	sql_auto *base = bind(store, sql, values, error);
	struct postgresql_statement *statement = (struct postgresql_statement *)base;
	struct postgresql *postgresql = store->postgresql;

	if (!count && postgresql->depth && may_wait(statement))
		return send_statement(store, statement, error) &&
		       (postgresql->queue->len < QUEUE_MAX ||
		           run_queue(store, NULL, error));
	if (!run(statement, error))
		return false;
	if (count)
		*count = (unsigned)g_ascii_strtoull(
		    PQcmdTuples(statement->result), NULL, 10);
	return true;
}

static bool
insert(struct store *store, const char *sql, const struct sql_value *values,
    int64_t *id, GError **error)
{
	return sql_number_values(store, sql, values, id, error);
}

/* A row at a time is in memory.  Nothing is run again: the rows were passed on. */
static bool
run_each(struct store *store, const char *sql, const struct sql_value *values,
    const struct sql_callback *callback, GError **error)
{
	sql_auto *base = bind(store, sql, values, error);
	struct postgresql *postgresql = store->postgresql;
	bool is_ok;

	if (!send_statement(store, (struct postgresql_statement *)base, error))
		return false;
	postgresql->streamed = (struct postgresql_statement *)base;
	postgresql->callback = callback;
	is_ok = run_queue(store, NULL, error);
	postgresql->streamed = NULL;
	return is_ok;
}

/* ---- rows in bulk ---- */

/* @param result  freed; NULL: the connection is lost */
static bool
end_load(struct store *store, PGresult *result, GError **error)
{
	struct postgresql *postgresql = store->postgresql;
	bool is_ok = result && PQresultStatus(result) == PGRES_COMMAND_OK;

	if (result && !is_ok)
		postgresql_set_error(error, result);
	if (!result || !PQenterPipelineMode(postgresql->connection)) {
		postgresql_set_lost(
		    is_ok || !result ? error : NULL, postgresql->connection);
		lose(postgresql);
		is_ok = false;
	}
	PQclear(result);
	return is_ok;
}

/* COPY is not a part of a pipeline. */
static bool
load_begin(struct store *store, const char *sql, GError **error)
{
	struct postgresql *postgresql = store->postgresql;

	if (!ensure(store, error) ||
	    (postgresql->queue->len && !run_queue(store, NULL, error)))
		return false;
	if (PQexitPipelineMode(postgresql->connection))
		postgresql->rows = postgresql_load_begin(
		    postgresql->connection, sql, store->wait_s, error);
	else
		postgresql_set_lost(error, postgresql->connection);
	if (!postgresql->rows && !PQenterPipelineMode(postgresql->connection))
		lose(postgresql);
	return postgresql->rows != NULL;
}

static bool
load_row(struct store *store, const struct sql_value *values, GError **error)
{
	struct postgresql *postgresql = store->postgresql;

	return postgresql_load_add(postgresql->connection, postgresql->rows, values) ||
	       end_load(store, NULL, error);
}

static bool
load_end(struct store *store, GError **error)
{
	struct postgresql *postgresql = store->postgresql;
	g_autoptr(GByteArray) rows = g_steal_pointer(&postgresql->rows);

	return end_load(store,
	    postgresql_load_end(postgresql->connection, rows, store->wait_s), error);
}

/* ---- rows, in the binary format ---- */

/* A cell of the current row. */
struct cell {
	const char *data; /* NULL for NULL; '\0' follows */
	size_t size;
	Oid type;
};

static struct cell
get_cell(struct sql_statement *base, int column)
{
	const struct postgresql_statement *statement =
	    (struct postgresql_statement *)base;
	const PGresult *result = statement->result;
	int row = statement->row;

	return (struct cell){
	    .data = PQgetisnull(result, row, column) ? NULL
	                                             : PQgetvalue(result, row, column),
	    .size = (size_t)PQgetlength(result, row, column),
	    .type = PQftype(result, column),
	};
}

/* A big-endian number with a sign. @param size  1 to 8 bytes */
static int64_t
read_number(const char *at, size_t size)
{
	uint64_t number = *at & 0x80 ? UINT64_MAX : 0;

	for (size_t i = 0; i < size; i++)
		number = number << 8 | (guint8)at[i];
	return (int64_t)number;
}

/*
 * The integral part of a numeric, such as the sum of integers: the number of digits to
 * base 10000, the exponent of the first, the sign, the scale, and the digits, of 16
 * bits each (numeric_send() of PostgreSQL).  Too large ones become the largest.
 */
static int64_t
read_numeric(const struct cell *cell)
{
	const char *at = cell->data;
	int64_t exponent = cell->size < 8 ? -1 : read_number(at + 2, 2);
	bool is_negative = exponent >= 0 && read_number(at + 4, 2) != 0;
	int64_t number = 0;

	/* The server's count of the digits is not needed: the cell ends with them. */
	for (size_t i = 8; exponent >= 0; exponent--, i += 2) {
		int64_t digit = i + 2 <= cell->size ? read_number(at + i, 2) : 0;

		if (__builtin_mul_overflow(number, 10000, &number) ||
		    __builtin_add_overflow(number, digit, &number))
			return is_negative ? INT64_MIN : INT64_MAX;
	}
	return is_negative ? -number : number;
}

static bool
is_number(const struct cell *cell)
{
	return cell->type == TYPE_INT8 || cell->type == TYPE_INT4 ||
	       cell->type == TYPE_INT2 || cell->type == TYPE_BOOL ||
	       cell->type == TYPE_NUMERIC;
}

static enum sql_kind
get_kind(struct sql_statement *row, int column)
{
	struct cell cell = get_cell(row, column);

	if (!cell.data)
		return SQL_KIND_NULL;
	if (is_number(&cell))
		return SQL_KIND_INT;
	return cell.type == TYPE_BYTEA ? SQL_KIND_BLOB : SQL_KIND_TEXT;
}

static int64_t
get_int(struct sql_statement *row, int column)
{
	struct cell cell = get_cell(row, column);

	if (!cell.data)
		return -1;
	if (cell.type == TYPE_NUMERIC)
		return read_numeric(&cell);
	return is_number(&cell) ? read_number(cell.data, cell.size)
	                        : g_ascii_strtoll(cell.data, NULL, 10);
}

static const char *
get_text(struct sql_statement *row, int column)
{
	struct cell cell = get_cell(row, column);
	char *text;

	if (!cell.data || !is_number(&cell))
		return cell.data;
	text = g_strdup_printf("%" G_GINT64_FORMAT, get_int(row, column));
	g_ptr_array_add(((struct postgresql_statement *)row)->texts, text);
	return text;
}

static struct sql_bytes
get_bytes(struct sql_statement *row, int column)
{
	struct cell cell = get_cell(row, column);

	return (struct sql_bytes){cell.data, cell.data ? cell.size : 0};
}

static int
count_columns(struct sql_statement *row)
{
	return PQnfields(((struct postgresql_statement *)row)->result);
}

/* ---- transactions ---- */

static bool
is_open(const struct store *store)
{
	return store->postgresql->depth > 0;
}

static bool
begin(struct store *store, enum sql_begin kind, GError **error)
{
	static const char *const commands[] = {
	    /* It does not conflict. */
	    [SQL_BEGIN_READING] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
	    [SQL_BEGIN_WRITING] = "BEGIN",
	    [SQL_BEGIN_ROWS] = "BEGIN ISOLATION LEVEL READ COMMITTED",
	    [SQL_BEGIN_SNAPSHOT] = "BEGIN ISOLATION LEVEL REPEATABLE READ",
	    [SQL_BEGIN_INNER] = "SAVEPOINT inner_transaction",
	};
	struct postgresql *postgresql = store->postgresql;

	/* An error of an earlier statement is not one of the savepoint. */
	if (postgresql->queue->len && !run_queue(store, NULL, error))
		return false;
	if (!send_command(store, commands[kind], error))
		return false;
	postgresql->depth++;
	return true;
}

static bool
commit_inner(struct store *store, GError **error)
{
	if (!send_command(store, "RELEASE inner_transaction", error) ||
	    !run_queue(store, NULL, error))
		return false;
	store->postgresql->depth--;
	return true;
}

static bool
commit(struct store *store, bool is_inner, GError **error)
{
	PGresult *result = NULL;
	bool is_committed;

	if (is_inner)
		return commit_inner(store, error);
	if (!send_command(store, "COMMIT", error))
		return false;
	/* If the connection is lost now, it is not known whether it was committed. */
	store->postgresql->depth = 0;
	if (!run_queue(store, &result, error))
		return false;
	is_committed = strcmp(PQcmdStatus(result), "COMMIT") == 0;
	PQclear(result);
	return is_committed || pb_fail(error, PB_ERROR_PERMANENT,
	                           "store: a statement of the transaction failed");
}

static void
rollback(struct store *store, bool is_inner)
{
	struct postgresql *postgresql = store->postgresql;

	/* The server rolls back without it. */
	if (postgresql->rows)
		lose(postgresql);
	if (postgresql->connection && postgresql->queue->len)
		run_queue(store, NULL, NULL);
	if (postgresql->connection && is_inner)
		(void)(send_command(store, "ROLLBACK TO inner_transaction", NULL) &&
		       send_command(store, "RELEASE inner_transaction", NULL) &&
		       run_queue(store, NULL, NULL));
	else if (postgresql->connection &&
	         PQtransactionStatus(postgresql->connection) != PQTRANS_IDLE)
		(void)(send_command(store, "ROLLBACK", NULL) &&
		       run_queue(store, NULL, NULL));
	postgresql->depth -= postgresql->depth > 0;
}

/* ---- open and close ---- */

static void
close_connection(struct store *store)
{
	struct postgresql *postgresql = store->postgresql;

	if (postgresql->connection)
		PQfinish(postgresql->connection);
	g_clear_pointer(&postgresql->rows, g_byte_array_unref);
	g_ptr_array_unref(postgresql->queue);
	g_free((char *)postgresql->server.url);
	g_free((char *)postgresql->server.password);
	g_free((char *)postgresql->server.history_path);
	g_free(postgresql);
}

static const struct sql_engine engine = {
    .bind = bind,
    .step = step,
    .reset = reset,
    .exec = exec,
    .insert = insert,
    .run_each = run_each,
    .load_begin = load_begin,
    .load_row = load_row,
    .load_end = load_end,
    .get_kind = get_kind,
    .get_int = get_int,
    .get_text = get_text,
    .get_bytes = get_bytes,
    .count_columns = count_columns,
    .is_open = is_open,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .close = close_connection,
};

struct store *
postgresql_open(const struct store_server *server, GError **error)
{
	static const struct history unknown;
	struct history history;
	PGconn *connection = postgresql_connect(server, &unknown, &history, error);
	struct postgresql *postgresql;
	struct store *store;

	if (!connection)
		return NULL;
	postgresql = g_new0(struct postgresql, 1);
	postgresql->server = (struct store_server){
	    .url = g_strdup(server->url),
	    .password = g_strdup(server->password),
	    .is_read_only = server->is_read_only,
	    .history_path = g_strdup(server->history_path),
	};
	postgresql->connection = connection;
	postgresql->history = history;
	postgresql->number = 1;
	postgresql->queue = g_ptr_array_new();
	store = g_new0(struct store, 1);
	store->engine = &engine;
	store->postgresql = postgresql;
	store->wait_s = STORE_WAIT_S;
	store->history = history_get_number(&history);
	store->calls = g_ptr_array_new_with_free_func(store_free_call);
	store->statements =
	    g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, free_statement);
	return store;
}
