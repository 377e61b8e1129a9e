/*
 * matches.c - which filter found which paper, and what waits for a field.
 */
#include "store/matches.h"

#include "store/sql.h"

void
stored_filter_free(struct stored_filter *filter)
{
	if (!filter)
		return;
	g_free(filter->canonical);
	g_free(filter);
}

static GPtrArray *
load_filters(sqlite3_stmt *statement, GError **error)
{
	g_autoptr(GPtrArray) filters =
	    g_ptr_array_new_with_free_func((GDestroyNotify)stored_filter_free);
	enum sql_step step;

	if (!statement)
		return NULL;
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW) {
		struct stored_filter *filter = g_new0(struct stored_filter, 1);

		filter->id = sql_get_int(statement, 0);
		filter->canonical = sql_dup_text(statement, 1);
		filter->matched_through = sql_get_int(statement, 2);
		g_ptr_array_add(filters, filter);
	}
	return step == SQL_STEP_DONE ? g_steal_pointer(&filters) : NULL;
}

GPtrArray *
matches_load_behind(
    struct store *store, int64_t revision, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT id, canonical, matched_through FROM filter"
	    " WHERE matched_through < ?1 ORDER BY matched_through, id LIMIT ?2";
	sql_auto *statement =
	    sql_start(store, sql, error, SQL_INT(revision), SQL_INT(limit));

	return load_filters(statement, error);
}

bool
matches_save_through(
    struct store *store, int64_t filter_id, int64_t revision, GError **error)
{
	static const char sql[] = "UPDATE filter SET matched_through = "
	                          "max(matched_through, ?2) WHERE id = ?1";

	return sql_run(store, sql, error, SQL_INT(filter_id), SQL_INT(revision));
}

bool
matches_save(struct store *store, int64_t filter_id, int64_t paper_seq, bool is_yes,
    int64_t now, GError **error)
{
	/* The filter may have been forgotten since it was read. */
	static const char sql[] =
	    "INSERT INTO match (filter_id, paper_seq, state, decided_at)"
	    " SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM filter WHERE id = ?1)"
	    " ON CONFLICT DO UPDATE SET state = excluded.state,"
	    " decided_at = excluded.decided_at WHERE state = 'waiting'";

	return sql_run(store, sql, error, SQL_INT(filter_id), SQL_INT(paper_seq),
	    SQL_TEXT(is_yes ? "yes" : "waiting"), SQL_INT(now));
}

bool
matches_delete_waiting(
    struct store *store, int64_t filter_id, int64_t paper_seq, GError **error)
{
	static const char sql[] = "DELETE FROM match WHERE filter_id = ?1"
	                          " AND paper_seq = ?2 AND state = 'waiting'";

	return sql_run(store, sql, error, SQL_INT(filter_id), SQL_INT(paper_seq));
}

GPtrArray *
matches_load_waiting(struct store *store, int64_t paper_seq, GError **error)
{
	static const char sql[] =
	    "SELECT f.id, f.canonical, f.matched_through"
	    " FROM match m JOIN filter f ON f.id = m.filter_id"
	    " WHERE m.paper_seq = ?1 AND m.state = 'waiting' ORDER BY f.id";
	sql_auto *statement = sql_start(store, sql, error, SQL_INT(paper_seq));

	return load_filters(statement, error);
}

GArray *
matches_load_overdue(
    struct store *store, const char *day, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT DISTINCT m.paper_seq FROM match m JOIN paper p"
	    " ON p.seq = m.paper_seq"
	    " WHERE m.state = 'waiting' AND p.last_day < ?1 LIMIT ?2";
	sql_auto *statement =
	    sql_start(store, sql, error, SQL_TEXT(day), SQL_INT(limit));
	g_autoptr(GArray) papers = g_array_new(FALSE, FALSE, sizeof(int64_t));
	enum sql_step step;

	if (!statement)
		return NULL;
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW) {
		int64_t seq = sql_get_int(statement, 0);

		g_array_append_val(papers, seq);
	}
	return step == SQL_STEP_DONE ? g_steal_pointer(&papers) : NULL;
}

bool
matches_prune(struct store *store, int64_t before, unsigned limit, unsigned *count,
    GError **error)
{
	static const char sql[] =
	    "DELETE FROM match WHERE (filter_id, paper_seq) IN"
	    " (SELECT filter_id, paper_seq FROM match WHERE decided_at < ?1 LIMIT ?2)";

	return sql_delete(store, sql, count, error, SQL_INT(before), SQL_INT(limit));
}

bool
matches_count(struct store *store, bool is_yes, int64_t *count, GError **error)
{
	static const char sql[] = "SELECT count(*) FROM match WHERE state = ?1";

	return sql_number(
	    store, sql, count, error, SQL_TEXT(is_yes ? "yes" : "waiting"));
}
