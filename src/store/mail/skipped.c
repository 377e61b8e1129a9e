/*
 * skipped.c - messages that were left in a mailbox, since they cannot be stored.
 */
#include "store/mail/skipped.h"

#include "store/core/sql.h"

bool
skipped_insert(struct store *store, const char *receiver, const char *name,
    const char *reason, int64_t now, bool *is_new, GError **error)
{
	static const char sql[] =
	    "INSERT INTO skipped_message (receiver, name, since, reason)"
	    " VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
	unsigned count;

	if (!sql_exec_count(store, sql, &count, error, SQL_TEXT(receiver),
	        SQL_TEXT(name), SQL_INT(now), SQL_TEXT(reason)))
		return false;
	*is_new = count > 0;
	return true;
}

bool
skipped_delete(struct store *store, const char *receiver, const char *name,
    bool *was_there, GError **error)
{
	static const char sql[] =
	    "DELETE FROM skipped_message WHERE receiver = ?1 AND name = ?2";
	unsigned count;

	if (!sql_exec_count(
	        store, sql, &count, error, SQL_TEXT(receiver), SQL_TEXT(name)))
		return false;
	*was_there = count > 0;
	return true;
}

bool
skipped_delete_all(struct store *store, const char *receiver, GError **error)
{
	static const char sql[] = "DELETE FROM skipped_message WHERE receiver = ?1";

	return sql_exec(store, sql, error, SQL_TEXT(receiver));
}

GPtrArray *
skipped_load_names(struct store *store, const char *receiver, GError **error)
{
	static const char sql[] =
	    "SELECT name FROM skipped_message WHERE receiver = ?1";

	return sql_load_texts(store, sql, error, SQL_TEXT(receiver));
}

GPtrArray *
skipped_load_reasons(struct store *store, unsigned limit, GError **error)
{
	static const char sql[] = "SELECT reason FROM skipped_message ORDER BY since, "
	                          "receiver, name LIMIT ?1";

	return sql_load_texts(store, sql, error, SQL_INT(limit));
}

bool
skipped_count(struct store *store, int64_t *count, GError **error)
{
	static const char sql[] = "SELECT count(*) FROM skipped_message";

	return sql_number(store, sql, count, error);
}
