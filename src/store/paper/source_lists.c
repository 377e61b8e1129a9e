/*
 * source_lists.c - the configured source lists, and their state on a day.
 */
#include "store/paper/source_lists.h"

#include "store/core/record.h"

static bool
is_same(const struct source_list *one, const struct source_list *other)
{
	return g_strcmp0(one->name, other->name) == 0 &&
	       g_strcmp0(one->label, other->label) == 0 &&
	       one->expected_by == other->expected_by && one->wait_s == other->wait_s;
}

static bool
are_same(const GPtrArray *one, const GPtrArray *other)
{
	for (unsigned i = 0; i < one->len && one->len == other->len; i++)
		if (!is_same(one->pdata[i], other->pdata[i]))
			return false;
	return one->len == other->len;
}

bool
source_lists_save(struct store *store, const GPtrArray *lists, GError **error)
{
	static const char sql_clear[] = "DELETE FROM source_list";
	static const char sql[] =
	    "INSERT INTO source_list (position, name, label, expected_by, wait_s)"
	    " VALUES (?1, ?2, ?3, ?4, ?5)";
	g_autoptr(GPtrArray) stored = source_lists_load(store, error);

	/* Avoid a write: the lists seldom change. */
	if (!stored || are_same(stored, lists))
		return stored != NULL;
	if (!sql_exec(store, sql_clear, error))
		return false;
	for (unsigned i = 0; i < lists->len; i++) {
		const struct source_list *list = lists->pdata[i];

		if (!sql_exec(store, sql, error, SQL_INT(i), SQL_TEXT(list->name),
		        SQL_TEXT(list->label), SQL_INT_OR_NULL(list->expected_by),
		        SQL_INT(list->wait_s)))
			return false;
	}
	return true;
}

GPtrArray *
source_lists_load(struct store *store, GError **error)
{
	static const char sql[] = "SELECT name, label, expected_by, wait_s FROM "
	                          "source_list ORDER BY position";
	RECORD_LAYOUT(layout, source_list, "source_list", "ttNn", (), name, label,
	    expected_by, wait_s);

	return record_load_all(store, sql, &layout, error);
}

bool
source_lists_load_day(struct store *store, const char *name, const char *day,
    struct source_list_day *found, GError **error)
{
	static const char sql[] =
	    "SELECT (SELECT count FROM source_fetch WHERE source = ?1 AND day = ?2"
	    "  AND status = 'ok' ORDER BY id DESC LIMIT 1),"
	    " (SELECT count(*) FROM listing WHERE source = ?1 AND day = ?2),"
	    " EXISTS (SELECT 1 FROM source_fetch WHERE source = ?1 AND day = ?2"
	    "  AND status = 'empty'),"
	    /*
	     * A later success for any day ends a failure, unless that is specific to
	     * its day.
	     */
	    " coalesce((SELECT status FROM source_fetch f WHERE source = ?1 AND day = "
	    "?2"
	    "  AND (status <> 'failed' OR is_of_day = 1 OR NOT EXISTS (SELECT 1"
	    "   FROM source_fetch g WHERE g.source || '' = ?1 AND g.id > f.id"
	    "   AND g.status <> 'failed'))"
	    "  ORDER BY id DESC LIMIT 1), '')";
	sql_auto *statement =
	    sql_bind(store, sql, error, SQL_TEXT(name), SQL_TEXT(day));

	if (!statement ||
	    record_next(statement, "source_fetch", "Nnnt", error) != SQL_STEP_ROW)
		return false;
	found->listed = sql_get_int(statement, 0);
	found->stored = sql_get_int(statement, 1);
	found->is_empty = sql_get_int(statement, 2) == 1;
	g_strlcpy(found->status, sql_get_text(statement, 3), sizeof(found->status));
	return true;
}

bool
source_lists_load_sum(struct store *store, const char *name, const char *after,
    const char *through, struct source_list_sum *sum, GError **error)
{
	static const char sql[] =
	    "SELECT (SELECT coalesce(sum(f.count), 0) FROM source_fetch f"
	    "  WHERE f.source = ?1 AND f.day > ?2 AND f.day <= ?3 AND f.status = 'ok'"
	    "  AND f.id = (SELECT max(g.id) FROM source_fetch g WHERE g.source = ?1"
	    "   AND g.day = f.day AND g.status = 'ok')),"
	    " (SELECT count(*) FROM listing WHERE source = ?1 AND day > ?2"
	    "  AND day <= ?3)";
	sql_auto *statement = sql_bind(
	    store, sql, error, SQL_TEXT(name), SQL_TEXT(after), SQL_TEXT(through));

	if (!statement ||
	    record_next(statement, "source_fetch", "nn", error) != SQL_STEP_ROW)
		return false;
	sum->listed = sql_get_int(statement, 0);
	sum->stored = sql_get_int(statement, 1);
	return true;
}

bool
source_lists_load_history(struct store *store, const char *name,
    struct source_list_history *history, GError **error)
{
	static const char sql[] =
	    "SELECT (SELECT min(fetched_at) FROM source_fetch WHERE source = ?1),"
	    " (SELECT max(fetched_at) FROM source_fetch WHERE source = ?1"
	    "  AND status <> 'failed'),"
	    " (SELECT count FROM source_fetch WHERE source = ?1 AND status = 'ok'"
	    "  ORDER BY day DESC, id DESC LIMIT 1),"
	    " coalesce((SELECT status FROM source_fetch WHERE source = ?1"
	    "  ORDER BY id DESC LIMIT 1), '') = 'failed',"
	    " coalesce((SELECT day FROM source_fetch WHERE source = ?1 AND status = "
	    "'ok'"
	    "  ORDER BY day DESC, id DESC LIMIT 1), '')";
	sql_auto *statement = sql_bind(store, sql, error, SQL_TEXT(name));

	if (!statement ||
	    record_next(statement, "source_fetch", "NNNnD", error) != SQL_STEP_ROW)
		return false;
	history->fetched_at = sql_get_int(statement, 0);
	history->good_at = sql_get_int(statement, 1);
	history->listed = sql_get_int(statement, 2);
	history->is_failing = sql_get_int(statement, 3) == 1;
	g_strlcpy(history->newest_day, sql_get_text(statement, 4),
	    sizeof(history->newest_day));
	return true;
}
