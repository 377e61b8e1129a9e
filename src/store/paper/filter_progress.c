/*
 * filter_progress.c - the revision of the papers up to which each filter is matched.
 */
#include "store/paper/filter_progress.h"

#include "base/error.h"
#include "store/core/record.h"

/* Columns of a filter f. */
#define COLUMNS \
	"f.id, f.canonical, " FILTER_PROGRESS_REVISION ", f.matched_revision IS NULL"

/* Cursor names. */
#define MATCHED      "matched"
#define BATCH        "matching"
#define BATCH_FILTER "matching filter"

RECORD_LAYOUT(layout, stored_filter, "filter", "itnn", (), id, canonical,
    matched_revision, is_batched);

bool
filter_progress_load(
    struct store *store, struct filter_progress *progress, GError **error)
{
	struct filter_progress loaded;

	if (!store_load_cursor(store, MATCHED, 0, &loaded.matched, error) ||
	    !store_load_cursor(store, BATCH, 0, &loaded.batch, error) ||
	    !store_load_cursor(store, BATCH_FILTER, 0, &loaded.filter_id, error))
		return false;
	*progress = loaded;
	return true;
}

bool
filter_progress_save(
    struct store *store, const struct filter_progress *progress, GError **error)
{
	return store_save_cursor(store, MATCHED, progress->matched, error) &&
	       store_save_cursor(store, BATCH, progress->batch, error) &&
	       store_save_cursor(store, BATCH_FILTER, progress->filter_id, error);
}

GPtrArray *
filter_progress_load_filters(
    struct store *store, int64_t after, unsigned limit, GError **error)
{
	static const char sql[] = "SELECT " COLUMNS " FROM filter f"
	                          " WHERE f.id > ?1 ORDER BY f.id LIMIT ?2";

	return record_load_all(
	    store, sql, &layout, error, SQL_INT(after), SQL_INT(limit));
}

bool
filter_progress_prune(
    struct store *store, int64_t before, int64_t after, int64_t through, GError **error)
{
	static const char sql[] =
	    "DELETE FROM filter WHERE id > ?1 AND id <= ?2 AND created_at < ?3"
	    " AND NOT EXISTS (SELECT 1 FROM subscription s"
	    "  WHERE s.filter_id = filter.id)";

	return sql_exec(
	    store, sql, error, SQL_INT(after), SQL_INT(through), SQL_INT(before));
}

GPtrArray *
filter_progress_load_unindexed(
    struct store *store, int64_t after, int64_t through, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT " COLUMNS " FROM filter f WHERE f.id > ?1 AND f.id <= ?2"
	    " AND NOT EXISTS (SELECT 1 FROM filter_term t WHERE t.filter_id = f.id)"
	    " ORDER BY f.id LIMIT ?3";

	return record_load_all(store, sql, &layout, error, SQL_INT(after),
	    SQL_INT(through), SQL_INT(limit));
}

GPtrArray *
filter_progress_load_pending(struct store *store, int64_t paper_seq, int64_t after,
    unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT " COLUMNS
	    " FROM match_pending m JOIN filter f ON f.id = m.filter_id"
	    " WHERE m.paper_seq = ?1 AND m.filter_id > ?2"
	    " ORDER BY m.filter_id LIMIT ?3";

	return record_load_all(store, sql, &layout, error, SQL_INT(paper_seq),
	    SQL_INT(after), SQL_INT(limit));
}

/* @param sql  of a list of ids, with id and canonical form */
static bool
find_texts(struct store *store, const char *sql, const GArray *ids,
    filter_progress_text found, void *data, GError **error)
{
	for (unsigned i = 0; i < ids->len; i += SQL_LIST_MAX) {
		struct sql_value values[SQL_LIST_MAX + 1] = {0};
		sql_auto *statement = NULL;
		enum sql_step step = SQL_STEP_FAILED;

		sql_fill_list(values, &g_array_index(ids, int64_t, i),
		    MIN(ids->len - i, SQL_LIST_MAX));
		statement = sql_bind_values(store, sql, values, error);
		while (statement && (step = record_next(statement, "filter", "it",
		                         error)) == SQL_STEP_ROW)
			if (!found(data, sql_get_int(statement, 0),
			        sql_get_text(statement, 1), error))
				return false;
		if (step != SQL_STEP_DONE)
			return false;
	}
	return true;
}

bool
filter_progress_foreach(struct store *store, const GArray *ids,
    filter_progress_text found, void *data, GError **error)
{
	static const char sql[] = SQL_WITH_LIST(
	    "SELECT f.id, f.canonical FROM filter f WHERE f.matched_revision IS NULL"
	    " AND f.id IN (",
	    "?", "?", ") ORDER BY f.id");

	return find_texts(store, sql, ids, found, data, error);
}

bool
filter_progress_load_texts(struct store *store, const GArray *ids,
    filter_progress_text found, void *data, GError **error)
{
	static const char sql[] = SQL_WITH_LIST(
	    "SELECT id, canonical FROM filter WHERE id IN (", "?", "?", ")");

	return find_texts(store, sql, ids, found, data, error);
}

bool
filter_progress_load_last_id(struct store *store, int64_t *id, GError **error)
{
	static const char sql[] = "SELECT coalesce(max(id), 0) FROM filter";

	return sql_number(store, sql, id, error);
}

bool
filter_progress_join_batch(
    struct store *store, unsigned limit, unsigned *count, GError **error)
{
	static const char sql[] =
	    "UPDATE filter SET matched_revision = NULL WHERE id IN"
	    " (SELECT id FROM filter WHERE matched_revision IS NOT NULL AND"
	    "  " FILTER_PROGRESS_JOINED("matched_revision") " IS NULL LIMIT ?1)";

	return sql_exec_count(store, sql, count, error, SQL_INT(limit));
}

GPtrArray *
filter_progress_load_lagging(
    struct store *store, int64_t revision, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT id, canonical, matched_revision, 0 FROM filter"
	    " WHERE matched_revision < ?1 ORDER BY matched_revision, id LIMIT ?2";

	return record_load_all(
	    store, sql, &layout, error, SQL_INT(revision), SQL_INT(limit));
}

bool
filter_progress_save_revision(struct store *store, int64_t filter_id, int64_t revision,
    bool *is_there, GError **error)
{
	static const char sql[] =
	    "UPDATE filter SET matched_revision = CASE WHEN matched_revision < ?2"
	    " THEN ?2 ELSE matched_revision END WHERE id = ?1";
	unsigned count;

	if (!sql_exec_count(
	        store, sql, &count, error, SQL_INT(filter_id), SQL_INT(revision)))
		return false;
	*is_there = count > 0;
	return true;
}

bool
filter_progress_load_revision(
    struct store *store, int64_t filter_id, int64_t *revision, GError **error)
{
	static const char sql[] =
	    "SELECT " FILTER_PROGRESS_REVISION " FROM filter f WHERE f.id = ?1";

	return sql_number(store, sql, revision, error, SQL_INT(filter_id));
}
