/*
 * matches.c - which filter found which paper, and what waits for a field.
 */
#include "store/paper/matches.h"

#include "base/error.h"
#include "store/core/row_count.h"
#include "store/core/sql.h"

/* Of a filter f, as load_filters() reads them. */
#define COLUMNS "f.id, f.canonical, " MATCHES_THROUGH ", f.matched_through IS NULL"

#define MATCHED      "matched"
#define BATCH        "matching"
#define BATCH_FILTER "matching filter"

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
		filter->is_joined = sql_get_int(statement, 3) == 1;
		g_ptr_array_add(filters, filter);
	}
	return step == SQL_STEP_DONE ? g_steal_pointer(&filters) : NULL;
}

bool
matches_load_progress(
    struct store *store, struct matches_progress *progress, GError **error)
{
	struct matches_progress loaded;

	if (!store_load_cursor(store, MATCHED, 0, &loaded.matched, error) ||
	    !store_load_cursor(store, BATCH, 0, &loaded.batch, error) ||
	    !store_load_cursor(store, BATCH_FILTER, 0, &loaded.filter_id, error))
		return false;
	*progress = loaded;
	return true;
}

bool
matches_save_progress(
    struct store *store, const struct matches_progress *progress, GError **error)
{
	return store_save_cursor(store, MATCHED, progress->matched, error) &&
	       store_save_cursor(store, BATCH, progress->batch, error) &&
	       store_save_cursor(store, BATCH_FILTER, progress->filter_id, error);
}

GPtrArray *
matches_load_filters(struct store *store, int64_t after, unsigned limit, GError **error)
{
	static const char sql[] = "SELECT " COLUMNS " FROM filter f"
	                          " WHERE f.id > ?1 ORDER BY f.id LIMIT ?2";
	sql_auto *statement =
	    sql_bind(store, sql, error, SQL_INT(after), SQL_INT(limit));

	return load_filters(statement, error);
}

GPtrArray *
matches_load_unfiled(struct store *store, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT " COLUMNS " FROM filter f WHERE NOT EXISTS"
	    " (SELECT 1 FROM filter_term t WHERE t.filter_id = f.id) LIMIT ?1";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(limit));

	return load_filters(statement, error);
}

static bool
visit_all(sqlite3_stmt *statement, const struct match_ops *user, GError **error)
{
	enum sql_step step;

	if (!statement)
		return false;
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW) {
		int64_t id = sqlite3_column_int64(statement, 0);

		if (user->is_wanted(user->data, id) &&
		    !user->visit(user->data, id,
		        (const char *)sqlite3_column_text(statement, 1), error))
			return false;
	}
	return step == SQL_STEP_DONE;
}

bool
matches_visit_joined(
    struct store *store, const char *ids, const struct match_ops *user, GError **error)
{
	/* In one statement: to find the next of them costs less than to begin anew. */
	static const char sql[] =
	    "SELECT f.id, f.canonical FROM json_each(?1) j"
	    " CROSS JOIN filter f ON f.id = j.value WHERE f.matched_through IS NULL";
	sql_auto *statement = sql_bind(store, sql, error, SQL_TEXT(ids));

	return visit_all(statement, user, error);
}

bool
matches_visit_joined_range(struct store *store, int64_t after, int64_t through,
    const struct match_ops *user, GError **error)
{
	static const char sql[] = "SELECT id, canonical FROM filter WHERE id > ?1"
	                          " AND id <= ?2 AND matched_through IS NULL";
	sql_auto *statement =
	    sql_bind(store, sql, error, SQL_INT(after), SQL_INT(through));

	return visit_all(statement, user, error);
}

bool
matches_load_last_filter(struct store *store, int64_t *id, GError **error)
{
	static const char sql[] = "SELECT coalesce(max(id), 0) FROM filter";

	return sql_number(store, sql, id, error);
}

bool
matches_join(struct store *store, unsigned limit, unsigned *count, GError **error)
{
	static const char sql[] =
	    "UPDATE filter SET matched_through = NULL WHERE id IN"
	    " (SELECT id FROM filter WHERE matched_through IS NOT NULL AND"
	    "  " MATCHES_JOINED("matched_through") " IS NULL LIMIT ?1)";

	return sql_exec_count(store, sql, count, error, SQL_INT(limit));
}

