/*
 * papers.c - papers, their listings, and the fetches of the sources.
 */
#include "store/paper/papers.h"

#include <string.h>

#include "base/error.h"
#include "store/core/record.h"
#include "store/paper/paper_row.h"

const char *
source_fetch_status_name(enum source_fetch_status status)
{
	return record_get_word(ENUMERATION_SOURCE_FETCH_STATUS, status);
}

GPtrArray *
papers_load_awaited(struct store *store, enum paper_lookup lookup, int64_t seen_after,
    unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT " PAPER_ROW_COLUMNS " FROM paper WHERE awaited <> 0"
	    " AND (awaited & ?1) <> 0 AND first_seen_at > ?2"
	    " ORDER BY first_seen_at DESC, seq DESC LIMIT ?3";
	sql_auto *statement = sql_bind(
	    store, sql, error, SQL_INT(lookup), SQL_INT(seen_after), SQL_INT(limit));

	return paper_row_load_all(store, statement, error);
}

bool
papers_delay_lookup(struct store *store, enum paper_lookup lookup, int64_t until,
    int64_t now, GError **error)
{
	/* Those that still wait. */
	static const char sql[] =
	    "UPDATE paper SET delayed_until = CASE WHEN first_seen_at + ?4 < ?2"
	    "  THEN first_seen_at + ?4 ELSE ?2 END"
	    " WHERE awaited <> 0 AND (awaited & ?1) <> 0 AND first_seen_at + ?4 > ?3"
	    " AND (first_seen_at + ?5 > ?3 OR delayed_until > ?3)"
	    " AND first_seen_at + ?5 < ?2 AND delayed_until < ?2";

	return sql_exec(store, sql, error, SQL_INT(lookup), SQL_INT(until),
	    SQL_INT(now), SQL_INT(PAPERS_LOOKUP_MAX_S), SQL_INT(PAPERS_LOOKUP_S));
}

bool
papers_load_etag(struct store *store, const char *source, const char *day, char **etag,
    GError **error)
{
	static const char sql[] =
	    "SELECT etag FROM source_fetch WHERE source = ?1 AND day = ?2"
	    " AND status = 'ok' ORDER BY id DESC LIMIT 1";

	return sql_find_text(store, sql, etag, error, SQL_TEXT(source), SQL_TEXT(day));
}

bool
papers_load_last_etag(
    struct store *store, const char *source, char **etag, char day[11], GError **error)
{
	/* Later failures do not matter; a later list without an ETag does. */
	static const char sql[] =
	    "SELECT etag, day FROM source_fetch WHERE id = (SELECT max(id) FROM "
	    "source_fetch"
	    " WHERE source = ?1 AND status IN ('ok', 'empty', 'stale'))";
	sql_auto *statement = sql_bind(store, sql, error, SQL_TEXT(source));
	enum sql_step step;

	if (!statement)
		return false;
	step = record_next(statement, "source_fetch", "Td", error);
	if (step == SQL_STEP_FAILED)
		return false;
	*etag = step == SQL_STEP_ROW ? sql_dup_text(statement, 0) : NULL;
	if (*etag)
		g_strlcpy(day, sql_get_text(statement, 1), 11);
	return true;
}

bool
papers_has_ids(struct store *store, const char *source, const char *ids_hash,
    const char *day, bool *is_known, GError **error)
{
	/* Only the last list of another day: an older one may recur by chance. */
	static const char sql[] =
	    "SELECT coalesce((SELECT ids_hash FROM source_fetch WHERE source = ?1"
	    " AND day < ?3 AND status = 'ok' ORDER BY day DESC, id DESC LIMIT 1), '')"
	    " = ?2";

	return sql_has(store, sql, is_known, error, SQL_TEXT(source),
	    SQL_TEXT(ids_hash), SQL_TEXT(day));
}

