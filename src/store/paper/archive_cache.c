/*
 * archive_cache.c - a machine's own copy of the papers, with their index.
 */
#include "store/paper/archive_cache.h"

#include <glib/gstdio.h>
#include <sqlite3.h>

#include "base/error.h"
#include "store/core/sql.h"
#include "store/paper/archive.h"
#include "store/paper/paper_row.h"
#include "store/paper/papers.h"

/* Papers of a block, also in the statements. */
#define BLOCK_PAPERS 256
#define BLOCK        "256"

/* With more blocks to copy, the whole index is made again: faster than for each paper.
 */
#define BLOCKS_INDEXED 16

/* Names of cursors in the copy: the history, and the numbers of papers and of changes
 * of the database when they were compared, and whether the index has to be made again.
 */
#define SEEN_HISTORY "cache history"
#define SEEN_NEWEST  "cache newest"
#define SEEN_CHANGES "cache changes"
#define NO_INDEX     "cache without index"

/* ---- blocks ---- */

/* A block of papers and listings. Sums are weighted by the place in the block. */
struct block {
	int64_t number;
	int64_t papers, paper_sum;
	int64_t listings, listing_sum;
};

/* Texts that filters search change with the revision, votes mostly with the time of
 * fetching, and what arXiv reports later with the lengths. */
#define PAPER_SUM                                                                     \
	"(3 * revision + 5 * fetched_at + 7 * first_seen_at + replacement) % 1000003" \
	" + coalesce(upvotes, -1) % 1000003 + coalesce(comments, -1) % 1000003"       \
	" + coalesce(stars, -1) % 1000003 + 11 * coalesce(length(categories), -1)"    \
	" + 13 * coalesce(length(comment), -1) + 17 * coalesce(length(journal), -1)"  \
	" + 19 * coalesce(length(doi), -1) + 23 * coalesce(length(organization), -1)" \
	" + 29 * coalesce(length(keywords), -1) + 31 * length(url)"                   \
	" + 37 * coalesce(length(code_url), -1)"                                      \
	" + 41 * coalesce(length(project_url), -1)"                                   \
	" + 43 * coalesce(length(video_url), -1)"                                     \
	" + 47 * coalesce(length(summary), -1)"
#define LISTING_SUM                                                 \
	"length(type) + 3 * length(source) + coalesce(version, -1)" \
	" + coalesce(upvotes, -1) % 1000003 + first_seen_at % 1000003"

/* @param papers, listings  conditions */
#define BLOCKS(papers, listings)                                                   \
	"SELECT p.block, p.papers, p.total, coalesce(l.listings, 0),"              \
	" coalesce(l.total, 0) FROM"                                               \
	" (SELECT seq / " BLOCK " AS block, count(*) AS papers,"                   \
	"  CAST(sum((seq % " BLOCK " + 1) * (" PAPER_SUM ")) AS BIGINT) AS total"  \
	"  FROM paper " papers " GROUP BY seq / " BLOCK ") AS p"                   \
	" LEFT JOIN (SELECT paper_seq / " BLOCK " AS block, count(*) AS listings," \
	"  CAST(sum((paper_seq % " BLOCK " + 1) * (" LISTING_SUM ")) AS BIGINT)"   \
	"  AS total FROM listing " listings "  GROUP BY paper_seq / " BLOCK        \
	") AS l ON l.block = p.block"
#define PAPERS_OF_BLOCK   "WHERE seq >= ?1 AND seq < ?1 + " BLOCK
#define LISTINGS_OF_BLOCK "WHERE paper_seq >= ?1 AND paper_seq < ?1 + " BLOCK

/* @return of struct block, by number */
static GArray *
load_blocks(struct store *store, GError **error)
{
	static const char sql[] = BLOCKS("", "") " ORDER BY p.block";
	GArray *blocks = g_array_new(FALSE, FALSE, sizeof(struct block));
	GArray *numbers = sql_load_numbers(store, sql, error);

	if (!numbers) {
		g_array_unref(blocks);
		return NULL;
	}
	g_array_append_vals(blocks, numbers->data, numbers->len / 5);
	g_array_unref(numbers);
	return blocks;
}

static bool
is_same(const struct block *a, const struct block *b)
{
	return a->papers == b->papers && a->paper_sum == b->paper_sum &&
	       a->listings == b->listings && a->listing_sum == b->listing_sum;
}