GPtrArray *
matches_load_behind(
    struct store *store, int64_t revision, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT id, canonical, matched_through, 0 FROM filter"
	    " WHERE matched_through < ?1 ORDER BY matched_through, id LIMIT ?2";
	sql_auto *statement =
	    sql_bind(store, sql, error, SQL_INT(revision), SQL_INT(limit));

	return load_filters(statement, error);
}

bool
matches_save_through(struct store *store, int64_t filter_id, int64_t revision,
    bool *is_there, GError **error)
{
	static const char sql[] = "UPDATE filter SET matched_through = "
	                          "max(matched_through, ?2) WHERE id = ?1";

	unsigned count;

	if (!sql_exec_count(
	        store, sql, &count, error, SQL_INT(filter_id), SQL_INT(revision)))
		return false;
	*is_there = count > 0;
	return true;
}

bool
matches_load_through(
    struct store *store, int64_t filter_id, int64_t *revision, GError **error)
{
	static const char sql[] =
	    "SELECT " MATCHES_THROUGH " FROM filter f WHERE f.id = ?1";

	return sql_number(store, sql, revision, error, SQL_INT(filter_id));
}

static bool
save_found(
    struct store *store, const struct matches_found *found, int64_t now, GError **error)
{
	/* Two plain statements: one that does both costs thrice as much. */
	static const char sql_new[] =
	    "INSERT INTO match_found (filter_id, decided_at, papers)"
	    " VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
	static const char sql_more[] =
	    "UPDATE match_found SET papers = papers || ',' || ?3"
	    " WHERE filter_id = ?1 AND decided_at = ?2";
	const struct sql_value values[] = {
	    SQL_INT(found->filter_id), SQL_INT(now), SQL_TEXT(found->papers), {0}};
	unsigned count;

	return sql_exec_count_values(store, sql_new, values, &count, error) &&
	       (count || sql_exec_values(store, sql_more, values, error));
}

#define SEVEN(x)  x x x x x x x
#define ONE_FOUND ", (?, ?1, ?)"

/*
 * Write as many rows as are written at once, and none when one of the filters has a
 * row of this run already.
 */
static bool
insert_found(struct store *store, const struct matches_found *found, int64_t now,
    bool *is_done, GError **error)
{
	static const char sql[] =
	    "INSERT INTO match_found (filter_id, decided_at, papers)"
	    " VALUES (?2, ?1, ?3)" SEVEN(SEVEN(ONE_FOUND));
	struct sql_value values[2 * MATCHES_FOUND_AT_ONCE + 2] = {SQL_INT(now)};
	g_autoptr(GError) refused = NULL;

	for (unsigned i = 0; i < MATCHES_FOUND_AT_ONCE; i++) {
		values[2 * i + 1] = SQL_INT(found[i].filter_id);
		values[2 * i + 2] = SQL_TEXT(found[i].papers);
	}
	*is_done = sql_exec_values(store, sql, values, &refused);
	if (*is_done || g_error_matches(refused, PB_ERROR, PB_ERROR_INPUT))
		return true;
	return pb_error_forward(error, &refused);
}

bool
matches_save_found(struct store *store, const struct matches_found *found,
    unsigned count, int64_t now, GError **error)
{
	unsigned saved = 0;
	bool is_done = true;

	while (is_done && count - saved >= MATCHES_FOUND_AT_ONCE) {
		if (!insert_found(store, found + saved, now, &is_done, error))
			return false;
		saved += is_done ? MATCHES_FOUND_AT_ONCE : 0;
	}
	for (; saved < count; saved++)
		if (!save_found(store, &found[saved], now, error))
			return false;
	return true;
}

bool
matches_has_found(struct store *store, int64_t filter_id, int64_t paper_seq, bool *has,
    GError **error)
{
	static const char sql[] =
	    "SELECT EXISTS (SELECT 1 FROM match_found WHERE filter_id = ?1"
	    " AND instr(',' || papers || ',', ',' || ?2 || ','))";
	int64_t found;

	if (!sql_number(
	        store, sql, &found, error, SQL_INT(filter_id), SQL_INT(paper_seq)))
		return false;
	*has = found == 1;
	return true;
}

