/*
 * history.c - the line of commits that a database server continues.
 */
#include "store/core/history.h"

#include "store/core/sql.h"

#define CURSOR "history"

/* More than can be in lost commits. */
#define SKIPPED_IDS 1000000000

int64_t
history_get_number(const struct history *history)
{
	return history->cluster + history->timeline;
}

static bool
skip_ids(struct store *store, GError **error)
{
	static const char sql[] =
	    "SELECT setval(CAST(pg_get_serial_sequence(name, 'id') AS regclass),"
	    " nextval(CAST(pg_get_serial_sequence(name, 'id') AS regclass)) + ?1)"
	    " FROM (VALUES ('digest'), ('outbox'), ('confirmation'), ('subscriber'))"
	    " AS tables (name)";

	return sql_exec(store, sql, error, SQL_INT(SKIPPED_IDS));
}

static bool
update(struct store *store, void *data, GError **error)
{
	int64_t recorded;

	(void)data;
	if (!store_load_cursor(store, CURSOR, 0, &recorded, error))
		return false;
	/* Another process may have recorded it meanwhile. */
	if (recorded == store->history)
		return true;
	return (!recorded || skip_ids(store, error)) &&
	       store_save_cursor(store, CURSOR, store->history, error);
}

bool
history_update(struct store *store, GError **error)
{
	int64_t recorded;

	return store_load_cursor(store, CURSOR, 0, &recorded, error) &&
	       (recorded == store->history ||
	           store_transact(store, update, NULL, error));
}
