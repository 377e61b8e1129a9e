/*
 * known.c - works that a subscriber knows already, which no digest has.
 */
#include "store/subscriber/known.h"

#include "store/core/sql.h"

bool
known_add(struct store *store, int64_t subscriber_id, const char *name, int64_t now,
    bool *is_new, GError **error)
{
	static const char sql[] =
	    "INSERT INTO known (subscriber_id, name, at) VALUES (?1, ?2, ?3)"
	    " ON CONFLICT (subscriber_id, name) DO NOTHING";
	unsigned count;

	if (!sql_exec_count(store, sql, &count, error, SQL_INT(subscriber_id),
	        SQL_TEXT(name), SQL_INT(now)))
		return false;
	*is_new = count > 0;
	return true;
}

bool
known_count(struct store *store, int64_t subscriber_id, int64_t *count, GError **error)
{
	static const char sql[] = "SELECT count(*) FROM known WHERE subscriber_id = ?1";

	return sql_number(store, sql, count, error, SQL_INT(subscriber_id));
}

GHashTable *
known_load_works(struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql[] =
	    "SELECT DISTINCT coalesce(p.work, p.seq) FROM known k"
	    " JOIN paper_alias a ON a.name = k.name JOIN paper p ON p.seq = a.paper_seq"
	    " WHERE k.subscriber_id = ?1";
	g_autoptr(GArray) works =
	    sql_load_numbers(store, sql, error, SQL_INT(subscriber_id));
	GHashTable *set;

	if (!works)
		return NULL;
	set = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	for (unsigned i = 0; i < works->len; i++)
		g_hash_table_add(
		    set, g_memdup2(&g_array_index(works, int64_t, i), sizeof(int64_t)));
	return set;
}