/* @return of struct block in the database, without papers if it has none there */
static GArray *
find_different(struct store *from, struct store *cache, GError **error)
{
	g_autoptr(GArray) wanted = load_blocks(from, error);
	g_autoptr(GArray) found = wanted ? load_blocks(cache, error) : NULL;
	GArray *different;
	guint at = 0;

	if (!found)
		return NULL;
	different = g_array_new(FALSE, FALSE, sizeof(struct block));
	for (guint i = 0; i < wanted->len || at < found->len;) {
		const struct block *a =
		    i < wanted->len ? &g_array_index(wanted, struct block, i) : NULL;
		const struct block *b =
		    at < found->len ? &g_array_index(found, struct block, at) : NULL;
		struct block block = a && (!b || a->number <= b->number)
		                         ? *a
		                         : (struct block){.number = b->number};

		if (!a || !b || a->number != b->number || !is_same(a, b))
			g_array_append_val(different, block);
		i += a && a->number == block.number;
		at += b && b->number == block.number;
	}
	return different;
}

/* ---- copying ---- */

#define VALUES                                                                      \
	"title, abstract, authors, id, summary, url, code_url, project_url, "       \
	"video_url, organization, keywords,"                                        \
	" categories, comment, journal, doi, published_at, upvotes, upvotes_day,"   \
	" upvotes_before, comments, stars, source_rank, fetched_at, first_seen_at," \
	" last_day, replacement, revision, is_revised"
#define PAPER_COLUMNS "seq, " VALUES
#define VALUE_PARAMETERS                                                           \
	"?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, " \
	"?18, ?19, ?20, "                                                          \
	"?21,"                                                                     \
	" ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29"
/* Positions in PAPER_COLUMNS, and their number. */
#define COLUMN_TITLE      1
#define COLUMN_ABSTRACT   2
#define COLUMN_ID         4
#define COLUMN_REVISION   27
#define N_PAPER_COLUMNS   29
#define LISTING_COLUMNS   "source, day, paper_seq, type, version, upvotes, first_seen_at"
#define N_LISTING_COLUMNS 7

/* A block being copied. */
struct copying {
	struct store *from;
	struct block block; /* as last seen there */
	bool is_bulk;       /* the index is made again afterwards */
	GPtrArray *old;     /* of struct stored_paper *: not yet found there */
};

/* Values of a row, until its next step. */
static void
read_values(struct sql_statement *row, struct sql_value *values, int count)
{
	for (int i = 0; i < count; i++)
		values[i] = sql_get_value(row, i);
	values[count] = (struct sql_value){0};
}

/* A paper that has an id or a revision of this one is in a block that differs, too. */
static bool
displace(struct store *cache, const struct sql_value *values, GError **error)
{
	static const char sql_id[] = "UPDATE paper SET id = 'displaced ' || seq"
	                             " WHERE id = ?2 AND seq <> ?1";
	static const char sql_revision[] = "UPDATE paper SET revision = -seq"
	                                   " WHERE revision = ?2 AND seq <> ?1";

	return sql_exec(cache, sql_id, error, values[0], values[COLUMN_ID]) &&
	       sql_exec(cache, sql_revision, error, values[0], values[COLUMN_REVISION]);
}

static bool
write_paper(struct store *cache, const struct sql_value *values, GError **error)
{
	static const char sql[] = "INSERT INTO paper (" PAPER_COLUMNS ")"
	                          " VALUES (?1, " VALUE_PARAMETERS ")"
	                          " ON CONFLICT (seq) DO NOTHING";
	static const char sql_values[] =
	    "UPDATE paper SET (" VALUES ") = (" VALUE_PARAMETERS ") WHERE seq = ?1"
	    " AND (" VALUES ") IS NOT (" VALUE_PARAMETERS ")";

	return displace(cache, values, error) &&
	       sql_exec_values(cache, sql, values, error) &&
	       sql_exec_values(cache, sql_values, values, error);
}

/* Take the old row of a paper. @return NULL if there is none */
static struct stored_paper *
take_old(struct copying *copying, int64_t seq)
{
	for (guint i = 0; i < copying->old->len; i++)
		if (((struct stored_paper *)copying->old->pdata[i])->seq == seq)
			return g_ptr_array_steal_index(copying->old, i);
	return NULL;
}

/* Now, or with all others. */
static bool
index_paper(const struct copying *copying, struct store *cache, const struct paper *old,
    const struct paper *fresh, GError **error)
{
	return copying->is_bulk ? store_save_cursor(cache, NO_INDEX, 1, error)
	                        : archive_index(cache, old, fresh, error);
}

