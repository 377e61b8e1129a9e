/*
 * audit.c - who changed what, and how it was asked for.
 */
#include "store/audit.h"

#include "store/sql.h"

bool
audit_insert(struct store *store, int64_t now, const char *who, const char *what,
    int64_t subscriber_id, const char *detail, GError **error)
{
	static const char sql[] =
	    "INSERT INTO change (at, who, what, subscriber_id, detail)"
	    " VALUES (?1, ?2, ?3, ?4, ?5)";

	return sql_run(store, sql, error, SQL_INT(now), SQL_TEXT(who), SQL_TEXT(what),
	    subscriber_id ? SQL_INT(subscriber_id) : SQL_NULL, SQL_TEXT(detail));
}
