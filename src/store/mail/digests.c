/*
 * digests.c - digests: their content, and delivered papers.
 */
#include "store/mail/digests.h"

#include <string.h>

#include "base/error.h"
#include "base/token.h"
#include "store/core/record.h"
#include "store/paper/packed_papers.h"
#include "store/paper/papers.h"

static const char *
keep_text(struct digest_contents *contents, struct sql_statement *row, int column)
{
	const char *text = sql_get_text(row, column);

	return text ? digest_contents_keep(contents, text) : NULL;
}

static bool
load_references(struct store *store, struct digest_contents *contents, GError **error)
{
	static const char sql[] = "SELECT nullif(journal, ''), nullif(doi, ''), "
	                          "published_at, categories, keywords FROM paper"
	                          " WHERE seq = ?1";

	for (unsigned i = 0; i < contents->papers->len; i++) {
		struct digest_contents_paper *paper =
		    digest_contents_get_paper(contents, i);
		sql_auto *statement = sql_bind(store, sql, error, SQL_INT(paper->seq));

		if (!statement ||
		    record_next(statement, "paper", "TTNTT", error) != SQL_STEP_ROW)
			return false;
		paper->reference = (struct digest_reference){
		    .journal = keep_text(contents, statement, 0),
		    .doi = keep_text(contents, statement, 1),
		    .published_at = sql_get_int(statement, 2),
		    .categories = keep_text(contents, statement, 3),
		    .keywords = keep_text(contents, statement, 4),
		};
	}
	return true;
}

/* The last day of the papers; that of the digest if it has none. */
static const char *
find_newest_day(const struct digest_record *digest_record)
{
	const struct digest_contents *contents = digest_record->contents;
	const char *newest = contents->papers->len ? "" : digest_record->date;

	for (unsigned i = 0; i < contents->papers->len; i++) {
		const char *day = digest_contents_get_paper(contents, i)->day;

		if (strcmp(day, newest) > 0)
			newest = day;
	}
	return newest;
}

static bool
insert(struct store *store, struct digest_record *digest_record, GError **error)
{
	static const char sql[] =
	    "INSERT INTO digest (subscriber_id, slot, date, created_at, state,"
	    " message_token, papers, newest_day, event_id, contents)"
	    " VALUES (?1, ?2, ?3, ?4, 'live', ?5, ?6, ?7, ?8, ?9) RETURNING id";
	const struct digest_contents *contents = digest_record->contents;
	g_autoptr(GByteArray) packed = digest_contents_pack(contents);

	return sql_number(store, sql, &digest_record->id, error,
	    SQL_INT(digest_record->subscriber_id), SQL_TEXT(digest_record->slot),
	    SQL_TEXT(digest_record->date), SQL_INT(digest_record->created_at),
	    SQL_TEXT(digest_record->message_token), SQL_INT(contents->papers->len),
	    SQL_TEXT(find_newest_day(digest_record)), SQL_INT(digest_record->event_id),
	    SQL_BLOB(packed->data, packed->len));
}

bool
digests_insert(struct store *store, struct digest_record *const *digest_records,
    unsigned count, GError **error)
{
	for (unsigned i = 0; i < count; i++) {
		struct digest_contents *contents = digest_records[i]->contents;

		if (contents->style.attach != PREFERENCE_ATTACH_NONE &&
		    !load_references(store, contents, error))
			return false;
		if (!insert(store, digest_records[i], error))
			return false;
	}
	return true;
}

bool
digests_queue(struct store *store, const GArray *ids, enum outbox_priority priority,
    GError **error)
{
	static const char sql[] = SQL_WITH_LIST(
	    "INSERT INTO outbox (kind, subscriber_id, digest_id, state, queued_at,"
	    " next_try_at, priority) SELECT 'digest', subscriber_id, id, 'NEW',"
	    " created_at, created_at, CAST(? AS BIGINT) FROM digest WHERE id IN (",
	    "?", "?", ") ORDER BY id");

	return sql_exec_list(store, sql, ids, error, SQL_INT(priority));
}

bool
digests_load_latest(
    struct store *store, int64_t subscriber_id, int64_t *made_at, GError **error)
{
	static const char sql[] =
	    "SELECT coalesce(max(created_at), -1) FROM digest"
	    " WHERE subscriber_id = ?1 AND state IN ('live', 'sent')";

	return sql_number(store, sql, made_at, error, SQL_INT(subscriber_id));
}

bool
digests_load_reported(struct store *store, int64_t subscriber_id, int64_t now,
    int64_t *event_id, int64_t *made_at, GError **error)
{
	static const char sql[] =
	    "SELECT coalesce(max(event_id), 0),"
	    " coalesce(max(created_at) FILTER (WHERE created_at <= ?2), -1)"
	    " FROM digest WHERE subscriber_id = ?1 AND state IN ('live', 'sent')";
	sql_auto *statement =
	    sql_bind(store, sql, error, SQL_INT(subscriber_id), SQL_INT(now));

	if (!statement || record_next(statement, "digest", "nn", error) != SQL_STEP_ROW)
		return false;
	*event_id = sql_get_int(statement, 0);
	*made_at = sql_get_int(statement, 1);
	return true;
}

