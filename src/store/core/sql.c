/*
 * sql.c - prepared statements with bound values; for src/store only.
 */
#include "store/core/sql.h"

#include <string.h>

#include "base/error.h"

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
sql_set_error(GError **error, sqlite3 *db, int rc, const char *doing)
{
	/* SQLite's message for these suggests a damaged file. */
	bool may_be_full = rc == SQLITE_IOERR_SHMOPEN || rc == SQLITE_IOERR_SHMSIZE ||
	                   rc == SQLITE_IOERR_WRITE;

	pb_fail(error, code_of(rc), "%s: %s%s", doing,
	    db ? sqlite3_errmsg(db) : sqlite3_errstr(rc),
	    may_be_full ? "; is the disk full?" : "");
}

static int
bind_value(sqlite3_stmt *statement, int position, const struct sql_value *value)
{
	switch (value->kind) {
	case SQL_KIND_INT:
		return sqlite3_bind_int64(statement, position, value->number);
	case SQL_KIND_TEXT:
		return sqlite3_bind_text(
		    statement, position, value->text, -1, SQLITE_STATIC);
	case SQL_KIND_BLOB:
		return sqlite3_bind_blob(statement, position, value->text,
		    (int)value->number, SQLITE_STATIC);
	case SQL_KIND_POINTER:
		return sqlite3_bind_pointer(
		    statement, position, (void *)value->text, value->type, NULL);
	case SQL_KIND_NULL:
		return sqlite3_bind_null(statement, position);
	case SQL_KIND_END:
		break;
	}
	return SQLITE_MISUSE;
}

/* @param size  of the text to prepare, bytes; -1: all */
static sqlite3_stmt *
bind_part(struct store *store, const char *sql, int size,
    const struct sql_value *values, GError **error)
{
	sqlite3_stmt *statement = g_hash_table_lookup(store->statements, sql);
	int count = 0;

	if (!statement) {
		int rc = sqlite3_prepare_v3(
		    store->db, sql, size, SQLITE_PREPARE_PERSISTENT, &statement, NULL);

		if (rc != SQLITE_OK) {
			sql_set_error(
			    error, store->db, rc, "cannot prepare a statement");
			return NULL;
		}
		g_hash_table_insert(store->statements, (gpointer)sql, statement);
	}
	/* Two loops over one statement would share its rows. */
	g_assert(!sqlite3_stmt_busy(statement));
	for (; values[count].kind != SQL_KIND_END; count++) {
		int rc = bind_value(statement, count + 1, &values[count]);

		if (rc != SQLITE_OK) {
			sql_set_error(error, store->db, rc, "cannot bind a value");
			return NULL;
		}
	}
	g_assert(count == sqlite3_bind_parameter_count(statement));
	return statement;
}

sqlite3_stmt *
sql_bind_values(struct store *store, const char *sql, const struct sql_value *values,
    GError **error)
{
	return bind_part(store, sql, -1, values, error);
}

enum sql_step
sql_step(sqlite3_stmt *statement, GError **error)
{
	int rc = sqlite3_step(statement);

	if (rc == SQLITE_ROW)
		return SQL_STEP_ROW;
	if (rc == SQLITE_DONE)
		return SQL_STEP_DONE;
	sql_set_error(error, sqlite3_db_handle(statement), rc, "store");
	return SQL_STEP_FAILED;
}

bool
sql_exec_values(struct store *store, const char *sql, const struct sql_value *values,
    GError **error)
{
	sql_auto *statement = sql_bind_values(store, sql, values, error);
	enum sql_step step;

	if (!statement)
		return false;
	do {
		step = sql_step(statement, error);
	} while (step == SQL_STEP_ROW);
	return step == SQL_STEP_DONE;
}

bool
sql_exec_count_values(struct store *store, const char *sql,
    const struct sql_value *values, unsigned *count, GError **error)
{
	if (!sql_exec_values(store, sql, values, error))
		return false;
	*count = (unsigned)sqlite3_changes(store->db);
	return true;
}

