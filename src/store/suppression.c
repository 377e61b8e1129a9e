/*
 * suppression.c - addresses that are never to be mailed.
 */
#include "store/suppression.h"

#include "base/error.h"
#include "base/token.h"
#include "store/sql.h"

void
suppression_free(struct suppression *suppression)
{
	if (!suppression)
		return;
	g_free(suppression->hash);
	g_free(suppression->reason);
	g_free(suppression);
}

char *
suppression_hash(GBytes *key, const char *address_key)
{
	return token_hash_text(key, "suppression", address_key);
}

static void
run_hash(sqlite3_context *context, int count, sqlite3_value **values)
{
	const char *address_key = (const char *)sqlite3_value_text(values[1]);
	g_autoptr(GBytes) key = NULL;

	(void)count;
	if (!address_key)
		return;
	key = g_bytes_new(
	    sqlite3_value_blob(values[0]), (gsize)sqlite3_value_bytes(values[0]));
	sqlite3_result_text(context, suppression_hash(key, address_key), -1, g_free);
}

int
suppression_register(struct sqlite3 *db)
{
	return sqlite3_create_function(db, "suppression_hash", 2,
	    SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL, run_hash,
	    NULL, NULL);
}

bool
suppression_insert(struct store *store, const char *hash, const char *reason,
    int64_t now, GError **error)
{
	static const char sql[] =
	    "INSERT INTO suppression (hash, reason, at) VALUES (?1, ?2, ?3)"
	    " ON CONFLICT DO NOTHING";

	return sql_run(
	    store, sql, error, SQL_TEXT(hash), SQL_TEXT(reason), SQL_INT(now));
}

bool
suppression_delete(struct store *store, const char *hash, GError **error)
{
	static const char sql[] = "DELETE FROM suppression WHERE hash = ?1";
	unsigned count;

	if (!sql_change(store, sql, &count, error, SQL_TEXT(hash)))
		return false;
	if (count)
		return true;
	g_set_error(
	    error, PB_ERROR, PB_ERROR_NOT_FOUND, "the address is not suppressed");
	return false;
}

static GPtrArray *
load_all(sqlite3_stmt *statement, GError **error)
{
	g_autoptr(GPtrArray) rows =
	    g_ptr_array_new_with_free_func((GDestroyNotify)suppression_free);
	enum sql_step step;

	if (!statement)
		return NULL;
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW) {
		struct suppression *row = g_new0(struct suppression, 1);

		row->hash = sql_dup_text(statement, 0);
		row->reason = sql_dup_text(statement, 1);
		row->at = sql_get_int(statement, 2);
		g_ptr_array_add(rows, row);
	}
	return step == SQL_STEP_DONE ? g_steal_pointer(&rows) : NULL;
}

struct suppression *
suppression_find(struct store *store, const char *hash, GError **error)
{
	static const char sql[] =
	    "SELECT hash, reason, at FROM suppression WHERE hash = ?1";
	sql_auto *statement = sql_start(store, sql, error, SQL_TEXT(hash));
	g_autoptr(GPtrArray) rows = load_all(statement, error);

	return rows && rows->len ? g_ptr_array_steal_index(rows, 0) : NULL;
}

GPtrArray *
suppression_load_page(
    struct store *store, const char *after, unsigned limit, GError **error)
{
	static const char sql[] = "SELECT hash, reason, at FROM suppression"
	                          " WHERE hash > ?1 ORDER BY hash LIMIT ?2";
	sql_auto *statement =
	    sql_start(store, sql, error, SQL_TEXT(after), SQL_INT(limit));

	return load_all(statement, error);
}

bool
suppression_has_any(struct store *store, bool *has, GError **error)
{
	static const char sql[] = "SELECT EXISTS (SELECT 1 FROM suppression)";
	int64_t found;

	if (!sql_number(store, sql, &found, error))
		return false;
	*has = found == 1;
	return true;
}