bool
digests_load_history(struct store *store, int64_t subscriber_id,
    struct digest_history *history, GError **error)
{
	static const char sql[] =
	    "SELECT count(*) FILTER (WHERE papers > 0), coalesce(sum(papers), 0),"
	    " coalesce(min(created_at), -1), coalesce(max(created_at), -1)"
	    " FROM digest WHERE subscriber_id = ?1 AND state IN ('live', 'sent')";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(subscriber_id));

	if (!statement ||
	    record_next(statement, "digest", "nnnn", error) != SQL_STEP_ROW)
		return false;
	*history = (struct digest_history){
	    .digests = sql_get_int(statement, 0),
	    .papers = sql_get_int(statement, 1),
	    .oldest_at = sql_get_int(statement, 2),
	    .latest_at = sql_get_int(statement, 3),
	};
	return true;
}

#define HEAD_COLUMNS                                                             \
	"SELECT d.id, d.subscriber_id, d.slot, d.date, d.created_at, s.address," \
	" s.name, CASE WHEN s.moved_at > s.created_at THEN s.moved_at"           \
	" ELSE s.created_at END, d.message_token"
#define HEAD_TABLES \
	" FROM digest d JOIN subscriber s ON s.id = d.subscriber_id WHERE d.id "

RECORD_LAYOUT_OF(head_layout, digest, "digest", "iitdntTnt", (),
    (.make = (void *(*)(void))digest_new), id, subscriber_id, slot, date, created_at,
    recipient, recipient_name, subscriber_since, message_token);

bool
digests_find_head(
    struct store *store, int64_t digest_id, struct digest **digest, GError **error)
{
	static const char sql[] = HEAD_COLUMNS HEAD_TABLES "= ?1";

	return record_find(store, sql, &head_layout, digest, error, SQL_INT(digest_id));
}

/* @param paper_cache  or NULL */
static struct paper *
load_paper(
    struct store *store, struct paper_cache *paper_cache, int64_t seq, GError **error)
{
	pb_auto(stored_paper) stored = NULL;

	if (paper_cache)
		return paper_cache_get(paper_cache, seq, error);
	stored = papers_load(store, seq, error);
	return stored ? g_steal_pointer(&stored->paper) : NULL;
}

/* Set the paper of an entry to the row that it was merged with. @param is_twice  set if
 * the digest has that row, too */
static bool
follow_paper(struct store *store, struct digest_contents *contents, unsigned i,
    bool *is_twice, GError **error)
{
	struct digest_contents_paper *paper = digest_contents_get_paper(contents, i);
	int64_t seq;

	if (!packed_papers_find_moved(store, paper->seq, &seq, error))
		return false;
	*is_twice = false;
	for (unsigned j = 0; j < contents->papers->len; j++)
		*is_twice |= digest_contents_get_paper(contents, j)->seq == seq;
	paper->seq = seq;
	return true;
}

static bool
add_entry(struct store *store, struct paper_cache *paper_cache,
    struct digest_contents *contents, unsigned i, struct digest *digest, GError **error)
{
	struct digest_contents_paper *stored = digest_contents_get_paper(contents, i);
	g_autoptr(GError) problem = NULL;
	struct paper *paper = load_paper(store, paper_cache, stored->seq, &problem);
	bool is_twice = false;

	if (!paper && g_error_matches(problem, PB_ERROR, PB_ERROR_NOT_FOUND)) {
		g_clear_error(&problem);
		if (!follow_paper(store, contents, i, &is_twice, error))
			return false;
		if (is_twice)
			return true;
		paper = load_paper(store, paper_cache, stored->seq, &problem);
	}
	if (!pb_error_forward(error, &problem))
		return false;
	/* Attached files show papers as they were; these are not shared. */
	if (contents->style.attach != PREFERENCE_ATTACH_NONE)
		digest_reference_apply(&stored->reference, paper);
	digest_contents_add_entry(contents, i, paper, digest);
	return true;
}

/* @param row  of HEAD_COLUMNS and contents; @param paper_cache  or NULL */
static struct digest *
load_row(struct store *store, struct paper_cache *paper_cache,
    struct sql_statement *row, GError **error)
{
	pb_auto(digest) digest = NULL;
	pb_local(digest_contents) contents = {0};
	struct sql_bytes packed = sql_get_bytes(row, (int)head_layout.count);

	digest_contents_init(&contents);
	if (!record_check(row, head_layout.table, head_layout.checks, error))
		return NULL;
	digest = record_load(row, &head_layout);
	if (!digest_contents_unpack(&contents, packed.data, packed.size, error))
		return NULL;
	digest_contents_fill_digest(&contents, digest);
	if (contents.style.attach != PREFERENCE_ATTACH_NONE)
		paper_cache = NULL;
	for (unsigned i = 0; i < contents.papers->len; i++)
		if (!add_entry(store, paper_cache, &contents, i, digest, error))
			return NULL;
	return g_steal_pointer(&digest);
}