static bool
copy_paper(struct copying *copying, struct store *cache, struct sql_statement *row,
    GError **error)
{
	struct sql_value values[N_PAPER_COLUMNS + 1];
	const struct paper fresh = {
	    .id = (char *)sql_get_text(row, COLUMN_ID),
	    .title = (char *)sql_get_text(row, COLUMN_TITLE),
	    .abstract = (char *)sql_get_text(row, COLUMN_ABSTRACT),
	};
	pb_auto(stored_paper) old = take_old(copying, sql_get_int(row, 0));
	bool is_same_text = old && g_str_equal(old->paper->title, fresh.title) &&
	                    g_str_equal(old->paper->abstract, fresh.abstract);

	read_values(row, values, N_PAPER_COLUMNS);
	return write_paper(cache, values, error) &&
	       (is_same_text ||
	           index_paper(copying, cache, old ? old->paper : NULL, &fresh, error));
}

static bool
copy_papers(struct copying *copying, struct store *cache, GError **error)
{
	static const char sql_old[] =
	    "SELECT " PAPER_ROW_COLUMNS " FROM paper " PAPERS_OF_BLOCK;
	static const char sql[] =
	    "SELECT " PAPER_COLUMNS " FROM paper " PAPERS_OF_BLOCK " ORDER BY seq";
	int64_t first = copying->block.number * BLOCK_PAPERS;
	sql_auto *old = sql_bind(cache, sql_old, error, SQL_INT(first));
	sql_auto *statement = NULL;
	enum sql_step step;

	copying->old = paper_row_load_all(cache, old, error);
	sql_reset(&old);
	if (!copying->old)
		return false;
	statement = sql_bind(copying->from, sql, error, SQL_INT(first));
	if (!statement)
		return false;
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW)
		if (!copy_paper(copying, cache, statement, error))
			return false;
	return step == SQL_STEP_DONE;
}

/* Papers that were merged with others. */
static bool
delete_papers(const struct copying *copying, struct store *cache, GError **error)
{
	static const char sql[] = "DELETE FROM paper WHERE seq = ?1";

	for (guint i = 0; i < copying->old->len; i++) {
		const struct stored_paper *old = copying->old->pdata[i];

		if (!index_paper(copying, cache, old->paper, NULL, error) ||
		    !sql_exec(cache, sql, error, SQL_INT(old->seq)))
			return false;
	}
	return true;
}

static bool
copy_listings(const struct copying *copying, struct store *cache, GError **error)
{
	static const char sql_delete[] = "DELETE FROM listing " LISTINGS_OF_BLOCK;
	static const char sql_read[] =
	    "SELECT " LISTING_COLUMNS " FROM listing " LISTINGS_OF_BLOCK;
	static const char sql[] = "INSERT INTO listing (" LISTING_COLUMNS ")"
	                          " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
	int64_t first = copying->block.number * BLOCK_PAPERS;
	sql_auto *statement = NULL;
	enum sql_step step;

	if (!sql_exec(cache, sql_delete, error, SQL_INT(first)))
		return false;
	statement = sql_bind(copying->from, sql_read, error, SQL_INT(first));
	if (!statement)
		return false;
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW) {
		struct sql_value values[N_LISTING_COLUMNS + 1];

		read_values(statement, values, N_LISTING_COLUMNS);
		if (!sql_exec_values(cache, sql, values, error))
			return false;
	}
	return step == SQL_STEP_DONE;
}

/* A change of listings alone, for those who have read the papers. */
static bool
count_change(struct store *cache, GError **error)
{
	int64_t changes;

	return papers_load_changes(cache, &changes, error) &&
	       store_save_cursor(cache, PAPERS_CHANGES, changes + 1, error);
}

/* Another process may have copied the block meanwhile. */
static bool
is_current(struct store *cache, const struct block *block, bool *is, GError **error)
{
	static const char sql[] = BLOCKS(PAPERS_OF_BLOCK, LISTINGS_OF_BLOCK);
	g_autoptr(GArray) numbers =
	    sql_load_numbers(cache, sql, error, SQL_INT(block->number * BLOCK_PAPERS));

	if (!numbers)
		return false;
	*is = numbers->len ? is_same(block, (struct block *)(void *)numbers->data)
	                   : block->papers == 0;
	return true;
}

