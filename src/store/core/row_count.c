/*
 * row_count.c - row counts, maintained by triggers.
 */
#include "store/core/row_count.h"

#include "store/core/sql.h"

bool
row_count_load(struct store *store, const char *name, int64_t *count, GError **error)
{
	static const char sql[] = "SELECT count FROM row_count WHERE name = ?1";

	return sql_number(store, sql, count, error, SQL_TEXT(name));
}