struct digest *
digests_load_shared(struct store *store, struct paper_cache *paper_cache,
    int64_t digest_id, GError **error)
{
	static const char sql[] = HEAD_COLUMNS ", d.contents" HEAD_TABLES "= ?1";
	sql_auto *row = NULL;
	enum sql_step step;

	if (paper_cache && !paper_cache_refresh(paper_cache, error))
		return NULL;
	row = sql_bind(store, sql, error, SQL_INT(digest_id));
	step = row ? sql_step(row, error) : SQL_STEP_FAILED;
	if (step == SQL_STEP_DONE)
		pb_fail(error, PB_ERROR_NOT_FOUND, "no such digest");
	return step == SQL_STEP_ROW ? load_row(store, paper_cache, row, error) : NULL;
}

struct digest *
digests_load(struct store *store, int64_t digest_id, GError **error)
{
	return digests_load_shared(store, NULL, digest_id, error);
}

GPtrArray *
digests_load_newest(
    struct store *store, int64_t subscriber_id, unsigned limit, GError **error)
{
	RECORD_LAYOUT(layout, digest_row, "digest", "ittdwWnn",
	    (ENUMERATION_DIGEST_STATE, ENUMERATION_OUTBOX_STATE), id, recipient, slot,
	    date, state, message_state, created_at, papers);
	static const char sql[] =
	    "SELECT g.id, s.address, g.slot, g.date, g.state, o.state, g.created_at,"
	    " g.papers"
	    " FROM digest g JOIN subscriber s ON s.id = g.subscriber_id"
	    " LEFT JOIN outbox o ON o.digest_id = g.id"
	    " ORDER BY g.id DESC LIMIT ?1";
	/* Few rows of many: use the index by subscriber, then sort. */
	static const char sql_person[] =
	    "SELECT g.id, s.address, g.slot, g.date, g.state, o.state, g.created_at,"
	    " g.papers"
	    " FROM digest g JOIN subscriber s ON s.id = g.subscriber_id"
	    " LEFT JOIN outbox o ON o.digest_id = g.id"
	    " WHERE g.subscriber_id = ?2 ORDER BY g.id DESC LIMIT ?1";

	return subscriber_id
	           ? record_load_all(store, sql_person, &layout, error, SQL_INT(limit),
	                 SQL_INT(subscriber_id))
	           : record_load_all(store, sql, &layout, error, SQL_INT(limit));
}

bool
digests_load_last(struct store *store, int64_t *digest_id, GError **error)
{
	static const char sql[] = "SELECT max(id) FROM digest";
	int64_t last;

	if (!sql_number(store, sql, &last, error))
		return false;
	if (last < 0)
		return pb_fail(error, PB_ERROR_NOT_FOUND, "no digests yet");
	*digest_id = last;
	return true;
}

bool
digests_count_sent(struct store *store, int64_t since, int64_t *count, GError **error)
{
	static const char sql[] = "SELECT count(*) FROM digest WHERE created_at >= ?1"
	                          " AND state <> 'live' AND state = 'sent'";

	return sql_number(store, sql, count, error, SQL_INT(since));
}

bool
digests_load_last_built(
    struct store *store, int64_t subscriber_id, int64_t *at, GError **error)
{
	/* The "+ 0" makes PostgreSQL read the subscriber's digests, not all from the
	 * newest one on until it finds theirs. */
	static const char sql[] =
	    "SELECT (SELECT created_at FROM digest WHERE id ="
	    " (SELECT max(id + 0) FROM digest WHERE subscriber_id = ?1))";

	return sql_number(store, sql, at, error, SQL_INT(subscriber_id));
}

bool
digests_find_by_token(struct store *store, const char *token, int64_t *digest_id,
    int64_t *subscriber_id, GError **error)
{
	static const char sql[] =
	    "SELECT d.id, CASE WHEN d.created_at < s.moved_at THEN 0 ELSE s.id END"
	    " FROM digest d"
	    " JOIN subscriber s ON s.id = d.subscriber_id"
	    " WHERE d.subscriber_id = ?1 AND d.message_token = ?2";
	g_autofree char *stored = g_strndup(token, TOKEN_LENGTH);
	sql_auto *statement = NULL;
	enum sql_step step;
	int64_t id;

	*digest_id = *subscriber_id = 0;
	if (!token_parse_id(token, &id))
		return true;
	statement = sql_bind(store, sql, error, SQL_INT(id), SQL_TEXT(stored));
	step =
	    statement ? record_next(statement, "digest", "in", error) : SQL_STEP_FAILED;
	if (step == SQL_STEP_ROW) {
		*digest_id = sql_get_int(statement, 0);
		*subscriber_id = sql_get_int(statement, 1);
	}
	return step != SQL_STEP_FAILED;
}
