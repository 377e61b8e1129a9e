/*
 * archive_cache.c - a machine's own copy of the papers, with their index.
 */
#include "store/paper/archive_cache.h"

#include <sqlite3.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "store/core/sql.h"
#include "store/paper/archive.h"
#include "store/paper/papers.h"

/* Number of changes copied in one transaction; a string, to be part of a statement. */
#define BATCH "100"

/* Names of cursors in the copy: the database, and the number of its last change that
 * was copied. */
#define SEEN_DATABASE "cache database"
#define SEEN_CHANGES  "cache changes"

/* ---- copying ---- */

#define VALUES                                                                    \
	"title, abstract, authors, id, summary, url, code_url, project_url,"      \
	" video_url, organization, keywords, categories, comment, journal, doi,"  \
	" pmid, pmcid, mesh, published_at, upvotes, upvotes_day, upvotes_before," \
	" comments, stars, source_rank, fetched_at, first_seen_at, last_day,"     \
	" replacement, revision, is_revised, looked_up, awaited, delayed_until,"  \
	" work"
#define VALUE_PARAMETERS                                                               \
	"?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18," \
	" ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33,"  \
	" ?34, ?35, ?36"
/* Positions of seq and VALUES, and their number. */
#define COLUMN_TITLE      1
#define COLUMN_ABSTRACT   2
#define COLUMN_ID         4
#define COLUMN_REVISION   30
#define N_PAPER_COLUMNS   36
#define LISTING_COLUMNS   "source, day, paper_seq, type, version, upvotes, first_seen_at"
#define N_LISTING_COLUMNS 7

/* Values of a row, until its next step. */
static void
read_values(struct sql_statement *row, struct sql_value *values, int count)
{
	for (int i = 0; i < count; i++)
		values[i] = sql_get_value(row, i);
	values[count] = (struct sql_value){0};
}

/* @param values  of seq and VALUES; the title is NULL if the paper is gone */
static bool
write_paper(struct store *cache, const struct sql_value *values, GError **error)
{
	/* Another paper that had the id or the revision has changed since: its row is
	 * copied later. */
	static const char sql_displace[] =
	    "UPDATE paper SET id = 'displaced ' || seq, revision = -seq"
	    " WHERE (id = ?2 OR revision = ?3) AND seq <> ?1";
	static const char sql_delete[] = "DELETE FROM paper WHERE seq = ?1";
	static const char sql[] =
	    "INSERT INTO paper (seq, " VALUES ") VALUES (?1, " VALUE_PARAMETERS ")"
	    " ON CONFLICT (seq) DO UPDATE SET (" VALUES ") = (" VALUE_PARAMETERS ")";

	if (values[COLUMN_TITLE].kind == SQL_KIND_NULL)
		return sql_exec(cache, sql_delete, error, values[0]);
	return sql_exec(cache, sql_displace, error, values[0], values[COLUMN_ID],
	           values[COLUMN_REVISION]) &&
	       sql_exec_values(cache, sql, values, error);
}

static bool
copy_paper(struct store *cache, struct sql_statement *row, GError **error)
{
	static const char sql_listings[] = "DELETE FROM listing WHERE paper_seq = ?1";
	struct sql_value values[N_PAPER_COLUMNS + 1];
	const struct paper fresh = {
	    .id = (char *)sql_get_text(row, COLUMN_ID),
	    .title = (char *)sql_get_text(row, COLUMN_TITLE),
	    .abstract = (char *)sql_get_text(row, COLUMN_ABSTRACT),
	};
	g_autofree struct archive_text *text = NULL;
	struct paper old;

	if (!archive_find_text(cache, sql_get_int(row, 0), &text, error))
		return false;
	if (text)
		old = (struct paper){
		    .id = (char *)text->id,
		    .title = (char *)text->title,
		    .abstract = (char *)text->abstract,
		};
	read_values(row, values, N_PAPER_COLUMNS);
	return write_paper(cache, values, error) &&
	       sql_exec(cache, sql_listings, error, values[0]) &&
	       archive_index(
	           cache, text ? &old : NULL, fresh.title ? &fresh : NULL, error);
}