bool
sql_insert_values(struct store *store, const char *sql, const struct sql_value *values,
    int64_t *id, GError **error)
{
	/* SQLite knows the id without RETURNING, which takes more time than the rest.
	 */
	const char *returning = strstr(sql, " RETURNING ");
	sql_auto *statement =
	    bind_part(store, sql, (int)(returning - sql), values, error);

	if (!statement || sql_step(statement, error) != SQL_STEP_DONE)
		return false;
	*id = sqlite3_last_insert_rowid(store->db);
	return true;
}

bool
sql_number_values(struct store *store, const char *sql, const struct sql_value *values,
    int64_t *number, GError **error)
{
	sql_auto *statement = sql_bind_values(store, sql, values, error);

	if (!statement)
		return false;
	switch (sql_step(statement, error)) {
	case SQL_STEP_ROW:
		*number = sql_get_int(statement, 0);
		return true;
	case SQL_STEP_DONE:
		return pb_fail(error, PB_ERROR_PERMANENT, "store: a row is missing");
	case SQL_STEP_FAILED:
		break;
	}
	return false;
}

bool
sql_has_values(struct store *store, const char *sql, const struct sql_value *values,
    bool *has, GError **error)
{
	int64_t number;

	if (!sql_number_values(store, sql, values, &number, error))
		return false;
	*has = number == 1;
	return true;
}

bool
sql_find_text_values(struct store *store, const char *sql,
    const struct sql_value *values, char **text, GError **error)
{
	sql_auto *statement = sql_bind_values(store, sql, values, error);
	enum sql_step step = statement ? sql_step(statement, error) : SQL_STEP_FAILED;

	if (step == SQL_STEP_FAILED)
		return false;
	*text = step == SQL_STEP_ROW ? sql_dup_text(statement, 0) : NULL;
	return true;
}

GArray *
sql_load_numbers_values(struct store *store, const char *sql,
    const struct sql_value *values, GError **error)
{
	sql_auto *statement = sql_bind_values(store, sql, values, error);
	g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(int64_t));
	enum sql_step step;

	if (!statement)
		return NULL;
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW)
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			int64_t number = sql_get_int(statement, i);

			g_array_append_val(numbers, number);
		}
	return step == SQL_STEP_DONE ? g_steal_pointer(&numbers) : NULL;
}

GPtrArray *
sql_load_texts_values(struct store *store, const char *sql,
    const struct sql_value *values, GError **error)
{
	sql_auto *statement = sql_bind_values(store, sql, values, error);
	g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
	enum sql_step step;

	if (!statement)
		return NULL;
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW)
		g_ptr_array_add(texts, sql_dup_text(statement, 0));
	return step == SQL_STEP_DONE ? g_steal_pointer(&texts) : NULL;
}

static void
call_each(sqlite3_context *context, int count, sqlite3_value **values)
{
	const struct sql_callback *callback =
	    count > 0 ? sqlite3_value_pointer(values[0], SQL_CALLBACK_TYPE) : NULL;

	if (callback)
		callback->call(callback->data, values + 1);
	else
		sqlite3_result_error_code(context, SQLITE_MISUSE);
}

static void
finish_each(sqlite3_context *context)
{
	(void)context;
}

int
sql_register(sqlite3 *db)
{
	return sqlite3_create_function(
	    db, "call_each", -1, SQLITE_UTF8, NULL, NULL, call_each, finish_each);
}

char *
sql_dup_text(sqlite3_stmt *statement, int column)
{
	return g_strdup((const char *)sqlite3_column_text(statement, column));
}

GBytes *
sql_dup_bytes(sqlite3_stmt *statement, int column)
{
	const void *bytes = sqlite3_column_blob(statement, column);

	/* SQLite returns NULL for an empty blob, too. */
	if (sqlite3_column_type(statement, column) == SQLITE_NULL)
		return NULL;
	return g_bytes_new(bytes, (gsize)sqlite3_column_bytes(statement, column));
}

int64_t
sql_get_int(sqlite3_stmt *statement, int column)
{
	if (sqlite3_column_type(statement, column) == SQLITE_NULL)
		return -1;
	return sqlite3_column_int64(statement, column);
}

void
sql_reset(sqlite3_stmt **statement)
{
	if (!*statement)
		return;
	sqlite3_reset(*statement);
	sqlite3_clear_bindings(*statement);
}
