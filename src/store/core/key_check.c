/*
 * key_check.c - MAC of the key file, to detect a wrong or damaged key.
 */
#include "store/core/key_check.h"

#include "store/core/sql.h"

bool
key_check_load(struct store *store, char **mac, GError **error)
{
	static const char sql[] = "SELECT mac FROM key_check WHERE id = 1";

	return sql_find_text(store, sql, mac, error);
}

bool
key_check_save(struct store *store, const char *mac, GError **error)
{
	static const char sql[] = "INSERT INTO key_check (id, mac) VALUES (1, ?1)"
	                          " ON CONFLICT (id) DO UPDATE SET mac = excluded.mac";

	return sql_exec(store, sql, error, SQL_TEXT(mac));
}