/* @param through  in: the number after which to begin; out: the number of the last one
 */
static bool
copy_papers(struct store *from, struct store *cache, int64_t *through, GError **error)
{
	static const char sql[] =
	    "SELECT paper_seq, " VALUES ", number FROM paper_change"
	    " LEFT JOIN paper ON seq = paper_seq WHERE number > ?1"
	    " ORDER BY number LIMIT " BATCH;
	sql_auto *statement = sql_bind(from, sql, error, SQL_INT(*through));
	enum sql_step step = SQL_STEP_FAILED;

	while (statement && (step = sql_step(statement, error)) == SQL_STEP_ROW) {
		*through = sql_get_int(statement, N_PAPER_COLUMNS);
		if (!copy_paper(cache, statement, error))
			return false;
	}
	return step == SQL_STEP_DONE;
}

static bool
copy_listings(struct store *from, struct store *cache, int64_t after, int64_t through,
    GError **error)
{
	static const char sql_read[] =
	    "SELECT " LISTING_COLUMNS " FROM paper_change"
	    " JOIN listing USING (paper_seq) WHERE number > ?1 AND number <= ?2";
	static const char sql[] = "INSERT INTO listing (" LISTING_COLUMNS ")"
	                          " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
	sql_auto *statement =
	    sql_bind(from, sql_read, error, SQL_INT(after), SQL_INT(through));
	enum sql_step step = SQL_STEP_FAILED;

	while (statement && (step = sql_step(statement, error)) == SQL_STEP_ROW) {
		struct sql_value values[N_LISTING_COLUMNS + 1];

		read_values(statement, values, N_LISTING_COLUMNS);
		if (!sql_exec_values(cache, sql, values, error))
			return false;
	}
	return step == SQL_STEP_DONE;
}

struct copying {
	struct store *from;
	bool is_end; /* set when all changes are copied */
};

/* Another process may have copied batches meanwhile: the copy says which is the next.
 */
static bool
copy_batch(struct store *cache, void *data, GError **error)
{
	struct copying *copying = data;
	struct store *from = copying->from;
	pb_snapshot snapshot = {0};
	int64_t after, through;

	if (!store_load_cursor(cache, SEEN_CHANGES, 0, &after, error) ||
	    !store_begin_reading(from, &snapshot, error))
		return false;
	through = after;
	if (!copy_papers(from, cache, &through, error) ||
	    !copy_listings(from, cache, after, through, error))
		return false;
	copying->is_end = through == after;
	return copying->is_end ||
	       store_save_cursor(cache, SEEN_CHANGES, through, error);
}

/* @param is_changed  set, whether there were changes */
static bool
copy_changes(struct store *from, struct store *cache, bool *is_changed, GError **error)
{
	struct copying copying = {.from = from};

	for (*is_changed = false;; *is_changed = true) {
		if (store_is_stopped(from))
			return pb_fail(error, PB_ERROR_STOPPED, "stopped");
		if (!store_transact(cache, copy_batch, &copying, error))
			return false;
		if (copying.is_end)
			return true;
		/* Show that the thread is alive, as after a commit. */
		if (from->hook)
			from->hook(from->hook_data);
	}
}

bool
archive_cache_compare(
    struct store *from, struct store *cache, bool *is_same, GError **error)
{
	static const char sql[] = "SELECT (SELECT count(*) FROM paper),"
	                          " (SELECT count(*) FROM listing)";
	pb_snapshot there = {0}, here = {0};
	g_autoptr(GArray) wanted = NULL, found = NULL;
	int64_t changes, seen;

	if (!store_begin_reading(from, &there, error) ||
	    !store_begin_reading(cache, &here, error) ||
	    !papers_load_changes(from, &changes, error) ||
	    !store_load_cursor(cache, SEEN_CHANGES, 0, &seen, error) ||
	    !(wanted = sql_load_numbers(from, sql, error)) ||
	    !(found = sql_load_numbers(cache, sql, error)))
		return false;
	/* Later changes are copied next time. */
	*is_same = changes != seen ||
	           memcmp(wanted->data, found->data, 2 * sizeof(int64_t)) == 0;
	return true;
}

/* ---- the file ---- */

