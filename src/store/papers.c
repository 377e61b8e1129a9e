/*
 * papers.c - papers, who listed them when, and every answer of a source.
 */
#include "store/papers.h"

#include <string.h>

#include "base/error.h"
#include "store/sql.h"

/* The columns that load_paper() reads, in its order. */
#define PAPER_COLUMNS                                                                  \
	"seq, id, title, abstract, authors, url, code_url, project_url, organization," \
	" published_at, upvotes, comments, stars, revision, last_day"

static const char *const status_names[] = {
    [BATCH_OK] = "ok",
    [BATCH_SAME] = "same",
    [BATCH_EMPTY] = "empty",
    [BATCH_NOT_YET] = "not-yet",
    [BATCH_FAILED] = "failed",
};

const char *
batch_status_name(enum batch_status status)
{
	return status_names[status];
}

void
stored_paper_free(struct stored_paper *stored)
{
	if (!stored)
		return;
	paper_free(stored->paper);
	g_free(stored);
}

void
source_report_free(struct source_report *report)
{
	if (!report)
		return;
	g_free(report->source);
	g_free(report->day);
	g_free(report->status);
	g_free(report->error);
	g_free(report->papers_day);
	g_free(report);
}

static struct stored_paper *
load_paper(sqlite3_stmt *row)
{
	struct stored_paper *stored = g_new0(struct stored_paper, 1);
	struct paper *paper = paper_new();
	g_auto(GStrv) authors = NULL;

	stored->paper = paper;
	stored->seq = sql_get_int(row, 0);
	paper->id = sql_dup_text(row, 1);
	paper->title = sql_dup_text(row, 2);
	paper->abstract = sql_dup_text(row, 3);
	authors = g_strsplit((const char *)sqlite3_column_text(row, 4), "\n", -1);
	for (char **author = authors; *author; author++)
		g_ptr_array_add(paper->authors, g_strdup(*author));
	paper->url = sql_dup_text(row, 5);
	paper->code_url = sql_dup_text(row, 6);
	paper->project_url = sql_dup_text(row, 7);
	paper->organization = sql_dup_text(row, 8);
	paper->published_at = sql_get_int(row, 9);
	paper->upvotes = sql_get_int(row, 10);
	paper->comments = sql_get_int(row, 11);
	paper->stars = sql_get_int(row, 12);
	stored->revision = sql_get_int(row, 13);
	g_strlcpy(stored->day, (const char *)sqlite3_column_text(row, 14),
	    sizeof(stored->day));
	return stored;
}

static GPtrArray *
load_papers(sqlite3_stmt *statement, GError **error)
{
	g_autoptr(GPtrArray) papers =
	    g_ptr_array_new_with_free_func((GDestroyNotify)stored_paper_free);
	enum sql_step step;

	while ((step = sql_step(statement, error)) == SQL_STEP_ROW)
		g_ptr_array_add(papers, load_paper(statement));
	return step == SQL_STEP_DONE ? g_steal_pointer(&papers) : NULL;
}

/* Find a paper by its canonical id; *stored stays NULL when it is new. */
static bool
find_paper(
    struct store *store, const char *id, struct stored_paper **stored, GError **error)
{
	static const char sql[] = "SELECT " PAPER_COLUMNS " FROM paper WHERE id = ?1";
	sql_auto *statement = sql_start(store, sql, error, SQL_TEXT(id));
	enum sql_step step;

	if (!statement)
		return false;
	step = sql_step(statement, error);
	if (step == SQL_STEP_ROW)
		*stored = load_paper(statement);
	return step != SQL_STEP_FAILED;
}

static char *
join_authors(const struct paper *paper)
{
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; i < paper->authors->len; i++)
		g_string_append_printf(
		    text, "%s%s", i ? "\n" : "", (char *)paper->authors->pdata[i]);
	return g_string_free(text, FALSE);
}

static bool
insert_paper(struct store *store, const struct paper *paper, const char *day,
    int64_t now, GError **error)
{
	static const char sql[] =
	    "INSERT INTO paper (id, title, abstract, authors, url, code_url,"
	    " project_url,"
	    " organization, published_at, upvotes, comments, stars, told_at,"
	    " first_seen_at,"
	    " last_day, revision)"
	    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,"
	    " ?13, ?13, ?14, (SELECT coalesce(max(revision), 0) + 1 FROM paper))";
	g_autofree char *authors = join_authors(paper);

	return sql_run(store, sql, error, SQL_TEXT(paper->id), SQL_TEXT(paper->title),
	    SQL_TEXT(paper->abstract), SQL_TEXT(authors), SQL_TEXT(paper->url),
	    SQL_TEXT(paper->code_url), SQL_TEXT(paper->project_url),
	    SQL_TEXT(paper->organization), SQL_INT_OR_NULL(paper->published_at),
	    SQL_INT_OR_NULL(paper->upvotes), SQL_INT_OR_NULL(paper->comments),
	    SQL_INT_OR_NULL(paper->stars), SQL_INT(now), SQL_TEXT(day));
}