static bool
copy_block(struct store *cache, void *data, GError **error)
{
	struct copying *copying = data;
	bool is_done, is_copied;

	if (!is_current(cache, &copying->block, &is_done, error))
		return false;
	if (is_done)
		return true;
	is_copied = copy_papers(copying, cache, error) &&
	            copy_listings(copying, cache, error) &&
	            delete_papers(copying, cache, error) && count_change(cache, error);
	g_clear_pointer(&copying->old, g_ptr_array_unref);
	return is_copied;
}

static bool
rebuild_index(struct store *cache, void *data, GError **error)
{
	(void)data;
	return archive_rebuild(cache, error) &&
	       store_save_cursor(cache, NO_INDEX, 0, error);
}

bool
archive_cache_copy(
    struct store *from, struct store *cache, unsigned *copied, GError **error)
{
	g_autoptr(GArray) blocks = find_different(from, cache, error);
	struct copying copying = {.from = from};
	int64_t has_no_index;

	if (!blocks)
		return false;
	copying.is_bulk = blocks->len > BLOCKS_INDEXED;
	for (guint i = 0; i < blocks->len; i++) {
		copying.block = g_array_index(blocks, struct block, i);
		if (store_is_stopped(from))
			return pb_fail(error, PB_ERROR_TEMPORARY, "stopped");
		if (!store_transact(cache, copy_block, &copying, error))
			return false;
		/* It is alive. */
		if (from->hook)
			from->hook(from->hook_data);
	}
	if (!store_load_cursor(cache, NO_INDEX, 0, &has_no_index, error) ||
	    (has_no_index && !store_transact(cache, rebuild_index, NULL, error)))
		return false;
	*copied = blocks->len;
	return true;
}

bool
archive_cache_compare(
    struct store *from, struct store *cache, unsigned *blocks, GError **error)
{
	g_autoptr(GArray) different = find_different(from, cache, error);

	if (!different)
		return false;
	*blocks = different->len;
	return true;
}

/* ---- the file ---- */

static void
remove_file(const char *path)
{
	static const char *const ends[] = {"", "-wal", "-shm"};

	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
		g_autofree char *file = g_strconcat(path, ends[i], NULL);

		g_unlink(file);
	}
}

static struct store *
open_file(const char *path, GError **error)
{
	/* A paper goes as it goes in the database. */
	static const char sql_trigger[] =
	    "DROP TRIGGER IF EXISTS paper_deleted_unmerged";
	/* Moves of papers are not copied. */
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
	remove_file(path);
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

	remove_file(path);
	if (!archive_cache_open(store, path, error)) {
		store->archive = old;
		return false;
	}
	store->archive->damaged = old;
	return true;
}

/* Numbers that are compared before the blocks. */
struct seen {
	int64_t history, newest, changes;
};

static bool
save_seen(struct store *cache, void *data, GError **error)
{
	const struct seen *seen = data;

	return store_save_cursor(cache, SEEN_HISTORY, seen->history, error) &&
	       store_save_cursor(cache, SEEN_NEWEST, seen->newest, error) &&
	       store_save_cursor(cache, SEEN_CHANGES, seen->changes, error);
}

static bool
refresh(struct store *store, GError **error)
{
	static const char sql[] = "SELECT coalesce(max(seq), 0) FROM paper";
	struct store *cache = store->archive;
	struct seen now, then;
	int64_t has_no_index;
	unsigned copied;

	if (!sql_number(store, sql, &now.newest, error) ||
	    !papers_load_changes(store, &now.changes, error) ||
	    !store_load_int64(cache, SEEN_HISTORY, -1, &then.history, error) ||
	    !store_load_cursor(cache, SEEN_NEWEST, -1, &then.newest, error) ||
	    !store_load_cursor(cache, SEEN_CHANGES, -1, &then.changes, error) ||
	    !store_load_cursor(cache, NO_INDEX, 0, &has_no_index, error))
		return false;
	now.history = store->history ? store->history : then.history;
	return (now.history == then.history && now.newest == then.newest &&
	           now.changes == then.changes && !has_no_index) ||
	       (archive_cache_copy(store, cache, &copied, error) &&
	           store_transact(cache, save_seen, &now, error));
}

struct store *
archive_cache_refresh(struct store *store, GError **error)
{
	g_autoptr(GError) problem = NULL;

	if (!store->archive || refresh(store, &problem))
		return store_get_archive(store);
	if (g_error_matches(problem, PB_ERROR, PB_ERROR_TEMPORARY) ||
	    !is_damaged(store->archive))
		pb_error_forward(error, &problem);
	else if (replace(store, error) && refresh(store, error))
		return store->archive;
	return NULL;
}
