/*
 * sql.c - prepared statements with bound values; for src/store only.
 */
#include "store/core/sql.h"

#include <string.h>

#include "base/error.h"
#include "store/core/engine.h"

/* Deletions, which need not find a row, are not counted as writes. */
static void
count_work(struct store *store, const char *sql)
{
	store->work.statements++;
	store->work.writes +=
	    g_str_has_prefix(sql, "INSERT") || g_str_has_prefix(sql, "UPDATE");
}

struct sql_statement *
sql_bind_values(struct store *store, const char *sql, const struct sql_value *values,
    GError **error)
{
	count_work(store, sql);
	return store->engine->bind(store, sql, values, error);
}

enum sql_step
sql_step(struct sql_statement *statement, GError **error)
{
	return statement->engine->step(statement, error);
}

bool
sql_exec_values(struct store *store, const char *sql, const struct sql_value *values,
    GError **error)
{
	count_work(store, sql);
	return store->engine->exec(store, sql, values, NULL, error);
}

bool
sql_exec_count_values(struct store *store, const char *sql,
    const struct sql_value *values, unsigned *count, GError **error)
{
	count_work(store, sql);
	return store->engine->exec(store, sql, values, count, error);
}

bool
sql_int64_values(struct store *store, const char *sql, const struct sql_value *values,
    int64_t *number, GError **error)
{
	sql_auto *statement = sql_bind_values(store, sql, values, error);
	int64_t found;

	if (!statement)
		return false;
	switch (sql_step(statement, error)) {
	case SQL_STEP_ROW:
		found = sql_get_int(statement, 0);
		/* INSERT ... RETURNING may still fail, and end the transaction. */
		if (sql_step(statement, error) == SQL_STEP_FAILED)
			return false;
		*number = found;
		return true;
	case SQL_STEP_DONE:
		return pb_fail(error, PB_ERROR_PERMANENT, "store: a row is missing");
	case SQL_STEP_FAILED:
		break;
	}
	return false;
}

bool
sql_number_values(struct store *store, const char *sql, const struct sql_value *values,
    int64_t *number, GError **error)
{
	int64_t found;

	if (!sql_int64_values(store, sql, values, &found, error))
		return false;
	if (found < -SQL_NUMBER_MAX || found > SQL_NUMBER_MAX)
		return pb_fail(error, PB_ERROR_DAMAGED,
		    "damaged row: a number is out of its range: %s", sql);
	*number = found;
	return true;
}

bool
sql_has_values(struct store *store, const char *sql, const struct sql_value *values,
    bool *has, GError **error)
{
	int64_t number = 0;

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
		for (int i = 0; i < sql_count_columns(statement); i++) {
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
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW) {
		if (sql_get_kind(statement, 0) == SQL_KIND_NULL) {
			pb_fail(error, PB_ERROR_DAMAGED,
			    "damaged row: no value where one is needed: %s", sql);
			return NULL;
		}
		g_ptr_array_add(texts, sql_dup_text(statement, 0));
	}
	return step == SQL_STEP_DONE ? g_steal_pointer(&texts) : NULL;
}

enum sql_kind
sql_get_kind(struct sql_statement *row, int column)
{
	return row->engine->get_kind(row, column);
}

int64_t
sql_get_int(struct sql_statement *row, int column)
{
	return row->engine->get_int(row, column);
}

const char *
sql_get_text(struct sql_statement *row, int column)
{
	return row->engine->get_text(row, column);
}

char *
sql_dup_text(struct sql_statement *row, int column)
{
	return g_strdup(sql_get_text(row, column));
}

struct sql_bytes
sql_get_bytes(struct sql_statement *row, int column)
{
	return row->engine->get_bytes(row, column);
}

GBytes *
sql_dup_bytes(struct sql_statement *row, int column)
{
	struct sql_bytes bytes = sql_get_bytes(row, column);

	/* An empty value may be NULL, too. */
	if (sql_get_kind(row, column) == SQL_KIND_NULL)
		return NULL;
	return g_bytes_new(bytes.data, bytes.size);
}

struct sql_value
sql_get_value(struct sql_statement *row, int column)
{
	struct sql_bytes bytes;

	switch (sql_get_kind(row, column)) {
	case SQL_KIND_INT:
		return SQL_INT(sql_get_int(row, column));
	case SQL_KIND_TEXT:
		return SQL_TEXT(sql_get_text(row, column));
	case SQL_KIND_BLOB:
		bytes = sql_get_bytes(row, column);
		return SQL_BLOB(bytes.data ? bytes.data : "", bytes.size);
	case SQL_KIND_NULL:
	case SQL_KIND_POINTER:
	case SQL_KIND_END:
		break;
	}
	return SQL_NULL;
}

int
sql_count_columns(struct sql_statement *row)
{
	return row->engine->count_columns(row);
}

void
sql_reset(struct sql_statement **statement)
{
	if (*statement)
		(*statement)->engine->reset(*statement);
}

void
sql_fill_list(struct sql_value *values, const int64_t *numbers, unsigned count)
{
	for (unsigned i = 0; i < SQL_LIST_MAX; i++)
		values[i] = i < count ? SQL_INT(numbers[i]) : SQL_NULL;
}

bool
sql_exec_list_values(struct store *store, const char *sql, const GArray *numbers,
    const struct sql_value *values, GError **error)
{
	unsigned before = 0;

	while (values[before].kind != SQL_KIND_END)
		before++;
	g_assert(before <= SQL_VALUES_BEFORE_LIST);
	for (unsigned i = 0; i < numbers->len; i += SQL_LIST_MAX) {
		struct sql_value all[SQL_VALUES_BEFORE_LIST + SQL_LIST_MAX + 1];

		memcpy(all, values, before * sizeof(all[0]));
		sql_fill_list(&all[before], &g_array_index(numbers, int64_t, i),
		    MIN(numbers->len - i, SQL_LIST_MAX));
		all[before + SQL_LIST_MAX] = (struct sql_value){0};
		if (!sql_exec_values(store, sql, all, error))
			return false;
	}
	return true;
}

/* ---- named numbers ---- */

#define SQL_CURSOR "SELECT coalesce((SELECT value FROM cursor WHERE name = ?1), ?2)"

bool
store_load_cursor(struct store *store, const char *name, int64_t fallback,
    int64_t *value, GError **error)
{
	static const char sql[] = SQL_CURSOR;

	return sql_number(store, sql, value, error, SQL_TEXT(name), SQL_INT(fallback));
}

GPtrArray *
store_list_cursors(struct store *store, const char *prefix, GError **error)
{
	static const char sql[] =
	    "SELECT name FROM cursor"
	    " WHERE substr(name, 1, length(?1)) = ?1 AND value > 0"
	    " ORDER BY name";

	return sql_load_texts(store, sql, error, SQL_TEXT(prefix));
}

bool
store_load_int64(struct store *store, const char *name, int64_t fallback,
    int64_t *value, GError **error)
{
	static const char sql[] = SQL_CURSOR;

	return sql_int64(store, sql, value, error, SQL_TEXT(name), SQL_INT(fallback));
}

struct store_work
store_get_work(const struct store *store)
{
	return store->work;
}

bool
store_save_cursor(struct store *store, const char *name, int64_t value, GError **error)
{
	static const char sql[] =
	    "INSERT INTO cursor (name, value) VALUES (?1, ?2)"
	    " ON CONFLICT (name) DO UPDATE SET value = excluded.value";

	return sql_exec(store, sql, error, SQL_TEXT(name), SQL_INT(value));
}