/* @param days  day -> number of papers of the listings that were listed on it */
static bool
count_listed(struct store *store, const char *source, const char *day,
    const gpointer *listings, unsigned count, GHashTable *days, GError **error)
{
	/* Without CROSS JOIN, SQLite would start with all listings of the source. */
	static const char sql[] =
	    "SELECT l.day, count(*) FROM paper p CROSS JOIN listing l"
	    " WHERE p.id IN (" SQL_LIST(
	        "?") ") AND l.paper_seq = p.seq"
	             " AND l.source = ? AND l.day < ? GROUP BY l.day";
	struct sql_value values[SQL_LIST_MAX + 3] = {0};
	sql_auto *row = NULL;
	enum sql_step step = SQL_STEP_FAILED;

	for (unsigned i = 0; i < SQL_LIST_MAX; i++)
		values[i] =
		    i < count
		        ? SQL_TEXT(((const struct listing *)listings[i])->paper->id)
		        : SQL_NULL;
	values[SQL_LIST_MAX] = SQL_TEXT(source);
	values[SQL_LIST_MAX + 1] = SQL_TEXT(day);
	row = sql_bind_values(store, sql, values, error);
	while (
	    row && (step = record_next(row, "listing", "dn", error)) == SQL_STEP_ROW) {
		char *listed = sql_dup_text(row, 0);
		unsigned papers = GPOINTER_TO_UINT(g_hash_table_lookup(days, listed));

		papers += (unsigned)sql_get_int(row, 1);
		g_hash_table_replace(days, listed, GUINT_TO_POINTER(papers));
	}
	return step == SQL_STEP_DONE;
}

bool
papers_is_copied(struct store *store, const char *source, const char *day,
    const GPtrArray *listings, bool *is_copied, GError **error)
{
	g_autoptr(GHashTable) days =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	GHashTableIter iter;
	gpointer count;
	unsigned most = 0;

	for (unsigned i = 0; i < listings->len; i += SQL_LIST_MAX)
		if (!count_listed(store, source, day, &listings->pdata[i],
		        listings->len - i, days, error))
			return false;
	g_hash_table_iter_init(&iter, days);
	while (g_hash_table_iter_next(&iter, NULL, &count))
		most = MAX(most, GPOINTER_TO_UINT(count));
	*is_copied = most >= 2 && 2 * most > listings->len;
	return true;
}

bool
papers_load_etag_time(
    struct store *store, const char *source, int64_t *at, GError **error)
{
	static const char sql[] =
	    "SELECT max(fetched_at) FROM source_fetch WHERE source = ?1"
	    " AND etag IS NOT NULL";

	return sql_number(store, sql, at, error, SQL_TEXT(source));
}

bool
papers_load_newest_revision(struct store *store, int64_t *revision, GError **error)
{
	static const char sql[] = "SELECT coalesce(max(revision), 0) FROM paper";

	return sql_number(store, sql, revision, error);
}

int
listed_paper_compare(const struct listed_paper *one, const struct listed_paper *other)
{
	int64_t votes = MAX(one->upvotes, 0), others = MAX(other->upvotes, 0);
	int later;

	if (votes != others)
		return votes > others ? -1 : 1;
	later = strcmp(other->day, one->day);
	return later ? later : strcmp(one->id, other->id);
}

bool
papers_find_listed(
    struct store *store, int64_t seq, struct listed_paper **paper, GError **error)
{
	static const char sql[] =
	    "SELECT seq, id, last_day, upvotes, replacement, coalesce(work, 0)"
	    " FROM paper WHERE seq = ?1";
	RECORD_LAYOUT(layout, listed_paper, "paper", "itdNnn", (), seq, id, day,
	    upvotes, replacement, work);

	return record_find(store, sql, &layout, paper, error, SQL_INT(seq));
}

bool
papers_load_changes(struct store *store, int64_t *changes, GError **error)
{
	return store_load_cursor(store, PAPERS_CHANGES, 0, changes, error);
}

bool
papers_load_revision_before(
    struct store *store, const char *day, int64_t *revision, GError **error)
{
	/* The "+" prevents SQLite from scanning all older papers by revision. */
	static const char sql[] = "SELECT coalesce((SELECT min(+revision) - 1 FROM "
	                          "paper WHERE last_day >= ?1),"
	                          " (SELECT max(revision) FROM paper), 0)";