bool
matches_save_waiting(struct store *store, int64_t filter_id, int64_t paper_seq,
    int64_t due_at, int64_t now, GError **error)
{
	static const char sql[] =
	    "INSERT INTO match_pending (filter_id, paper_seq, decided_at, due_at)"
	    " VALUES (?1, ?2, ?3, ?4)"
	    " ON CONFLICT DO UPDATE SET decided_at = excluded.decided_at,"
	    " due_at = excluded.due_at";

	return sql_exec(store, sql, error, SQL_INT(filter_id), SQL_INT(paper_seq),
	    SQL_INT(now), SQL_INT(due_at));
}

bool
matches_delete_waiting(
    struct store *store, int64_t filter_id, int64_t paper_seq, GError **error)
{
	static const char sql[] =
	    "DELETE FROM match_pending WHERE filter_id = ?1 AND paper_seq = ?2";

	return sql_exec(store, sql, error, SQL_INT(filter_id), SQL_INT(paper_seq));
}

/* What a filter found in one run. */
struct found {
	int64_t filter_id;
	int64_t decided_at;
	char *papers;
};

static void
clear_found(void *data)
{
	struct found *found = data;

	g_free(found->papers);
}

/* @return of struct found: those in which a paper is; NULL on failure */
static GArray *
load_found(struct store *store, int64_t paper_seq, GError **error)
{
	/* There is no index by paper: rows become one seldom, and days are matched for
	 * a million filters at a time. */
	static const char sql[] =
	    "SELECT filter_id, decided_at, papers FROM match_found"
	    " WHERE instr(',' || papers || ',', ',' || ?1 || ',')";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(paper_seq));
	g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(struct found));
	enum sql_step step;

	if (!statement)
		return NULL;
	g_array_set_clear_func(rows, clear_found);
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW) {
		struct found found = {
		    .filter_id = sql_get_int(statement, 0),
		    .decided_at = sql_get_int(statement, 1),
		    .papers = sql_dup_text(statement, 2),
		};

		g_array_append_val(rows, found);
	}
	return step == SQL_STEP_DONE ? g_steal_pointer(&rows) : NULL;
}

/* Put a paper into the place of another; of one that is found already there is no
 * second. @return the papers, or NULL when there are none left */
static char *
exchange(const char *papers, const char *from, const char *to, bool has_to)
{
	g_auto(GStrv) seqs = g_strsplit(papers, ",", -1);
	GString *text = g_string_new(NULL);

	for (char **seq = seqs; *seq; seq++) {
		bool is_it = g_str_equal(*seq, from);

		if (is_it && has_to)
			continue;
		if (text->len)
			g_string_append_c(text, ',');
		g_string_append(text, is_it ? to : *seq);
	}
	return g_string_free(text, text->len == 0);
}

static bool
move_found(struct store *store, const struct found *found, int64_t from, int64_t to,
    GError **error)
{
	static const char sql[] = "UPDATE match_found SET papers = ?3"
	                          " WHERE filter_id = ?1 AND decided_at = ?2";
	static const char sql_none[] = "DELETE FROM match_found"
	                               " WHERE filter_id = ?1 AND decided_at = ?2";
	g_autofree char *old = g_strdup_printf("%" G_GINT64_FORMAT, from);
	g_autofree char *new = g_strdup_printf("%" G_GINT64_FORMAT, to);
	g_autofree char *papers = NULL;
	bool has_to;

	if (!matches_has_found(store, found->filter_id, to, &has_to, error))
		return false;
	papers = exchange(found->papers, old, new, has_to);
	if (!papers)
		return sql_exec(store, sql_none, error, SQL_INT(found->filter_id),
		    SQL_INT(found->decided_at));
	return sql_exec(store, sql, error, SQL_INT(found->filter_id),
	    SQL_INT(found->decided_at), SQL_TEXT(papers));
}

