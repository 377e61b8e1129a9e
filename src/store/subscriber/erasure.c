/*
 * erasure.c - delete all rows about a person, now or later.
 */
#include "store/subscriber/erasure.h"

#include "store/core/sql.h"
#include "store/subscriber/personal_data.h"

/* Record the id, so that restoring an older backup erases the subscriber again. */
static bool
insert_erased(struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql[] = "INSERT INTO erased (number) VALUES (?1)"
	                          " ON CONFLICT (number) DO NOTHING";

	return sql_exec(store, sql, error, SQL_INT(subscriber_id));
}

static unsigned
count_tables(void)
{
	unsigned count = 0;

	while (personal_data[count].table)
		count++;
	return count;
}

/* While the addresses are known. */
static bool
erase_inbox(struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql[] =
	    "SELECT address FROM subscriber WHERE id = ?1"
	    " UNION SELECT address FROM confirmation WHERE subscriber_id = ?1"
	    " UNION SELECT recipient FROM outbox"
	    "  WHERE subscriber_id = ?1 AND recipient IS NOT NULL";
	g_autoptr(GPtrArray) addresses =
	    sql_load_texts(store, sql, error, SQL_INT(subscriber_id));
	unsigned count;

	return addresses && personal_data_erase_inbox(store, addresses, &count, error);
}

bool
erasure_delete_person(struct store *store, int64_t subscriber_id, GError **error)
{
	if (!erase_inbox(store, subscriber_id, error))
		return false;
	for (unsigned i = count_tables(); i-- > 0;)
		if (personal_data[i].erase && !sql_exec(store, personal_data[i].erase,
		                                  error, SQL_INT(subscriber_id)))
			return false;
	return insert_erased(store, subscriber_id, error);
}

bool
erasure_delete_address(struct store *store, const char *address_key,
    const char *address, unsigned *count, GError **error)
{
	g_autoptr(GPtrArray) addresses = g_ptr_array_new();
	unsigned sum, rows;

	g_ptr_array_add(addresses, (gpointer)address);
	if (!personal_data_erase_inbox(store, addresses, &sum, error))
		return false;
	for (unsigned i = count_tables(); i-- > 0;) {
		if (!personal_data[i].erase_address)
			continue;
		if (!sql_exec_count(store, personal_data[i].erase_address, &rows, error,
		        SQL_TEXT(address_key), SQL_TEXT(address)))
			return false;
		sum += rows;
	}
	*count = sum;
	return true;
}

bool
erasure_insert_pending(struct store *store, const char *address_key,
    const char *address, int64_t outbox_id, int64_t now, GError **error)
{
	static const char sql[] =
	    "INSERT INTO pending_erasure (address_key, address, outbox_id, at)"
	    " VALUES (?1, ?2, ?3, ?4) ON CONFLICT (address_key)"
	    " DO UPDATE SET address = excluded.address,"
	    " outbox_id = excluded.outbox_id, at = excluded.at";

	return sql_exec(store, sql, error, SQL_TEXT(address_key), SQL_TEXT(address),
	    SQL_INT(outbox_id), SQL_INT(now));
}

bool
erasure_find_pending(struct store *store, char **address, GError **error)
{
	static const char sql[] = "SELECT f.address FROM pending_erasure f"
	                          " LEFT JOIN outbox o ON o.id = f.outbox_id"
	                          " WHERE o.id IS NULL OR o.ended_at IS NOT NULL"
	                          " ORDER BY f.at, f.address_key LIMIT 1";

	return sql_find_text(store, sql, address, error);
}

bool
erasure_has_pending(struct store *store, bool *has, GError **error)
{
	static const char sql[] = "SELECT EXISTS (SELECT 1 FROM pending_erasure)";

	return sql_has(store, sql, has, error);
}
