/*
 * papers.c - papers, who listed them when, and every answer of a source.
 */
#include "store/papers.h"

#include <string.h>

#include "base/error.h"
#include "store/archive.h"
#include "store/paper_news.h"
#include "store/paper_row.h"
#include "store/sql.h"

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

/* Find a paper by its canonical id; *stored stays NULL when it is new. */
static bool
find_paper(
    struct store *store, const char *id, struct stored_paper **stored, GError **error)
{
	static const char sql[] =
	    "SELECT " PAPER_ROW_COLUMNS " FROM paper WHERE id = ?1";
	sql_auto *statement = sql_start(store, sql, error, SQL_TEXT(id));
	enum sql_step step;

	if (!statement)
		return false;
	step = sql_step(statement, error);
	if (step == SQL_STEP_ROW)
		*stored = paper_row_load(statement);
	return step != SQL_STEP_FAILED;
}

/* @return the place of the new row in *seq */
static bool
insert_paper(struct store *store, const struct paper *paper, const char *day,
    int64_t now, int64_t *seq, GError **error)
{
	static const char sql[] =
	    "INSERT INTO paper (id, title, abstract, authors, url, code_url,"
	    " project_url, video_url, organization, keywords, categories, comment,"
	    " journal, doi, published_at, upvotes, comments, stars, told_at,"
	    " first_seen_at, last_day, revision)"
	    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,"
	    " ?15, ?16, ?17, ?18, ?19, ?19, ?20,"
	    " (SELECT coalesce(max(revision), 0) + 1 FROM paper))";
	g_autofree char *authors = paper_row_join(paper->authors);
	g_autofree char *keywords = paper_row_join(paper->keywords);
	g_autofree char *categories = paper_row_join(paper->categories);

	if (!sql_run(store, sql, error, SQL_TEXT(paper->id), SQL_TEXT(paper->title),
	        SQL_TEXT(paper->abstract), SQL_TEXT(authors), SQL_TEXT(paper->url),
	        SQL_TEXT(paper->code_url), SQL_TEXT(paper->project_url),
	        SQL_TEXT(paper->video_url), SQL_TEXT(paper->organization),
	        SQL_TEXT(keywords), SQL_TEXT(categories), SQL_TEXT(paper->comment),
	        SQL_TEXT(paper->journal), SQL_TEXT(paper->doi),
	        SQL_INT_OR_NULL(paper->published_at), SQL_INT_OR_NULL(paper->upvotes),
	        SQL_INT_OR_NULL(paper->comments), SQL_INT_OR_NULL(paper->stars),
	        SQL_INT(now), SQL_TEXT(day)))
		return false;
	*seq = sqlite3_last_insert_rowid(store->db);
	return archive_learn(store, NULL, paper, error);
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

/* Filters that saw the paper look at it once more. */
static bool
renew_revision(struct store *store, int64_t seq, GError **error)
{
	static const char sql[] =
	    "UPDATE paper SET is_revised = 1, revision ="
	    " (SELECT max(revision) + 1 FROM paper) WHERE seq = ?1";

	return sql_run(store, sql, error, SQL_INT(seq));
}

static bool
update_links(
    struct store *store, const struct paper *paper, int64_t seq, GError **error)
{
	static const char sql[] =
	    "UPDATE paper SET url = ?2, code_url = coalesce(?3, code_url),"
	    " project_url = coalesce(?4, project_url),"
	    " video_url = coalesce(?5, video_url) WHERE seq = ?1";

	return sql_run(store, sql, error, SQL_INT(seq), SQL_TEXT(paper->url),
	    SQL_TEXT(paper->code_url), SQL_TEXT(paper->project_url),
	    SQL_TEXT(paper->video_url));
}

static bool
update_text(struct store *store, const struct paper *paper,
    const struct stored_paper *kept, GError **error)
{
	static const char sql[] =
	    "UPDATE paper SET title = ?2, abstract = ?3, authors = ?4 WHERE seq = ?1";
	g_autofree char *authors = paper_row_join(paper->authors);

	return sql_run(store, sql, error, SQL_INT(kept->seq), SQL_TEXT(paper->title),
	           SQL_TEXT(paper->abstract), SQL_TEXT(authors)) &&
	       archive_learn(store, kept->paper, paper, error);
}

static bool
update_told(struct store *store, const struct paper *paper, int64_t now, int64_t seq,
    GError **error)
{
	static const char sql[] =
	    "UPDATE paper SET organization = coalesce(?2, organization),"
	    " keywords = coalesce(?3, keywords),"
	    " published_at = coalesce(?4, published_at),"
	    " upvotes = coalesce(?5, upvotes), comments = coalesce(?6, comments),"
	    " stars = coalesce(?7, stars), told_at = ?8 WHERE seq = ?1";
	g_autofree char *keywords = paper_row_join(paper->keywords);

	return sql_run(store, sql, error, SQL_INT(seq), SQL_TEXT(paper->organization),
	    SQL_TEXT(keywords), SQL_INT_OR_NULL(paper->published_at),
	    SQL_INT_OR_NULL(paper->upvotes), SQL_INT_OR_NULL(paper->comments),
	    SQL_INT_OR_NULL(paper->stars), SQL_INT(now));
}

static bool
update_enrichment(
    struct store *store, const struct paper *paper, int64_t seq, GError **error)
{
	static const char sql[] =
	    "UPDATE paper SET categories = coalesce(?2, categories),"
	    " comment = coalesce(?3, comment), journal = coalesce(?4, journal),"
	    " doi = coalesce(?5, doi) WHERE seq = ?1";
	g_autofree char *categories = paper_row_join(paper->categories);

	return sql_run(store, sql, error, SQL_INT(seq), SQL_TEXT(categories),
	    SQL_TEXT(paper->comment), SQL_TEXT(paper->journal), SQL_TEXT(paper->doi));
}

static bool
mark_changed(struct store *store, int64_t seq, GError **error)
{
	static const char sql[] = "UPDATE paper SET is_changed = 1 WHERE seq = ?1";

	return sql_run(store, sql, error, SQL_INT(seq));
}

static bool
is_settled(const struct stored_paper *kept, int64_t now)
{
	return now >= kept->first_seen_at + PAPERS_ENRICH_S;
}

/*
 * Take over what an answer tells of a paper that is known.
 *
 * @param is_anew  whether filters that saw it have to look again; set too
 */
static bool
update_paper(struct store *store, const struct paper *paper,
    const struct stored_paper *kept, int64_t now, struct papers_saved *saved,
    bool *is_anew, GError **error)
{
	struct paper_news news;
	bool are_frozen = false;

	paper_news_find(paper, kept->paper, is_settled(kept, now), &news);
	if ((news.is_text || news.are_links) &&
	    !are_words_frozen(store, kept->seq, &are_frozen, error))
		return false;
	if (are_frozen)
		news.is_text = news.are_links = false;
	news.is_changed |= news.are_links;
	if ((news.are_links && !update_links(store, paper, kept->seq, error)) ||
	    (news.is_text && !update_text(store, paper, kept, error)) ||
	    !update_told(store, paper, now, kept->seq, error) ||
	    !update_enrichment(store, paper, kept->seq, error) ||
	    (news.is_changed && !mark_changed(store, kept->seq, error)))
		return false;
	*is_anew |= news.is_text || news.is_anew;
	saved->changed += news.is_changed;
	saved->frozen += are_frozen;
	return true;
}

/* @param is_anew  set when this source had not listed it like this on that day */
static bool
note_listing(struct store *store, const char *source, const struct listing *listing,
    int64_t seq, int64_t now, bool *is_anew, GError **error)
{
	static const char sql_has[] =
	    "SELECT EXISTS (SELECT 1 FROM listing WHERE source = ?1 AND day = ?2"
	    " AND paper_seq = ?3 AND announcement = ?4)";
	static const char sql[] =
	    "INSERT INTO listing (source, day, paper_seq, announcement, upvotes,"
	    " first_seen_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
	    " ON CONFLICT DO UPDATE SET announcement = excluded.announcement,"
	    " upvotes = coalesce(excluded.upvotes, upvotes)";
	static const char sql_day[] =
	    "UPDATE paper SET last_day = ?2 WHERE seq = ?1 AND last_day < ?2";
	const char *announcement = announcement_name(listing->announcement);
	int64_t has;

	if (!sql_number(store, sql_has, &has, error, SQL_TEXT(source),
	        SQL_TEXT(listing->day), SQL_INT(seq), SQL_TEXT(announcement)) ||
	    !sql_run(store, sql, error, SQL_TEXT(source), SQL_TEXT(listing->day),
	        SQL_INT(seq), SQL_TEXT(announcement),
	        SQL_INT_OR_NULL(listing->paper->upvotes), SQL_INT(now)) ||
	    !sql_run(store, sql_day, error, SQL_INT(seq), SQL_TEXT(listing->day)))
		return false;
	*is_anew = !has;
	return true;
}

static bool
save_listing(struct store *store, const struct batch *batch,
    const struct listing *listing, struct papers_saved *saved, GError **error)
{
	const struct paper *paper = listing->paper;
	pb_auto(stored_paper) kept = NULL;
	bool is_anew;
	int64_t seq;

	if (!find_paper(store, paper->id, &kept, error))
		return false;
	if (!kept) {
		saved->fresh++;
		return insert_paper(
		           store, paper, listing->day, batch->asked_at, &seq, error) &&
		       note_listing(store, batch->source, listing, seq, batch->asked_at,
		           &is_anew, error);
	}
	return note_listing(store, batch->source, listing, kept->seq, batch->asked_at,
	           &is_anew, error) &&
	       update_paper(
	           store, paper, kept, batch->asked_at, saved, &is_anew, error) &&
	       (!is_anew || renew_revision(store, kept->seq, error));
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
papers_save_enrichment(struct store *store, const GPtrArray *papers, int64_t now,
    struct papers_saved *saved, GError **error)
{
	struct papers_saved sums = {0};
	pb_transaction transaction = {0};

	if (!store_begin(store, &transaction, error))
		return false;
	for (unsigned i = 0; i < papers->len; i++) {
		const struct paper *told = papers->pdata[i];
		pb_auto(stored_paper) kept = NULL;
		struct paper_news news;

		if (!find_paper(store, told->id, &kept, error))
			return false;
		if (!kept)
			continue;
		sums.listed++;
		paper_news_find_enrichment(
		    told, kept->paper, is_settled(kept, now), &news);
		sums.changed += news.is_changed;
		if (!update_enrichment(store, told, kept->seq, error) ||
		    (news.is_changed && !mark_changed(store, kept->seq, error)) ||
		    (news.is_anew && !renew_revision(store, kept->seq, error)))
			return false;
	}
	if (!store_commit(&transaction, error))
		return false;
	*saved = sums;
	return true;
}

GPtrArray *
papers_load_bare(
    struct store *store, int64_t seen_after, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT id FROM paper WHERE categories IS NULL AND first_seen_at > ?1"
	    " ORDER BY first_seen_at DESC LIMIT ?2";
	sql_auto *statement =
	    sql_start(store, sql, error, SQL_INT(seen_after), SQL_INT(limit));
	g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);
	enum sql_step step;

	if (!statement)
		return NULL;
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW)
		g_ptr_array_add(ids, sql_dup_text(statement, 0));
	return step == SQL_STEP_DONE ? g_steal_pointer(&ids) : NULL;
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
	    "SELECT " PAPER_ROW_COLUMNS " FROM paper"
	    " WHERE revision > ?1 AND revision <= ?2 AND last_day >= ?3"
	    " ORDER BY revision LIMIT ?4";
	sql_auto *statement = sql_start(store, sql, error, SQL_INT(after),
	    SQL_INT(through), SQL_TEXT(oldest_day), SQL_INT(limit));

	return paper_row_load_all(statement, error);
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

	return sql_run(store, sql, error, SQL_INT(seq));
}

struct stored_paper *
papers_load(struct store *store, int64_t seq, GError **error)
{
	static const char sql[] =
	    "SELECT " PAPER_ROW_COLUMNS " FROM paper WHERE seq = ?1";
	sql_auto *statement = sql_start(store, sql, error, SQL_INT(seq));
	enum sql_step step;

	if (!statement)
		return NULL;
	step = sql_step(statement, error);
	if (step == SQL_STEP_ROW)
		return paper_row_load(statement);
	if (step == SQL_STEP_DONE)
		g_set_error(error, PB_ERROR, PB_ERROR_NOT_FOUND, "no such paper");
	return NULL;
}

struct stored_paper *
papers_find(struct store *store, const char *id, GError **error)
{
	pb_auto(stored_paper) stored = NULL;

	if (!find_paper(store, id, &stored, error))
		return NULL;
	if (!stored)
		g_set_error(error, PB_ERROR, PB_ERROR_NOT_FOUND,
		    "no source has listed a paper '%s' yet", id);
	return g_steal_pointer(&stored);
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

	return sql_change(store, sql, count, error, SQL_INT(before), SQL_INT(limit));
}
