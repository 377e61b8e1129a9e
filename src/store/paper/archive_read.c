/*
 * archive_read.c - papers by their words, and words by what they look like.
 */
#include <string.h>

#include "store/core/sql.h"
#include "store/paper/archive.h"
#include "store/paper/paper_row.h"

/* A word longer than this is no misspelt one. */
#define NEAR_CHARS 40

void
archive_acronym_free(struct archive_acronym *form)
{
	if (!form)
		return;
	g_free(form->shown);
	g_free(form);
}

static sqlite3_stmt *
start_scan(struct store *store, const struct archive_scan *scan, GError **error)
{
	static const char sql_all[] = "SELECT " PAPER_ROW_COLUMNS " FROM paper"
	                              " WHERE last_day >= ?1"
	                              " ORDER BY last_day DESC, revision DESC LIMIT ?2";
	/* CROSS keeps FTS5 in front; an old paper's place ends its walk through it. */
	static const char sql_match[] =
	    "SELECT " PAPER_ROW_COLUMNS " FROM paper_fts CROSS JOIN paper"
	    " ON paper.seq = paper_fts.rowid WHERE paper_fts MATCH ?3"
	    " AND paper_fts.rowid >="
	    "  coalesce((SELECT min(seq) FROM paper WHERE last_day >= ?1), 0)"
	    " AND paper.last_day >= ?1 ORDER BY paper_fts.rowid DESC LIMIT ?2";
	const char *day = scan->oldest_day ? scan->oldest_day : "";

	if (!scan->match)
		return sql_bind(store, sql_all, error, SQL_TEXT(day),
		    SQL_INT((int64_t)scan->most + 1));
	return sql_bind(store, sql_match, error, SQL_TEXT(day),
	    SQL_INT((int64_t)scan->most + 1), SQL_TEXT(scan->match));
}

bool
archive_scan(struct store *store, const struct archive_scan *scan, archive_found found,
    void *data, bool *is_cut, GError **error)
{
	sql_auto *statement = start_scan(store, scan, error);
	enum sql_step step = SQL_STEP_DONE;
	unsigned seen = 0;

	if (!statement)
		return false;
	while ((step = paper_row_step(statement, error)) == SQL_STEP_ROW &&
	       seen++ < scan->most) {
		pb_auto(stored_paper) stored = paper_row_load(statement);

		if (!found(data, stored, error))
			return false;
	}
	if (step == SQL_STEP_FAILED)
		return false;
	*is_cut = step == SQL_STEP_ROW;
	return true;
}

GPtrArray *
archive_load_class(struct store *store, const char *folded, GError **error)
{
	static const char sql[] = "SELECT text FROM vocabulary WHERE folded = ?1";

	return sql_load_texts(store, sql, error, SQL_TEXT(folded));
}

bool
archive_count_class(
    struct store *store, const char *folded, int64_t *papers, GError **error)
{
	static const char sql[] =
	    "SELECT coalesce(sum(papers), 0) FROM vocabulary WHERE folded = ?1";

	return sql_number(store, sql, papers, error, SQL_TEXT(folded));
}

bool
archive_count_papers(
    struct store *store, const char *folded, int64_t *papers, GError **error)
{
	/* A word is letters and digits only: between quotation marks it is a string. */
	static const char sql[] =
	    "SELECT count(*) FROM paper_fts WHERE paper_fts MATCH"
	    " (SELECT '{title abstract} : (\"' || group_concat(text, '\" OR \"') ||"
	    "  '\")' FROM vocabulary WHERE folded = ?1)";
	int64_t known;

	if (!archive_count_class(store, folded, &known, error))
		return false;
	if (!known) {
		*papers = 0;
		return true;
	}
	return sql_number(store, sql, papers, error, SQL_TEXT(folded));
}

bool
archive_count_prefix(
    struct store *store, const char *prefix, int64_t *papers, GError **error)
{
	static const char sql[] = "SELECT coalesce(sum(papers), 0) FROM vocabulary"
	                          " WHERE text >= ?1 AND text < ?1 || char(1114111)";

	return sql_number(store, sql, papers, error, SQL_TEXT(prefix));
}

/*
 * How many letters are wrong, missing, too many or swapped with the next one
 * (Damerau's distance, without editing a swapped pair again).
 */
static unsigned
measure(const gunichar *a, long a_len, const gunichar *b, long b_len)
{
	unsigned rows[3][NEAR_CHARS + 3];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2];

	for (long j = 0; j <= b_len; j++)
		last[j] = (unsigned)j;
	for (long i = 1; i <= a_len; i++) {
		unsigned *oldest = before;

		row[0] = (unsigned)i;
		for (long j = 1; j <= b_len; j++) {
			bool is_same = a[i - 1] == b[j - 1];

			row[j] = MIN(last[j] + 1, row[j - 1] + 1);
			row[j] = MIN(row[j], last[j - 1] + !is_same);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				row[j] = MIN(row[j], before[j - 2] + 1);
		}
		before = last;
		last = row;
		row = oldest;
	}
	return last[b_len];
}

bool
archive_find_nearest(
    struct store *store, const char *folded, char **word, GError **error)
{
	static const char sql[] =
	    "SELECT text, papers FROM vocabulary WHERE length(text) BETWEEN ?1 AND ?2";
	long chars = g_utf8_strlen(folded, -1);
	unsigned best = chars < 4 ? 0 : chars < 6 ? 2 : 3; /* to be under */
	g_autofree gunichar *wanted = NULL;
	g_autofree char *nearest = NULL;
	int64_t most = 0;
	sql_auto *statement = NULL;
	enum sql_step step;

	*word = NULL;
	if (!best || chars > NEAR_CHARS)
		return true;
	wanted = g_utf8_to_ucs4_fast(folded, -1, NULL);
	statement = sql_bind(
	    store, sql, error, SQL_INT(chars - best + 1), SQL_INT(chars + best - 1));
	if (!statement)
		return false;
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW) {
		const char *text = (const char *)sqlite3_column_text(statement, 0);
		int64_t papers = sql_get_int(statement, 1);
		long len;
		g_autofree gunichar *other = g_utf8_to_ucs4_fast(text, -1, &len);
		unsigned distance = measure(wanted, chars, other, len);

		if (distance > best || (distance == best && papers <= most) ||
		    (distance == best && !nearest))
			continue;
		best = distance;
		most = papers;
		g_free(nearest);
		nearest = g_strdup(text);
	}
	if (step != SQL_STEP_DONE)
		return false;
	*word = g_steal_pointer(&nearest);
	return true;
}

GPtrArray *
archive_load_acronyms(
    struct store *store, const char *folded_short, unsigned limit, GError **error)
{
	static const char sql[] = "SELECT shown, papers FROM acronym WHERE short = ?1"
	                          " ORDER BY papers DESC, long LIMIT ?2";
	sql_auto *statement =
	    sql_bind(store, sql, error, SQL_TEXT(folded_short), SQL_INT(limit));
	g_autoptr(GPtrArray) forms =
	    g_ptr_array_new_with_free_func((GDestroyNotify)archive_acronym_free);
	enum sql_step step;

	if (!statement)
		return NULL;
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW) {
		struct archive_acronym *form = g_new0(struct archive_acronym, 1);

		form->shown = sql_dup_text(statement, 0);
		form->papers = sql_get_int(statement, 1);
		g_ptr_array_add(forms, form);
	}
	return step == SQL_STEP_DONE ? g_steal_pointer(&forms) : NULL;
}
