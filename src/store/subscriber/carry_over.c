/*
 * carry_over.c - data that a restored store copies from the database it replaces.
 */
#include "store/subscriber/carry_over.h"

#include "store/core/sql.h"

bool
carry_over_attach(struct store *store, const char *path, GError **error)
{
	static const char sql[] = "ATTACH ?1 AS replaced";

	return sql_exec(store, sql, error, SQL_TEXT(path));
}

bool
carry_over_suppressions(struct store *store, unsigned *count, GError **error)
{
	static const char sql[] =
	    "INSERT INTO suppression (hash, reason, at)"
	    " SELECT hash, reason, at FROM replaced.suppression WHERE true"
	    " ON CONFLICT DO NOTHING";

	return sql_exec_count(store, sql, count, error);
}

GArray *
carry_over_find_erased(struct store *store, GError **error)
{
	static const char sql[] =
	    "SELECT e.number FROM replaced.erased e"
	    " JOIN main.subscriber s ON s.id = e.number ORDER BY 1";

	return sql_load_numbers(store, sql, error);
}

bool
carry_over_erased(struct store *store, GError **error)
{
	static const char sql[] = "INSERT OR IGNORE INTO erased (number)"
	                          " SELECT number FROM replaced.erased";

	return sql_exec(store, sql, error);
}

GArray *
carry_over_find_left(struct store *store, GError **error)
{
	static const char sql[] =
	    "SELECT s.id FROM main.subscriber s JOIN replaced.subscriber o"
	    " ON o.id = s.id WHERE o.state = 'gone' AND s.state <> 'gone'"
	    " AND coalesce(o.consent_at, 0) >= coalesce(s.consent_at, 0) ORDER BY 1";

	return sql_load_numbers(store, sql, error);
}

bool
carry_over_feeds(struct store *store, GError **error)
{
	/* The time only advances, also when they are turned off (its sign). */
	static const char sql[] =
	    "UPDATE main.subscriber AS s SET feeds_since = o.feeds_since"
	    " FROM replaced.subscriber o WHERE o.id = s.id"
	    " AND abs(o.feeds_since) >= abs(ifnull(s.feeds_since, 0))";

	return sql_exec(store, sql, error);
}
