/*
 * audit.c - audit log of changes, with the actor.
 */
#include "store/core/audit.h"

#include "store/core/sql.h"

bool
audit_insert(struct store *store, int64_t now, const char *who, const char *what,
    int64_t subscriber_id, const char *detail, GError **error)
{
	static const char sql[] =
	    "INSERT INTO audit_log (at, who, what, subscriber_id, detail)"
	    " VALUES (?1, ?2, ?3, ?4, ?5)";

	return sql_exec(store, sql, error, SQL_INT(now), SQL_TEXT(who), SQL_TEXT(what),
	    subscriber_id ? SQL_INT(subscriber_id) : SQL_NULL, SQL_TEXT(detail));
}

void
audit_row_free(struct audit_row *row)
{
	if (!row)
		return;
	g_free(row->who);
	g_free(row->what);
	g_free(row->address);
	g_free(row->detail);
	g_free(row);
}

/* Rows are read newest first and returned oldest first. */
static GPtrArray *
load_all(sqlite3_stmt *statement, GError **error)
{
	g_autoptr(GPtrArray) rows =
	    g_ptr_array_new_with_free_func((GDestroyNotify)audit_row_free);
	enum sql_step step;

	if (!statement)
		return NULL;
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW) {
		struct audit_row *row = g_new0(struct audit_row, 1);

		row->at = sql_get_int(statement, 0);
		row->who = sql_dup_text(statement, 1);
		row->what = sql_dup_text(statement, 2);
		row->address = sql_dup_text(statement, 3);
		row->detail = sql_dup_text(statement, 4);
		g_ptr_array_add(rows, row);
	}
	for (guint i = 0; i < rows->len / 2; i++) {
		gpointer other = rows->pdata[i];

		rows->pdata[i] = rows->pdata[rows->len - 1 - i];
		rows->pdata[rows->len - 1 - i] = other;
	}
	return step == SQL_STEP_DONE ? g_steal_pointer(&rows) : NULL;
}

GPtrArray *
audit_load(struct store *store, int64_t subscriber_id, int64_t since, unsigned limit,
    GError **error)
{
	static const char sql_one[] =
	    "SELECT c.at, c.who, c.what, s.address, c.detail"
	    " FROM audit_log c JOIN subscriber s ON s.id = c.subscriber_id"
	    " WHERE c.subscriber_id = ?1 AND c.at >= ?2 ORDER BY c.id DESC LIMIT ?3";
	static const char sql[] =
	    "SELECT c.at, c.who, c.what, s.address, c.detail"
	    " FROM audit_log c LEFT JOIN subscriber s ON s.id = c.subscriber_id"
	    " WHERE c.at >= ?1 ORDER BY c.at DESC, c.id DESC LIMIT ?2";
	sql_auto *statement =
	    subscriber_id ? sql_bind(store, sql_one, error, SQL_INT(subscriber_id),
	                        SQL_INT(since), SQL_INT(limit))
	                  : sql_bind(store, sql, error, SQL_INT(since), SQL_INT(limit));

	return load_all(statement, error);
}