static bool
is_new_number(int64_t told, int64_t kept)
{
	return told != PAPER_UNKNOWN && told != kept;
}

static bool
is_text_new(const struct paper *told, const struct paper *kept)
{
	g_autofree char *told_authors = join_authors(told);
	g_autofree char *kept_authors = join_authors(kept);

	return strcmp(told->title, kept->title) != 0 ||
	       strcmp(told->abstract, kept->abstract) != 0 ||
	       strcmp(told_authors, kept_authors) != 0;
}

static bool
are_links_new(const struct paper *told, const struct paper *kept)
{
	const char *const links[][2] = {
	    {told->url, kept->url},
	    {told->code_url, kept->code_url},
	    {told->project_url, kept->project_url},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(links); i++)
		if (links[i][0] && g_strcmp0(links[i][0], links[i][1]) != 0)
			return true;
	return false;
}

/*
 * A digest that may have reached its reader is composed of its papers again when
 * it is sent again, to the same octets: so their words stay until it has ended.
 */
static bool
are_words_frozen(struct store *store, int64_t seq, bool *are_frozen, GError **error)
{
	static const char sql[] =
	    "SELECT EXISTS (SELECT 1 FROM outbox o JOIN digest_item i"
	    " ON i.digest_id = o.digest_id WHERE i.paper_seq = ?1"
	    /* What a restored backup holds may have been sent since it was made. */
	    " AND (o.attempt > 0 OR o.state = 'HELD')"
	    " AND o.state IN ('NEW', 'SENDING', 'DEFERRED', 'UNKNOWN', 'HELD'))";
	int64_t found;

	if (!sql_number(store, sql, &found, error, SQL_INT(seq)))
		return false;
	*are_frozen = found == 1;
	return true;
}

/* Listed anew: a filter that came too late for the old day sees it now. */
static bool
renew_revision(struct store *store, int64_t seq, GError **error)
{
	static const char sql[] =
	    "UPDATE paper SET revision ="
	    " (SELECT max(revision) + 1 FROM paper) WHERE seq = ?1";

	return sql_run(store, sql, error, SQL_INT(seq));
}

/* What a digest shows of a paper; what filters read of it gets a new revision. */
static bool
update_words(struct store *store, const struct paper *paper,
    const struct stored_paper *kept, bool *are_frozen, GError **error)
{
	static const char sql_links[] =
	    "UPDATE paper SET url = ?2, code_url = coalesce(?3, code_url),"
	    " project_url = coalesce(?4, project_url) WHERE seq = ?1";
	static const char sql_text[] =
	    "UPDATE paper SET title = ?2, abstract = ?3, authors = ?4,"
	    " revision = (SELECT max(revision) + 1 FROM paper) WHERE seq = ?1";
	bool is_text = is_text_new(paper, kept->paper);
	g_autofree char *authors = NULL;

	*are_frozen = false;
	if (!is_text && !are_links_new(paper, kept->paper))
		return true;
	if (!are_words_frozen(store, kept->seq, are_frozen, error))
		return false;
	if (*are_frozen)
		return true;
	if (!sql_run(store, sql_links, error, SQL_INT(kept->seq), SQL_TEXT(paper->url),
	        SQL_TEXT(paper->code_url), SQL_TEXT(paper->project_url)))
		return false;
	if (!is_text)
		return true;
	authors = join_authors(paper);
	return sql_run(store, sql_text, error, SQL_INT(kept->seq),
	    SQL_TEXT(paper->title), SQL_TEXT(paper->abstract), SQL_TEXT(authors));
}

static bool
update_numbers(struct store *store, const struct paper *paper, const char *day,
    int64_t now, int64_t seq, bool is_changed, GError **error)
{
	static const char sql[] =
	    "UPDATE paper SET organization = coalesce(?2, organization),"
	    " published_at = coalesce(?3, published_at),"
	    " upvotes = coalesce(?4, upvotes), comments = coalesce(?5, comments),"
	    " stars = coalesce(?6, stars), told_at = ?7,"
	    " last_day = max(last_day, ?8), is_changed = max(is_changed, ?9)"
	    " WHERE seq = ?1";

	return sql_run(store, sql, error, SQL_INT(seq), SQL_TEXT(paper->organization),
	    SQL_INT_OR_NULL(paper->published_at), SQL_INT_OR_NULL(paper->upvotes),
	    SQL_INT_OR_NULL(paper->comments), SQL_INT_OR_NULL(paper->stars),
	    SQL_INT(now), SQL_TEXT(day), SQL_INT(is_changed));
}

