/*
 * skipped.c - messages that stay in a mailbox, since they cannot be taken in.
 */
#include "store/skipped.h"

#include "store/sql.h"

bool
skipped_insert(struct store *store, const char *road, const char *name,
    const char *reason, int64_t now, bool *is_new, GError **error)
{
	static const char sql[] =
	    "INSERT INTO skipped_message (road, name, since, reason)"
	    " VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
	unsigned count;

	if (!sql_change(store, sql, &count, error, SQL_TEXT(road), SQL_TEXT(name),
	        SQL_INT(now), SQL_TEXT(reason)))
		return false;
	*is_new = count > 0;
	return true;
}

bool
skipped_delete(struct store *store, const char *road, const char *name, bool *was_there,
    GError **error)
{
	static const char sql[] =
	    "DELETE FROM skipped_message WHERE road = ?1 AND name = ?2";
	unsigned count;

	if (!sql_change(store, sql, &count, error, SQL_TEXT(road), SQL_TEXT(name)))
		return false;
	*was_there = count > 0;
	return true;
}

bool
skipped_delete_all(struct store *store, const char *road, GError **error)
{
	static const char sql[] = "DELETE FROM skipped_message WHERE road = ?1";

	return sql_run(store, sql, error, SQL_TEXT(road));
}

GPtrArray *
skipped_load_names(struct store *store, const char *road, GError **error)
{
	static const char sql[] = "SELECT name FROM skipped_message WHERE road = ?1";

	return sql_load_texts(store, sql, error, SQL_TEXT(road));
}

GPtrArray *
skipped_load_reasons(struct store *store, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT reason FROM skipped_message ORDER BY since, road, name LIMIT ?1";

	return sql_load_texts(store, sql, error, SQL_INT(limit));
}

bool
skipped_count(struct store *store, int64_t *count, GError **error)
{
	static const char sql[] = "SELECT count(*) FROM skipped_message";

	return sql_number(store, sql, count, error);
}
