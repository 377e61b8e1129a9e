/*
 * sqlite.c - the engine SQLite.
 */
#include "store/core/sqlite.h"

#include <string.h>

#include "base/error.h"
#include "store/core/engine.h"

struct sqlite_statement {
	struct sql_statement base;
	sqlite3_stmt *compiled;
};

static enum pb_error
code_of(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_FULL:
	case SQLITE_INTERRUPT:
		return PB_ERROR_TEMPORARY;
	case SQLITE_CONSTRAINT:
	case SQLITE_TOOBIG:
		return PB_ERROR_INPUT;
	default:
		return PB_ERROR_PERMANENT;
	}
}

void
sqlite_set_error(GError **error, sqlite3 *db, int rc, const char *doing)
{
	/* SQLite's message for these suggests a damaged file. */
	bool may_be_full = rc == SQLITE_IOERR_SHMOPEN || rc == SQLITE_IOERR_SHMSIZE ||
	                   rc == SQLITE_IOERR_WRITE;

	pb_fail(error, code_of(rc), "%s: %s%s", doing,
	    db ? sqlite3_errmsg(db) : sqlite3_errstr(rc),
	    may_be_full ? "; is the disk full?" : "");
}

void
sqlite_free_statement(gpointer data)
{
	struct sqlite_statement *statement = data;

	sqlite3_finalize(statement->compiled);
	g_free(statement);
}

static int
bind_value(sqlite3_stmt *compiled, int position, const struct sql_value *value)
{
	switch (value->kind) {
	case SQL_KIND_INT:
		return sqlite3_bind_int64(compiled, position, value->number);
	case SQL_KIND_TEXT:
		return sqlite3_bind_text(
		    compiled, position, value->text, -1, SQLITE_STATIC);
	case SQL_KIND_BLOB:
		return sqlite3_bind_blob(
		    compiled, position, value->text, (int)value->number, SQLITE_STATIC);
	case SQL_KIND_POINTER:
		return sqlite3_bind_pointer(
		    compiled, position, (void *)value->text, value->type, NULL);
	case SQL_KIND_NULL:
		return sqlite3_bind_null(compiled, position);
	case SQL_KIND_END:
		break;
	}
	return SQLITE_MISUSE;
}

static struct sqlite_statement *
prepare(struct store *store, const char *sql, GError **error)
{
	struct sqlite_statement *statement;
	sqlite3_stmt *compiled;
	int rc = sqlite3_prepare_v3(
	    store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &compiled, NULL);

	if (rc != SQLITE_OK) {
		sqlite_set_error(error, store->db, rc, "cannot prepare a statement");
		return NULL;
	}
	statement = g_new0(struct sqlite_statement, 1);
	statement->base.engine = &sqlite_engine;
	statement->compiled = compiled;
	g_hash_table_insert(store->statements, (gpointer)sql, statement);
	return statement;
}

static bool
bind_values(
    struct sqlite_statement *statement, const struct sql_value *values, GError **error)
{
	sqlite3_stmt *compiled = statement->compiled;
	int count = 0, rc = SQLITE_OK;

	/* Two loops over one statement would share its rows. */
	g_assert(!sqlite3_stmt_busy(compiled));
	for (; values[count].kind != SQL_KIND_END && rc == SQLITE_OK; count++)
		rc = bind_value(compiled, count + 1, &values[count]);
	if (rc != SQLITE_OK) {
		sqlite_set_error(
		    error, sqlite3_db_handle(compiled), rc, "cannot bind a value");
		return false;
	}
	g_assert(count == sqlite3_bind_parameter_count(compiled));
	return true;
}

static struct sql_statement *
bind(struct store *store, const char *sql, const struct sql_value *values,
    GError **error)
{
	struct sqlite_statement *statement =
	    g_hash_table_lookup(store->statements, sql);

	if (!statement)
		statement = prepare(store, sql, error);
	if (!statement || !bind_values(statement, values, error))
		return NULL;
	return &statement->base;
}

static enum sql_step
step(struct sql_statement *statement, GError **error)
{
	sqlite3_stmt *compiled = ((struct sqlite_statement *)statement)->compiled;
	int rc = sqlite3_step(compiled);

	if (rc == SQLITE_ROW)
		return SQL_STEP_ROW;
	if (rc == SQLITE_DONE)
		return SQL_STEP_DONE;
	sqlite_set_error(error, sqlite3_db_handle(compiled), rc, "store");
	return SQL_STEP_FAILED;
}