static bool
save_listing(struct store *store, const struct batch *batch,
    const struct listing *listing, struct papers_saved *saved, GError **error)
{
	static const char sql[] =
	    "INSERT INTO listing (source, day, paper_seq, upvotes, first_seen_at)"
	    " SELECT ?1, ?2, seq, ?4, ?5 FROM paper WHERE id = ?3"
	    " ON CONFLICT DO UPDATE SET upvotes = coalesce(excluded.upvotes, upvotes)";
	const struct paper *paper = listing->paper;
	pb_auto(stored_paper) kept = NULL;

	if (!find_paper(store, paper->id, &kept, error))
		return false;
	if (!kept) {
		saved->fresh++;
		if (!insert_paper(store, paper, listing->day, batch->asked_at, error))
			return false;
	} else {
		const struct paper *old = kept->paper;
		bool is_changed = is_new_number(paper->upvotes, old->upvotes) ||
		                  is_new_number(paper->comments, old->comments) ||
		                  is_new_number(paper->stars, old->stars);
		bool are_frozen;

		if (strcmp(listing->day, kept->day) > 0 &&
		    !renew_revision(store, kept->seq, error))
			return false;
		if (!update_words(store, paper, kept, &are_frozen, error) ||
		    !update_numbers(store, paper, listing->day, batch->asked_at,
		        kept->seq, is_changed, error))
			return false;
		saved->changed += is_changed;
		saved->frozen += are_frozen;
	}
	return sql_run(store, sql, error, SQL_TEXT(batch->source),
	    SQL_TEXT(listing->day), SQL_TEXT(paper->id),
	    SQL_INT_OR_NULL(paper->upvotes), SQL_INT(batch->asked_at));
}

bool
papers_save_batch(struct store *store, const struct batch *batch,
    const GPtrArray *listings, struct papers_saved *saved, GError **error)
{
	static const char sql[] = "INSERT INTO batch (source, day, asked_at, status, "
	                          "etag, count, fresh, ids_hash,"
	                          " error) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
	struct papers_saved sums = {.listed = listings ? listings->len : 0};
	const char *etag;
	pb_transaction transaction = {0};

	if (!store_begin(store, &transaction, error))
		return false;
	for (unsigned i = 0; i < sums.listed; i++) {
		const struct listing *listing = listings->pdata[i];

		if (!save_listing(store, batch, listing, &sums, error)) {
			g_prefix_error(error, "paper %s: ", listing->paper->id);
			return false;
		}
	}
	/* What was not taken now has to be told again. */
	etag = sums.frozen ? NULL : batch->etag;
	if (!sql_run(store, sql, error, SQL_TEXT(batch->source), SQL_TEXT(batch->day),
	        SQL_INT(batch->asked_at), SQL_TEXT(batch_status_name(batch->status)),
	        SQL_TEXT(etag), SQL_INT(sums.listed), SQL_INT(sums.fresh),
	        SQL_TEXT(batch->ids_hash), SQL_TEXT(batch->error)) ||
	    !store_commit(&transaction, error))
		return false;
	*saved = sums;
	return true;
}

bool
papers_load_etag(struct store *store, const char *source, const char *day, char **etag,
    GError **error)
{
	static const char sql[] =
	    "SELECT etag FROM batch WHERE source = ?1 AND day = ?2"
	    " AND status = 'ok' ORDER BY id DESC LIMIT 1";
	sql_auto *statement =
	    sql_start(store, sql, error, SQL_TEXT(source), SQL_TEXT(day));
	enum sql_step step;

	if (!statement)
		return false;
	step = sql_step(statement, error);
	if (step == SQL_STEP_FAILED)
		return false;
	*etag = step == SQL_STEP_ROW ? sql_dup_text(statement, 0) : NULL;
	return true;
}

bool
papers_load_etag_time(
    struct store *store, const char *source, int64_t *at, GError **error)
{
	static const char sql[] = "SELECT max(asked_at) FROM batch WHERE source = ?1"
	                          " AND etag IS NOT NULL";

	return sql_number(store, sql, at, error, SQL_TEXT(source));
}

bool
papers_load_newest_revision(struct store *store, int64_t *revision, GError **error)
{
	static const char sql[] = "SELECT coalesce(max(revision), 0) FROM paper";

	return sql_number(store, sql, revision, error);
}