	return sql_number(store, sql, revision, error, SQL_TEXT(day));
}

GPtrArray *
papers_load_revisions(struct store *store, int64_t after, int64_t through,
    const char *oldest_day, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT " PAPER_ROW_COLUMNS " FROM paper"
	    " WHERE revision > ?1 AND revision <= ?2 AND last_day >= ?3"
	    " ORDER BY revision LIMIT ?4";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(after),
	    SQL_INT(through), SQL_TEXT(oldest_day), SQL_INT(limit));

	return paper_row_load_all(store, statement, error);
}

bool
papers_find_changed(struct store *store, int64_t *seq, GError **error)
{
	static const char sql[] =
	    "SELECT coalesce((SELECT seq FROM paper WHERE is_changed = 1"
	    " ORDER BY seq LIMIT 1), 0)";

	return sql_number(store, sql, seq, error);
}

bool
papers_clear_changed(struct store *store, int64_t seq, GError **error)
{
	static const char sql[] = "UPDATE paper SET is_changed = 0 WHERE seq = ?1";

	return sql_exec(store, sql, error, SQL_INT(seq));
}

struct stored_paper *
papers_load(struct store *store, int64_t seq, GError **error)
{
	static const char sql[] =
	    "SELECT " PAPER_ROW_COLUMNS " FROM paper WHERE seq = ?1";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(seq));
	struct stored_paper *stored = NULL;

	if (paper_row_find(store, statement, &stored, error) && !stored)
		pb_fail(error, PB_ERROR_NOT_FOUND, "no such paper");
	return stored;
}

bool
papers_find(
    struct store *store, const char *id, struct stored_paper **stored, GError **error)
{
	static const char sql[] =
	    "SELECT " PAPER_ROW_COLUMNS " FROM paper WHERE seq ="
	    /* An id is of the row that has it, even if it is an alias of another. */
	    " coalesce((SELECT p.seq FROM paper p WHERE p.id = ?1),"
	    "  (SELECT paper_seq FROM paper_alias WHERE name = ?1))";
	sql_auto *statement = sql_bind(store, sql, error, SQL_TEXT(id));

	return paper_row_find(store, statement, stored, error);
}

bool
papers_find_id(struct store *store, int64_t seq, char **id, GError **error)
{
	static const char sql[] = "SELECT id FROM paper WHERE seq = ?1";

	return sql_find_text(store, sql, id, error, SQL_INT(seq));
}

struct stored_paper *
papers_load_id(struct store *store, const char *id, GError **error)
{
	pb_auto(stored_paper) stored = NULL;

	if (papers_find(store, id, &stored, error) && !stored)
		pb_fail(error, PB_ERROR_NOT_FOUND,
		    "no source has listed a paper '%s' yet", id);
	return g_steal_pointer(&stored);
}

/* Maximum age of a failure that is reported, at the last fetch of its source, s:
 * somewhat more than a day, since old days are fetched once a day. */
#define FAILURES_S "100000"

/* Number of the newest papers, by seq, that show whether the sources report a field. */
#define NEWEST_PAPERS "20000"

/* No later success ends the failure f.  The "||" makes SQLite read later rows only. */
#define STILL_FAILING                                                             \
	"NOT EXISTS (SELECT 1 FROM source_fetch later WHERE later.source || '' =" \
	" f.source AND (later.day = f.day OR f.is_of_day = 0)"                    \
	" AND later.id > f.id AND later.status <> 'failed')"