static void
reset(struct sql_statement *statement)
{
	sqlite3_stmt *compiled = ((struct sqlite_statement *)statement)->compiled;

	sqlite3_reset(compiled);
	sqlite3_clear_bindings(compiled);
}

static bool
exec(struct store *store, const char *sql, const struct sql_value *values,
    unsigned *count, GError **error)
{
	sql_auto *statement = bind(store, sql, values, error);
	enum sql_step result;

	if (!statement)
		return false;
	do {
		result = step(statement, error);
	} while (result == SQL_STEP_ROW);
	if (count)
		*count = (unsigned)sqlite3_changes(store->db);
	return result == SQL_STEP_DONE;
}

/* ---- rows ---- */

/* The handle belongs to one thread, so that values need no protection. */
static sqlite3_value *
get_value(struct sql_statement *row, int column)
{
	return sqlite3_column_value(((struct sqlite_statement *)row)->compiled, column);
}

static enum sql_kind
get_kind(struct sql_statement *row, int column)
{
	switch (sqlite3_value_type(get_value(row, column))) {
	case SQLITE_NULL:
		return SQL_KIND_NULL;
	case SQLITE_INTEGER:
		return SQL_KIND_INT;
	case SQLITE_BLOB:
		return SQL_KIND_BLOB;
	default:
		return SQL_KIND_TEXT;
	}
}

static int64_t
get_int(struct sql_statement *row, int column)
{
	sqlite3_value *value = get_value(row, column);

	return sqlite3_value_type(value) == SQLITE_NULL ? -1
	                                                : sqlite3_value_int64(value);
}

static const char *
get_text(struct sql_statement *row, int column)
{
	return (const char *)sqlite3_value_text(get_value(row, column));
}

static struct sql_bytes
get_bytes(struct sql_statement *row, int column)
{
	sqlite3_value *value = get_value(row, column);
	const void *data = sqlite3_value_blob(value);

	return (struct sql_bytes){data, (size_t)sqlite3_value_bytes(value)};
}

static int
count_columns(struct sql_statement *row)
{
	return sqlite3_column_count(((struct sqlite_statement *)row)->compiled);
}

/* ---- transactions ---- */

static bool
is_open(const struct store *store)
{
	return !sqlite3_get_autocommit(store->db);
}

static bool
begin(struct store *store, enum sql_begin kind, GError **error)
{
	static const char sql_reading[] = "BEGIN";
	static const char sql_writing[] = "BEGIN IMMEDIATE";
	static const char sql_inner[] = "SAVEPOINT inner";

	switch (kind) {
	case SQL_BEGIN_READING:
		return sql_exec(store, sql_reading, error);
	case SQL_BEGIN_WRITING:
	case SQL_BEGIN_ROWS:
	case SQL_BEGIN_SNAPSHOT:
		return sql_exec(store, sql_writing, error);
	case SQL_BEGIN_INNER:
		break;
	}
	return sql_exec(store, sql_inner, error);
}

static bool
commit(struct store *store, bool is_inner, GError **error)
{
	static const char sql[] = "COMMIT";
	static const char sql_inner[] = "RELEASE inner";

	return is_inner ? sql_exec(store, sql_inner, error)
	                : sql_exec(store, sql, error);
}

static void
rollback(struct store *store, bool is_inner)
{
	const char *sql = is_inner ? "ROLLBACK TO inner; RELEASE inner" : "ROLLBACK";

	/* Some errors roll back by themselves.  An interrupt may hit ROLLBACK, too. */
	for (int i = 0; i < 2 && is_open(store); i++)
		if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) != SQLITE_INTERRUPT)
			break;
}

/* store_free() closes the handle, which other engines have, too. */
static void
close_nothing(struct store *store)
{
	(void)store;
}

const struct sql_engine sqlite_engine = {
    .bind = bind,
    .step = step,
    .reset = reset,
    .exec = exec,
    .get_kind = get_kind,
    .get_int = get_int,
    .get_text = get_text,
    .get_bytes = get_bytes,
    .count_columns = count_columns,
    .is_open = is_open,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .close = close_nothing,
};