bool
papers_load_revision_before(
    struct store *store, const char *day, int64_t *revision, GError **error)
{
	/* The "+" keeps SQLite from walking all older papers in order of revision. */
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
	    "SELECT " PAPER_COLUMNS " FROM paper"
	    " WHERE revision > ?1 AND revision <= ?2 AND last_day >= ?3"
	    " ORDER BY revision LIMIT ?4";
	sql_auto *statement = sql_start(store, sql, error, SQL_INT(after),
	    SQL_INT(through), SQL_TEXT(oldest_day), SQL_INT(limit));

	return statement ? load_papers(statement, error) : NULL;
}

GPtrArray *
papers_load_changed(struct store *store, unsigned limit, GError **error)
{
	static const char sql[] = "SELECT " PAPER_COLUMNS " FROM paper"
	                          " WHERE is_changed = 1 ORDER BY seq LIMIT ?1";
	sql_auto *statement = sql_start(store, sql, error, SQL_INT(limit));

	return statement ? load_papers(statement, error) : NULL;
}

bool
papers_clear_changed(struct store *store, int64_t seq, GError **error)
{
	static const char sql[] = "UPDATE paper SET is_changed = 0 WHERE seq = ?1";

	return sql_run(store, sql, error, SQL_INT(seq));
}

struct stored_paper *
papers_load(struct store *store, int64_t seq, GError **error)
{
	static const char sql[] = "SELECT " PAPER_COLUMNS " FROM paper WHERE seq = ?1";
	sql_auto *statement = sql_start(store, sql, error, SQL_INT(seq));
	enum sql_step step;

	if (!statement)
		return NULL;
	step = sql_step(statement, error);
	if (step == SQL_STEP_ROW)
		return load_paper(statement);
	if (step == SQL_STEP_DONE)
		g_set_error(error, PB_ERROR, PB_ERROR_NOT_FOUND, "no such paper");
	return NULL;
}

GPtrArray *
papers_load_reports(struct store *store, GError **error)
{
	static const char sql[] =
	    "WITH last AS (SELECT source, max(id) AS id FROM batch GROUP BY source)"
	    " SELECT b.source, b.day, b.status,"
	    /* Of the last day or so: a day that failed and has not been good since. */
	    " (SELECT f.day || ': ' || f.error FROM batch f WHERE f.source = b.source"
	    "  AND f.asked_at > b.asked_at - 100000 AND f.status = 'failed'"
	    "  AND NOT EXISTS (SELECT 1 FROM batch g WHERE g.source = f.source"
	    "   AND g.day = f.day AND g.id > f.id AND g.status <> 'failed')"
	    "  ORDER BY f.id DESC LIMIT 1), b.asked_at,"
	    " (SELECT max(asked_at) FROM batch g WHERE g.source = b.source"
	    "  AND g.status <> 'failed'),"
	    " (SELECT max(day) FROM listing l WHERE l.source = b.source),"
	    " (SELECT count(*) FROM listing l WHERE l.source = b.source AND l.day ="
	    "  (SELECT max(day) FROM listing m WHERE m.source = b.source))"
	    " FROM last JOIN batch b ON b.id = last.id ORDER BY b.source";
	sql_auto *statement = sql_start(store, sql, error);
	g_autoptr(GPtrArray) reports =
	    g_ptr_array_new_with_free_func((GDestroyNotify)source_report_free);
	enum sql_step step;

	if (!statement)
		return NULL;
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW) {
		struct source_report *report = g_new0(struct source_report, 1);

		report->source = sql_dup_text(statement, 0);
		report->day = sql_dup_text(statement, 1);
		report->status = sql_dup_text(statement, 2);
		report->error = sql_dup_text(statement, 3);
		report->asked_at = sql_get_int(statement, 4);
		report->good_at = sql_get_int(statement, 5);
		report->papers_day = sql_dup_text(statement, 6);
		report->papers = sql_get_int(statement, 7);
		g_ptr_array_add(reports, report);
	}
	return step == SQL_STEP_DONE ? g_steal_pointer(&reports) : NULL;
}

bool
papers_count(struct store *store, int64_t *count, GError **error)
{
	static const char sql[] = "SELECT count(*) FROM paper";

	return sql_number(store, sql, count, error);
}

bool
papers_prune_batches(struct store *store, int64_t before, unsigned limit,
    unsigned *count, GError **error)
{
	static const char sql[] =
	    "DELETE FROM batch WHERE id IN"
	    " (SELECT id FROM batch WHERE asked_at < ?1 LIMIT ?2)";

	return sql_delete(store, sql, count, error, SQL_INT(before), SQL_INT(limit));
}