GPtrArray *
papers_load_reports(struct store *store, GError **error)
{
	static const char sql[] =
	    "WITH last AS (SELECT source, max(id) AS id FROM source_fetch GROUP BY "
	    "source)"
	    " SELECT b.id, b.source, b.day, b.status,"
	    /* Recent fetches: a day that failed and has not succeeded since. */
	    " (SELECT f.day || ': ' || f.error FROM source_fetch f WHERE f.source = "
	    "b.source"
	    "  AND f.fetched_at > b.fetched_at - " FAILURES_S " AND f.status = 'failed'"
	    "  AND " STILL_FAILING "  ORDER BY f.id DESC LIMIT 1), b.fetched_at,"
	    /* If several days are fetched at once, none may have failed. */
	    " (SELECT g.fetched_at FROM source_fetch g WHERE g.source = b.source"
	    "  AND g.status NOT IN ('failed', 'stale')"
	    "  AND NOT EXISTS (SELECT 1 FROM source_fetch f WHERE f.source = g.source"
	    "   AND f.fetched_at = g.fetched_at AND f.status = 'failed'"
	    "   AND " STILL_FAILING ")"
	    "  ORDER BY g.fetched_at DESC LIMIT 1),"
	    " (SELECT max(day) FROM listing l WHERE l.source = b.source),"
	    " (SELECT count(*) FROM listing l WHERE l.source = b.source AND l.day ="
	    "  (SELECT max(day) FROM listing m WHERE m.source = b.source))"
	    " FROM last JOIN source_fetch b ON b.id = last.id ORDER BY b.source";
	RECORD_LAYOUT(layout, source_report, "source_fetch", "itdwTnNDn",
	    (ENUMERATION_SOURCE_FETCH_STATUS), fetch_id, source, day, status, error,
	    fetched_at, good_at, papers_day, papers);

	return record_load_all(store, sql, &layout, error);
}

GPtrArray *
papers_load_services(struct store *store, GError **error)
{
	/*
	 * Skip scan: seeks from name to name in the index instead of reading all
	 * fetches.
	 */
	static const char sql[] =
	    "WITH RECURSIVE name (text) AS (SELECT min(source) FROM source_fetch UNION "
	    "ALL"
	    " SELECT (SELECT min(source) FROM source_fetch WHERE source > text)"
	    " FROM name WHERE text IS NOT NULL)"
	    " SELECT DISTINCT substr(text, 1, length(text) -"
	    "  length(ltrim(text, replace(text, '/', '')))) FROM name"
	    " WHERE text IS NOT NULL ORDER BY 1";

	return sql_load_texts(store, sql, error);
}

bool
papers_has_categories(struct store *store, bool *has, GError **error)
{
	static const char sql[] =
	    "SELECT EXISTS (SELECT 1 FROM paper"
	    " WHERE seq > (SELECT max(seq) - " NEWEST_PAPERS " FROM paper)"
	    " AND categories IS NOT NULL AND categories <> '')";

	return sql_has(store, sql, has, error);
}

/* 1 if one of the newest papers has the column, or there are no papers. */
#define SQL_HAS_COLUMN(column)                                                   \
	"SELECT NOT EXISTS (SELECT 1 FROM paper) OR EXISTS (SELECT 1 FROM paper" \
	" WHERE seq > (SELECT max(seq) - " NEWEST_PAPERS " FROM paper)"          \
	" AND " column " IS NOT NULL)"

bool
papers_has_field(struct store *store, const char *name, bool *has, GError **error)
{
	static const struct {
		const char *name;
		const char *sql;
	} fields[] = {
	    {"upvotes", SQL_HAS_COLUMN("upvotes")},
	    {"comments", SQL_HAS_COLUMN("comments")},
	    {"stars", SQL_HAS_COLUMN("stars")},
	    {"org", SQL_HAS_COLUMN("organization")},
	    {"kw", SQL_HAS_COLUMN("keywords")},
	    {"code", SQL_HAS_COLUMN("code_url")},
	    {"project", SQL_HAS_COLUMN("project_url")},
	    {"video", SQL_HAS_COLUMN("video_url")},
	};
	int64_t found = 1;

	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
		if (strcmp(fields[i].name, name) == 0 &&
		    !sql_number(store, fields[i].sql, &found, error))
			return false;
	*has = found == 1;
	return true;
}

GPtrArray *
papers_load_texts(struct store *store, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT seq, title, abstract FROM paper ORDER BY seq DESC LIMIT ?1";
	RECORD_LAYOUT(layout, paper_text, "paper", "itt", (), seq, title, abstract);

	return record_load_all(store, sql, &layout, error, SQL_INT(limit));
}
