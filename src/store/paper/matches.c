/*
 * matches.c - the papers that each filter matches, and matches that are pending.
 */
#include "store/paper/matches.h"

#include <string.h>

#include "store/core/record.h"

bool
matches_save_found(struct store *store, int64_t filter_id, const char *papers,
    int64_t now, GError **error)
{
	static const char sql[] =
	    "INSERT INTO match (decided_at, filter_id, papers) VALUES (?1, ?2, ?3)"
	    " ON CONFLICT (filter_id, decided_at) DO UPDATE"
	    " SET papers = match.papers || ',' || excluded.papers";

	return sql_exec(
	    store, sql, error, SQL_INT(now), SQL_INT(filter_id), SQL_TEXT(papers));
}

bool
matches_add_total(struct store *store, unsigned count, GError **error)
{
	static const char sql[] =
	    "INSERT INTO cursor (name, value) VALUES ('matches', ?1)"
	    " ON CONFLICT (name) DO UPDATE SET value = cursor.value + excluded.value";

	return !count || sql_exec(store, sql, error, SQL_INT(count));
}

bool
matches_load_total(struct store *store, int64_t *total, GError **error)
{
	return store_load_cursor(store, "matches", 0, total, error);
}

bool
matches_has_found(struct store *store, int64_t filter_id, int64_t paper_seq, bool *has,
    GError **error)
{
	static const char sql[] =
	    "SELECT EXISTS (SELECT 1 FROM match WHERE filter_id = ?1"
	    " AND ',' || papers || ',' LIKE '%,' || ?2 || ',%')";

	return sql_has(store, sql, has, error, SQL_INT(filter_id), SQL_INT(paper_seq));
}

bool
matches_save_pending(struct store *store, int64_t filter_id, int64_t paper_seq,
    int64_t due_at, int64_t now, GError **error)
{
	static const char sql[] =
	    "INSERT INTO match_pending (filter_id, paper_seq, decided_at, due_at)"
	    " VALUES (?1, ?2, ?3, ?4)"
	    " ON CONFLICT (filter_id, paper_seq) DO UPDATE"
	    " SET decided_at = excluded.decided_at,"
	    " due_at = excluded.due_at";

	return sql_exec(store, sql, error, SQL_INT(filter_id), SQL_INT(paper_seq),
	    SQL_INT(now), SQL_INT(due_at));
}

bool
matches_delete_pending(
    struct store *store, int64_t filter_id, int64_t paper_seq, GError **error)
{
	static const char sql[] =
	    "DELETE FROM match_pending WHERE filter_id = ?1 AND paper_seq = ?2";

	return sql_exec(store, sql, error, SQL_INT(filter_id), SQL_INT(paper_seq));
}

/* A row of the table match. */
struct found {
	int64_t filter_id;
	int64_t decided_at;
	const char *papers;
};

/* @return of struct found *: rows that contain a paper; NULL on failure */
static GPtrArray *
load_found(struct store *store, int64_t paper_seq, GError **error)
{
	/* No index by paper: it would slow down matching, and merging papers is rare.
	 */
	static const char sql[] = "SELECT filter_id, decided_at, papers FROM match"
	                          " WHERE ',' || papers || ',' LIKE '%,' || ?1 || ',%'";
	RECORD_LAYOUT(layout, found, "match", "int", (), filter_id, decided_at, papers);

	return record_load_all(store, sql, &layout, error, SQL_INT(paper_seq));
}

/*
 * Replace a paper by another, or remove it if the other is already matched.
 *
 * @return the papers, or NULL if none is left
 */
static char *
replace(const char *papers, const char *from, const char *to, bool has_to)
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
	static const char sql[] = "UPDATE match SET papers = ?3"
	                          " WHERE filter_id = ?1 AND decided_at = ?2";
	static const char sql_none[] = "DELETE FROM match"
	                               " WHERE filter_id = ?1 AND decided_at = ?2";
	g_autofree char *old = g_strdup_printf("%" G_GINT64_FORMAT, from);
	g_autofree char *new = g_strdup_printf("%" G_GINT64_FORMAT, to);
	g_autofree char *papers = NULL;
	bool has_to;

	if (!matches_has_found(store, found->filter_id, to, &has_to, error))
		return false;
	papers = replace(found->papers, old, new, has_to);
	if (!papers)
		return sql_exec(store, sql_none, error, SQL_INT(found->filter_id),
		    SQL_INT(found->decided_at));
	return sql_exec(store, sql, error, SQL_INT(found->filter_id),
	    SQL_INT(found->decided_at), SQL_TEXT(papers));
}

