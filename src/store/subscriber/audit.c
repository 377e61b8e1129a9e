/*
 * audit.c - audit log of changes, with the actor.
 */
#include "store/subscriber/audit.h"

#include "store/core/record.h"

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

bool
audit_add_count(
    struct store *store, const char *what, int64_t since, int64_t *sum, GError **error)
{
	static const char sql[] =
	    "SELECT count(*) FROM audit_log WHERE at >= ?1 AND what = ?2";
	int64_t count;

	if (!sql_number(store, sql, &count, error, SQL_INT(since), SQL_TEXT(what)))
		return false;
	*sum += count;
	return true;
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
	RECORD_LAYOUT(layout, audit_row, "audit_log", "nttTT", (), at, who, what,
	    address, detail);
	GPtrArray *rows =
	    subscriber_id ? record_load_all(store, sql_one, &layout, error,
	                        SQL_INT(subscriber_id), SQL_INT(since), SQL_INT(limit))
	                  : record_load_all(store, sql, &layout, error, SQL_INT(since),
	                        SQL_INT(limit));

	/* The newest ones, oldest first. */
	for (guint i = 0; rows && i < rows->len / 2; i++) {
		gpointer newer = rows->pdata[i];

		rows->pdata[i] = rows->pdata[rows->len - 1 - i];
		rows->pdata[rows->len - 1 - i] = newer;
	}
	return rows;
}