static struct store *
open_file(const char *path, GError **error)
{
	/* Papers are deleted as in the database; paper_moved is not copied. */
	static const char sql_trigger[] =
	    "DROP TRIGGER IF EXISTS paper_deleted_unmerged";
	/* A paper is deleted before its listings. */
	static const char sql_keys[] = "PRAGMA foreign_keys = OFF";
	pb_auto(store) cache = store_open(path, error);

	if (!cache || !sql_exec(cache, sql_trigger, error) ||
	    !sql_exec(cache, sql_keys, error))
		return NULL;
	store_defer_sync(cache);
	return g_steal_pointer(&cache);
}

/* @return a new file in place of one that cannot be used */
static struct store *
open_or_replace(const char *path, GError **error)
{
	g_autoptr(GError) problem = NULL;
	struct store *cache = open_file(path, &problem);

	if (cache)
		return cache;
	if (!g_error_matches(problem, PB_ERROR, PB_ERROR_PERMANENT)) {
		pb_error_forward(error, &problem);
		return NULL;
	}
	file_remove_database(path);
	return open_file(path, error);
}

bool
archive_cache_open(struct store *store, const char *path, GError **error)
{
	store->archive = open_or_replace(path, error);
	return store->archive != NULL;
}

static bool
is_damaged(struct store *cache)
{
	static const char sql[] = "PRAGMA quick_check(1)";
	g_autofree char *result = NULL;

	return !sql_find_text(cache, sql, &result, NULL) ||
	       g_strcmp0(result, "ok") != 0;
}

/* Make a damaged copy again.  Others may still use its tokenizer. */
static bool
replace(struct store *store, GError **error)
{
	struct store *old = store->archive;
	const char *path = sqlite3_db_filename(old->db, "main");

	file_remove_database(path);
	if (!archive_cache_open(store, path, error)) {
		store->archive = old;
		return false;
	}
	store->archive->damaged = old;
	return true;
}

/* ---- another database ---- */

/* Load a number of the database: a server that was replaced or restored has another
 * history (store/core/history.h), and a restored dump another oid of a table. */
static bool
load_database(struct store *store, int64_t *database, GError **error)
{
	static const char sql[] =
	    "SELECT CAST(CAST(to_regclass('paper') AS oid) AS BIGINT)";

	*database = 0;
	if (store->postgresql && !sql_int64(store, sql, database, error))
		return false;
	*database += store->history;
	return true;
}

/* @param data  the number of the database, of which all papers are copied next */
static bool
empty(struct store *cache, void *data, GError **error)
{
	const int64_t *database = data;

	return sql_exec(cache, "DELETE FROM listing", error) &&
	       sql_exec(cache, "DELETE FROM paper", error) &&
	       archive_rebuild(cache, error) &&
	       store_save_cursor(cache, SEEN_CHANGES, 0, error) &&
	       store_save_cursor(cache, SEEN_DATABASE, *database, error);
}

static bool
refresh(struct store *store, GError **error)
{
	struct store *cache = store->archive;
	int64_t database, seen;
	bool is_changed, is_same = true;

	if (!load_database(store, &database, error) ||
	    !store_load_int64(cache, SEEN_DATABASE, -1, &seen, error) ||
	    (seen != database && !store_transact(cache, empty, &database, error)) ||
	    !copy_changes(store, cache, &is_changed, error) ||
	    (is_changed && !archive_cache_compare(store, cache, &is_same, error)))
		return false;
	return is_same || (store_transact(cache, empty, &database, error) &&
	                      copy_changes(store, cache, &is_changed, error));
}

struct store *
archive_cache_refresh(struct store *store, GError **error)
{
	g_autoptr(GError) problem = NULL;

	if (!store->archive || refresh(store, &problem))
		return store_get_archive(store);
	if (g_error_matches(problem, PB_ERROR, PB_ERROR_TEMPORARY) ||
	    g_error_matches(problem, PB_ERROR, PB_ERROR_STOPPED) ||
	    !is_damaged(store->archive))
		pb_error_forward(error, &problem);
	else if (replace(store, error) && refresh(store, error))
		return store->archive;
	return NULL;
}