/* A moved match replaces the pending one of the same filter. */
static bool
delete_matched_pending(struct store *store, int64_t paper_seq, GError **error)
{
	static const char sql[] =
	    "DELETE FROM match_pending WHERE paper_seq = ?1 AND EXISTS"
	    " (SELECT 1 FROM match f WHERE f.filter_id = match_pending.filter_id"
	    "  AND ',' || f.papers || ',' LIKE '%,' || ?1 || ',%')";

	return sql_exec(store, sql, error, SQL_INT(paper_seq));
}

bool
matches_move(struct store *store, int64_t from, int64_t to, GError **error)
{
	static const char sql[] =
	    "UPDATE match_pending SET paper_seq = ?2 WHERE paper_seq = ?1"
	    " AND NOT EXISTS (SELECT 1 FROM match_pending m WHERE m.filter_id ="
	    "  match_pending.filter_id AND m.paper_seq = ?2)";
	static const char sql_rest[] = "DELETE FROM match_pending WHERE paper_seq = ?1";
	g_autoptr(GPtrArray) rows = load_found(store, from, error);

	for (unsigned i = 0; rows && i < rows->len; i++)
		if (!move_found(store, rows->pdata[i], from, to, error))
			return false;
	return rows && sql_exec(store, sql, error, SQL_INT(from), SQL_INT(to)) &&
	       sql_exec(store, sql_rest, error, SQL_INT(from)) &&
	       delete_matched_pending(store, to, error);
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
	static const char sql[] =
	    "SELECT 1 AS is_yes, decided_at, NULL FROM match WHERE filter_id = ?1"
	    " AND ',' || papers || ',' LIKE '%,' || ?2 || ',%'"
	    " UNION ALL SELECT 0, decided_at, due_at FROM match_pending"
	    " WHERE filter_id = ?1 AND paper_seq = ?2 ORDER BY is_yes DESC LIMIT 1";
	sql_auto *statement =
	    sql_bind(store, sql, error, SQL_INT(filter_id), SQL_INT(paper_seq));
	enum sql_step step;

	if (!statement)
		return false;
	step = record_next(statement, "match", "nnN", error);
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

/* Append the papers of the first column. */
static void
add_seqs(struct sql_statement *row, GArray *seqs)
{
	const char *at = sql_get_text(row, 0);

	while (at && *at) {
		char *end;
		int64_t seq = g_ascii_strtoll(at, &end, 10);

		g_array_append_val(seqs, seq);
		at = *end ? end + 1 : end;
	}
}

GArray *
matches_load_seqs(struct store *store, int64_t filter_id, GError **error)
{
	static const char sql[] = "SELECT papers FROM match WHERE filter_id = ?1";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(filter_id));
	g_autoptr(GArray) seqs = g_array_new(FALSE, FALSE, sizeof(int64_t));
	enum sql_step step = SQL_STEP_FAILED;

	while (statement &&
	       (step = record_next(statement, "match", "t", error)) == SQL_STEP_ROW)
		add_seqs(statement, seqs);
	return step == SQL_STEP_DONE ? g_steal_pointer(&seqs) : NULL;
}

/* Report the papers of some filters. */
static bool
load_some(struct store *store, const int64_t *ids, unsigned count,
    matches_found_papers found, void *data, GError **error)
{
	static const char sql[] =
	    SQL_WITH_LIST("SELECT papers, filter_id FROM match WHERE filter_id IN (",
	        "?", "?", ") ORDER BY filter_id");
	struct sql_value values[SQL_LIST_MAX + 1] = {0};
	g_autoptr(GHashTable) by_filter = g_hash_table_new_full(
	    g_int64_hash, g_int64_equal, NULL, (GDestroyNotify)g_array_unref);
	sql_auto *statement = NULL;
	enum sql_step step = SQL_STEP_FAILED;
	bool is_ok;

	for (unsigned i = 0; i < count; i++)
		g_hash_table_insert(by_filter, (gpointer)&ids[i],
		    g_array_new(FALSE, FALSE, sizeof(int64_t)));
	sql_fill_list(values, ids, count);
	statement = sql_bind_values(store, sql, values, error);
	while (statement &&
	       (step = record_next(statement, "match", "ti", error)) == SQL_STEP_ROW) {
		int64_t id = sql_get_int(statement, 1);

		add_seqs(statement, g_hash_table_lookup(by_filter, &id));
	}
	is_ok = step == SQL_STEP_DONE;
	for (unsigned i = 0; is_ok && i < count; i++)
		is_ok =
		    found(data, ids[i], g_hash_table_lookup(by_filter, &ids[i]), error);
	return is_ok;
}