/* Who has found a paper waits for it no more. */
static bool
end_waiting(struct store *store, int64_t paper_seq, GError **error)
{
	static const char sql[] =
	    "DELETE FROM match_pending WHERE paper_seq = ?1 AND EXISTS"
	    " (SELECT 1 FROM match_found f WHERE f.filter_id = match_pending.filter_id"
	    "  AND instr(',' || f.papers || ',', ',' || ?1 || ','))";

	return sql_exec(store, sql, error, SQL_INT(paper_seq));
}

bool
matches_move(struct store *store, int64_t from, int64_t to, GError **error)
{
	static const char sql[] =
	    "UPDATE OR IGNORE match_pending SET paper_seq = ?2 WHERE paper_seq = ?1";
	static const char sql_rest[] = "DELETE FROM match_pending WHERE paper_seq = ?1";
	g_autoptr(GArray) rows = load_found(store, from, error);

	for (unsigned i = 0; rows && i < rows->len; i++)
		if (!move_found(
		        store, &g_array_index(rows, struct found, i), from, to, error))
			return false;
	return rows && sql_exec(store, sql, error, SQL_INT(from), SQL_INT(to)) &&
	       sql_exec(store, sql_rest, error, SQL_INT(from)) &&
	       end_waiting(store, to, error);
}

GPtrArray *
matches_load_waiting(struct store *store, int64_t paper_seq, int64_t after,
    unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT " COLUMNS
	    " FROM match_pending m JOIN filter f ON f.id = m.filter_id"
	    " WHERE m.paper_seq = ?1 AND m.filter_id > ?2"
	    " ORDER BY m.filter_id LIMIT ?3";
	sql_auto *statement = sql_bind(
	    store, sql, error, SQL_INT(paper_seq), SQL_INT(after), SQL_INT(limit));

	return load_filters(statement, error);
}

bool
matches_find_due(struct store *store, int64_t now, int64_t *paper_seq, GError **error)
{
	static const char sql[] =
	    "SELECT coalesce((SELECT paper_seq FROM match_pending WHERE due_at <= ?1"
	    " ORDER BY due_at, paper_seq LIMIT 1), 0)";

	return sql_number(store, sql, paper_seq, error, SQL_INT(now));
}

bool
matches_load_next_due(struct store *store, int64_t *due_at, GError **error)
{
	static const char sql[] = "SELECT min(due_at) FROM match_pending";

	return sql_number(store, sql, due_at, error);
}

bool
matches_find(struct store *store, int64_t filter_id, int64_t paper_seq,
    struct stored_match *match, GError **error)
{
	static const char sql[] = "SELECT state = 'yes', decided_at, due_at FROM match"
	                          " WHERE filter_id = ?1 AND paper_seq = ?2"
	                          " ORDER BY state DESC LIMIT 1";
	sql_auto *statement =
	    sql_bind(store, sql, error, SQL_INT(filter_id), SQL_INT(paper_seq));
	enum sql_step step;

	if (!statement)
		return false;
	step = sql_step(statement, error);
	if (step == SQL_STEP_FAILED)
		return false;
	*match = (struct stored_match){.due_at = -1};
	if (step == SQL_STEP_ROW)
		*match = (struct stored_match){
		    .is_there = true,
		    .is_yes = sql_get_int(statement, 0) == 1,
		    .decided_at = sql_get_int(statement, 1),
		    .due_at = sql_get_int(statement, 2),
		};
	return true;
}

bool
matches_prune(
    struct store *store, int64_t before, int64_t after, int64_t through, GError **error)
{
	static const char sql_found[] =
	    "DELETE FROM match_found WHERE filter_id > ?1 AND filter_id <= ?2"
	    " AND decided_at < ?3";
	static const char sql_waiting[] =
	    "DELETE FROM match_pending WHERE filter_id > ?1 AND filter_id <= ?2"
	    " AND decided_at < ?3";

	return sql_exec(store, sql_found, error, SQL_INT(after), SQL_INT(through),
	           SQL_INT(before)) &&
	       sql_exec(store, sql_waiting, error, SQL_INT(after), SQL_INT(through),
	           SQL_INT(before));
}

bool
matches_count(struct store *store, bool is_yes, int64_t *count, GError **error)
{
	return row_count_load(store, is_yes ? "match" : "match_pending", count, error);
}