bool
matches_load_each(struct store *store, const GArray *filters,
    matches_found_papers found, void *data, GError **error)
{
	bool is_ok = true;

	for (unsigned i = 0; is_ok && i < filters->len; i += SQL_LIST_MAX)
		is_ok = load_some(store, &g_array_index(filters, int64_t, i),
		    MIN(filters->len - i, SQL_LIST_MAX), found, data, error);
	return is_ok;
}

GArray *
matches_load_decided(struct store *store, int64_t filter_id, GError **error)
{
	static const char sql[] =
	    "SELECT papers, decided_at FROM match WHERE filter_id = ?1";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(filter_id));
	g_autoptr(GArray) matches =
	    g_array_new(FALSE, FALSE, sizeof(struct decided_match));
	g_autoptr(GArray) seqs = g_array_new(FALSE, FALSE, sizeof(int64_t));
	enum sql_step step = SQL_STEP_FAILED;

	while (statement &&
	       (step = record_next(statement, "match", "tn", error)) == SQL_STEP_ROW) {
		g_array_set_size(seqs, 0);
		add_seqs(statement, seqs);
		for (unsigned i = 0; i < seqs->len; i++)
			g_array_append_val(matches,
			    ((struct decided_match){g_array_index(seqs, int64_t, i),
			        sql_get_int(statement, 1)}));
	}
	return step == SQL_STEP_DONE ? g_steal_pointer(&matches) : NULL;
}

/* The newest first. */
static int
compare_papers(const void *a, const void *b)
{
	const struct matches_paper *one = *(void *const *)a, *other = *(void *const *)b;
	int by_day = strcmp(other->day, one->day);

	return by_day ? by_day : strcmp(other->id, one->id);
}

GPtrArray *
matches_load_papers(
    struct store *store, int64_t filter_id, const char *oldest_day, GError **error)
{
	RECORD_LAYOUT(layout, matches_paper, "paper", "tttd", (), id, title, url, day);
	static const char sql[] = "SELECT id, title, url, last_day FROM paper"
	                          " WHERE last_day >= ? AND seq IN (" SQL_LIST("?") ")";
	g_autoptr(GArray) seqs = matches_load_seqs(store, filter_id, error);
	g_autoptr(GPtrArray) papers = g_ptr_array_new_with_free_func(g_free);

	for (unsigned i = 0; seqs && i < seqs->len; i += SQL_LIST_MAX) {
		struct sql_value values[SQL_LIST_MAX + 2] = {SQL_TEXT(oldest_day)};
		GPtrArray *some;

		sql_fill_list(
		    &values[1], &g_array_index(seqs, int64_t, i), seqs->len - i);
		some = record_load_all_values(store, sql, values, &layout, error);
		if (!some)
			return NULL;
		g_ptr_array_extend_and_steal(papers, some);
	}
	g_ptr_array_sort(papers, compare_papers);
	return seqs ? g_steal_pointer(&papers) : NULL;
}

bool
matches_has_filter_at(
    struct store *store, int64_t filter_id, int64_t at, bool *has, GError **error)
{
	static const char sql[] =
	    "SELECT EXISTS (SELECT 1 FROM filter WHERE id = ?1 AND created_at <= ?2)";

	return sql_has(store, sql, has, error, SQL_INT(filter_id), SQL_INT(at));
}

bool
matches_prune(
    struct store *store, int64_t before, int64_t after, int64_t through, GError **error)
{
	static const char sql_found[] =
	    "DELETE FROM match WHERE filter_id > ?1 AND filter_id <= ?2"
	    " AND decided_at < ?3";
	static const char sql_pending[] =
	    "DELETE FROM match_pending WHERE filter_id > ?1 AND filter_id <= ?2"
	    " AND decided_at < ?3";

	return sql_exec(store, sql_found, error, SQL_INT(after), SQL_INT(through),
	           SQL_INT(before)) &&
	       sql_exec(store, sql_pending, error, SQL_INT(after), SQL_INT(through),
	           SQL_INT(before));
}
