/*
 * digests.c - digests: their candidates, their content, and delivered papers.
 */
#include "store/mail/digests.h"

#include <string.h>

#include "base/error.h"
#include "store/core/record.h"
#include "store/paper/paper_row.h"
#include "store/paper/papers.h"

void
digest_record_item_free(struct digest_record_item *item)
{
	if (!item)
		return;
	g_free(item->venue);
	g_free(item->reasons);
	g_free(item);
}

/* Conditions that exclude a paper p from the digests of the subscriber ?1. */

/* A replaced paper is sent again to those who want updates. */
#define IS_DELIVERED                                                        \
	" EXISTS (SELECT 1 FROM delivered d"                                \
	"  WHERE d.subscriber_id = ?1 AND d.paper_seq = p.seq"              \
	"  AND d.replacement >= iif((SELECT updates = 'on' FROM subscriber" \
	"   WHERE id = ?1), p.replacement, 0))"
#define IS_IN_PROGRESS                                                             \
	" EXISTS (SELECT 1 FROM digest g JOIN digest_item i ON i.digest_id = g.id" \
	"  WHERE g.subscriber_id = ?1 AND g.state = 'live' AND i.paper_seq = p.seq)"
#define IS_REJECTED                                                           \
	" EXISTS (SELECT 1 FROM digest_rejected r WHERE r.subscriber_id = ?1" \
	"  AND r.paper_seq = p.seq AND r.times >= 2)"

bool
digests_find_exclusion(struct store *store, int64_t subscriber_id, int64_t paper_seq,
    enum digest_exclusion *exclusion, GError **error)
{
	static const char sql[] =
	    "SELECT coalesce((SELECT CASE WHEN" IS_DELIVERED " THEN 1"
	    " WHEN" IS_IN_PROGRESS " THEN 2 WHEN" IS_REJECTED " THEN 3 END"
	    " FROM paper p WHERE p.seq = ?2), 0)";
	int64_t found;

	if (!sql_number(
	        store, sql, &found, error, SQL_INT(subscriber_id), SQL_INT(paper_seq)))
		return false;
	*exclusion = (enum digest_exclusion)found;
	return true;
}

#define COLUMN(...) RECORD_COLUMN(candidate, __VA_ARGS__)
static const struct record_column candidate_columns[] = {COLUMN(filter_id),
    COLUMN(number), COLUMN(label), COLUMN(canonical), COLUMN(paper_seq), COLUMN(day),
    COLUMN(upvotes), COLUMN(since_day), COLUMN(replacement), COLUMN(max_papers),
    COLUMN(created_at), COLUMN(text)};
#undef COLUMN
#define COUNT_BLOCK 4 /* columns of a block */

GPtrArray *
digests_load_candidates(
    struct store *store, int64_t subscriber_id, const char *oldest_day, GError **error)
{
	/* Most subscribers have no live digest and no rejection: check these once, not
	 * for each paper. */
	static const char sql[] =
	    "SELECT s.filter_id, s.number, coalesce(s.name, s.text), f.canonical,"
	    " p.seq, p.last_day, p.upvotes, s.since_day, p.replacement,"
	    " ifnull(s.max_papers, 0), s.created_at, s.text"
	    " FROM subscription s JOIN filter f ON f.id = s.filter_id"
	    " JOIN match m ON m.filter_id = s.filter_id"
	    " JOIN json_each('[' || m.papers || ']') j JOIN paper p ON p.seq = j.value"
	    " WHERE s.subscriber_id = ?1 AND s.is_block = 0"
	    " AND p.last_day >= max(s.since_day, ?2)"
	    " AND NOT" IS_DELIVERED " AND (NOT EXISTS (SELECT 1 FROM digest"
	    "   WHERE subscriber_id = ?1 AND state = 'live') OR NOT" IS_IN_PROGRESS ")"
	    " AND (NOT EXISTS (SELECT 1 FROM digest_rejected WHERE subscriber_id = ?1)"
	    "  OR NOT" IS_REJECTED ")"
	    " ORDER BY coalesce(p.upvotes, 0) DESC, p.last_day DESC, p.id, s.number";
	static const struct record_layout layout =
	    RECORD_LAYOUT(candidate, candidate_columns);
	sql_auto *statement =
	    sql_bind(store, sql, error, SQL_INT(subscriber_id), SQL_TEXT(oldest_day));

	return record_load_all(statement, &layout, error);
}

GPtrArray *
digests_load_blocks(struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql[] =
	    "SELECT s.filter_id, s.number, coalesce(s.name, s.text), f.canonical"
	    " FROM subscription s JOIN filter f ON f.id = s.filter_id"
	    " WHERE s.subscriber_id = ?1 AND s.is_block = 1 ORDER BY s.number";
	static const struct record_layout layout = {.size = sizeof(struct candidate),
	    .columns = candidate_columns,
	    .count = COUNT_BLOCK};
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(subscriber_id));

	return record_load_all(statement, &layout, error);
}

bool
digests_has_slot(struct store *store, int64_t subscriber_id, const char *slot,
    bool *has, GError **error)
{
	static const char sql[] = "SELECT EXISTS (SELECT 1 FROM digest WHERE "
	                          "subscriber_id = ?1 AND slot = ?2)";

	return sql_has(store, sql, has, error, SQL_INT(subscriber_id), SQL_TEXT(slot));
}

#define TWICE(x) x x
#define INSERT_ITEM                                                              \
	"INSERT INTO digest_item (digest_id, position, paper_seq, day, upvotes," \
	" upvotes_before, stars, venue, shown, reasons, replacement)"            \
	" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
#define ONE_ITEM   ", (?1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
#define ITEMS_MOST 8

/* @param count  1, 2, 4 or ITEMS_MOST: starting a statement costs more than a row */
static bool
insert_items(struct store *store, int64_t digest_id, const GPtrArray *items,
    unsigned at, unsigned count, GError **error)
{
	static const char one[] = INSERT_ITEM;
	static const char two[] = INSERT_ITEM ONE_ITEM;
	static const char four[] = INSERT_ITEM ONE_ITEM TWICE(ONE_ITEM);
	static const char eight[] =
	    INSERT_ITEM ONE_ITEM TWICE(ONE_ITEM) TWICE(TWICE(ONE_ITEM));
	struct sql_value values[10 * ITEMS_MOST + 2] = {SQL_INT(digest_id)};
	struct sql_value *value = values + 1;

	for (unsigned i = at; i < at + count; i++) {
		const struct digest_record_item *item = items->pdata[i];

		*value++ = SQL_INT(i + 1);
		*value++ = SQL_INT(item->paper_seq);
		*value++ = SQL_TEXT(item->day);
		*value++ = SQL_INT_OR_NULL(item->upvotes);
		*value++ = SQL_INT_OR_NULL(item->upvotes_before);
		*value++ = SQL_INT_OR_NULL(item->stars);
		*value++ = SQL_TEXT(item->venue);
		*value++ = SQL_INT(item->shown);
		*value++ = SQL_TEXT(item->reasons);
		*value++ = SQL_INT(item->replacement);
	}
	return sql_exec_values(store,
	    count == 1   ? one
	    : count == 2 ? two
	    : count == 4 ? four
	                 : eight,
	    values, error);
}

static bool
insert_all_items(
    struct store *store, int64_t digest_id, const GPtrArray *items, GError **error)
{
	unsigned count = ITEMS_MOST;

	for (unsigned at = 0; at < items->len; at += count) {
		while (count > items->len - at)
			count /= 2;
		if (!insert_items(store, digest_id, items, at, count, error))
			return false;
	}
	return true;
}

static bool
insert_references(struct store *store, int64_t digest_id, GError **error)
{
	static const char sql[] =
	    "INSERT INTO digest_reference (digest_id, position, journal, doi,"
	    " published_at, categories, keywords) SELECT i.digest_id, i.position,"
	    " p.journal, p.doi, p.published_at, p.categories, p.keywords"
	    " FROM digest_item i JOIN paper p ON p.seq = i.paper_seq"
	    " WHERE i.digest_id = ?1";

	return sql_exec(store, sql, error, SQL_INT(digest_id));
}

static const char *
word_of(enum preference preference, int choice)
{
	struct preferences all = {0};

	all.choice[preference] = choice;
	return preferences_get_word(&all, preference);
}

bool
digests_insert(
    struct store *store, const struct digest_record *digest_record, GError **error)
{
	static const char sql_digest[] =
	    "INSERT INTO digest (subscriber_id, slot, date, created_at, state,"
	    " abstract, format, attach, grouping, language, is_note, coverage,"
	    " message_token, notices, filters, papers)"
	    " VALUES (?1, ?2, ?3, ?4, 'live', ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13,"
	    " ?14, ?15)";
	static const char sql_outbox[] =
	    "INSERT INTO outbox (kind, subscriber_id, digest_id, state, queued_at,"
	    " next_try_at) VALUES ('digest', ?1, ?2, 'NEW', ?3, ?3)";
	const struct digest_style *style = &digest_record->style;
	const GPtrArray *items = digest_record->items;
	int64_t digest_id;

	if (!sql_exec(store, sql_digest, error, SQL_INT(digest_record->subscriber_id),
	        SQL_TEXT(digest_record->slot), SQL_TEXT(digest_record->date),
	        SQL_INT(digest_record->created_at),
	        SQL_TEXT(word_of(PREFERENCE_ABSTRACT, (int)style->abstract)),
	        SQL_TEXT(word_of(PREFERENCE_FORMAT, (int)style->format)),
	        SQL_TEXT(word_of(PREFERENCE_ATTACH, (int)style->attach)),
	        SQL_TEXT(word_of(PREFERENCE_GROUP, (int)style->group)),
	        SQL_TEXT(*style->language ? style->language : NULL),
	        SQL_INT(items->len == 0),
	        SQL_TEXT(digest_record->coverage ? digest_record->coverage : ""),
	        SQL_TEXT(digest_record->message_token),
	        SQL_TEXT(digest_record->notices ? digest_record->notices : ""),
	        SQL_TEXT(digest_record->filters ? digest_record->filters : ""),
	        SQL_INT(items->len)))
		return false;
	digest_id = sqlite3_last_insert_rowid(store->db);
	return insert_all_items(store, digest_id, items, error) &&
	       (style->attach == PREFERENCE_ATTACH_NONE ||
	           insert_references(store, digest_id, error)) &&
	       sql_exec(store, sql_outbox, error, SQL_INT(digest_record->subscriber_id),
	           SQL_INT(digest_id), SQL_INT(digest_record->created_at));
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
digests_load_history(struct store *store, int64_t subscriber_id,
    struct digest_history *history, GError **error)
{
	static const char sql[] =
	    "SELECT count(*) FILTER (WHERE is_note = 0), coalesce(sum(papers), 0),"
	    " coalesce(min(created_at), -1), coalesce(max(created_at), -1)"
	    " FROM digest WHERE subscriber_id = ?1 AND state IN ('live', 'sent')";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(subscriber_id));

	if (!statement || sql_step(statement, error) != SQL_STEP_ROW)
		return false;
	*history = (struct digest_history){
	    .digests = sql_get_int(statement, 0),
	    .papers = sql_get_int(statement, 1),
	    .oldest_at = sql_get_int(statement, 2),
	    .latest_at = sql_get_int(statement, 3),
	};
	return true;
}

void
digests_parse_reasons(const char *text, GPtrArray *reasons)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (char **line = lines; *line; line++) {
		char *tab = strchr(*line, '\t');

		if (tab)
			*tab = '\0';
		g_ptr_array_add(
		    reasons, digest_reason_new(*line, hits_parse(tab ? tab + 1 : "")));
	}
}

bool
digests_find_head(
    struct store *store, int64_t digest_id, struct digest **found, GError **error)
{
	static const char sql[] =
	    "SELECT d.id, d.subscriber_id, d.slot, d.date, d.created_at, s.address,"
	    " s.name, max(s.created_at, coalesce(s.moved_at, 0)), d.abstract,"
	    " d.format, d.attach, d.grouping, d.language, d.is_note, d.coverage,"
	    " d.message_token, d.notices, d.filters"
	    " FROM digest d JOIN subscriber s ON s.id = d.subscriber_id"
	    " WHERE d.id = ?1";
#define COLUMN(...) RECORD_COLUMN(digest, __VA_ARGS__)
	static const struct record_column columns[] = {COLUMN(id),
	    COLUMN(subscriber_id), COLUMN(slot), COLUMN(date), COLUMN(created_at),
	    COLUMN(recipient), COLUMN(recipient_name), COLUMN(subscriber_since),
	    COLUMN(style.abstract, RECORD_CHECK(DIGEST_ABSTRACT)),
	    COLUMN(style.format, RECORD_CHECK(DIGEST_FORMAT)),
	    COLUMN(style.attach, RECORD_CHECK(DIGEST_ATTACH)),
	    COLUMN(style.group, RECORD_CHECK(DIGEST_GROUPING)), COLUMN(style.language),
	    COLUMN(is_note), COLUMN(coverage), COLUMN(message_token), COLUMN(notices),
	    COLUMN(filters)};
#undef COLUMN
	static const struct record_layout layout =
	    RECORD_LAYOUT(digest, columns, .make = (void *(*)(void))digest_new);
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(digest_id));

	return record_find(statement, &layout, found, error);
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

static void
load_reference(sqlite3_stmt *row, struct paper *paper)
{
	g_free(paper->journal);
	g_free(paper->doi);
	g_clear_pointer(&paper->categories, g_ptr_array_unref);
	g_clear_pointer(&paper->keywords, g_ptr_array_unref);
	paper->journal = sql_dup_text(row, 0);
	paper->doi = sql_dup_text(row, 1);
	paper->published_at = sqlite3_column_type(row, 2) == SQLITE_NULL
	                          ? PAPER_UNKNOWN
	                          : sql_get_int(row, 2);
	paper->categories = paper_row_load_texts(row, 3);
	paper->keywords = paper_row_load_texts(row, 4);
}

/* Papers as they were when the digest was built; they are not shared. */
static bool
load_references(struct store *store, struct digest *digest, GError **error)
{
	static const char sql[] =
	    "SELECT journal, doi, published_at, categories, keywords"
	    " FROM digest_reference WHERE digest_id = ?1 ORDER BY position";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(digest->id));
	enum sql_step step = statement ? SQL_STEP_DONE : SQL_STEP_FAILED;

	for (unsigned i = 0; statement && i < digest->entries->len; i++) {
		struct digest_entry *entry = digest->entries->pdata[i];

		step = sql_step(statement, error);
		if (step != SQL_STEP_ROW)
			break;
		load_reference(statement, entry->paper);
	}
	return step != SQL_STEP_FAILED;
}

struct digest *
digests_load(struct store *store, int64_t digest_id, GError **error)
{
	return digests_load_shared(store, NULL, digest_id, error);
}

struct digest *
digests_load_shared(struct store *store, struct paper_cache *paper_cache,
    int64_t digest_id, GError **error)
{
	static const char sql[] =
	    "SELECT paper_seq, day, upvotes, upvotes_before, stars, venue, shown,"
	    " reasons FROM digest_item WHERE digest_id = ?1 ORDER BY position";
	struct item {
		int64_t seq, upvotes, upvotes_before, stars;
		char day[DAY_BYTES];
		const char *venue;
		enum digest_detail shown;
		const char *reasons;
	};
#define COLUMN(...) RECORD_COLUMN(item, __VA_ARGS__)
	static const struct record_column columns[] = {COLUMN(seq), COLUMN(day),
	    COLUMN(upvotes), COLUMN(upvotes_before), COLUMN(stars), COLUMN(venue),
	    COLUMN(shown, RECORD_CHECK(DIGEST_ITEM_SHOWN)), COLUMN(reasons)};
#undef COLUMN
	static const struct record_layout layout = RECORD_LAYOUT(item, columns);
	pb_auto(digest) digest = NULL;
	sql_auto *statement = NULL;
	enum sql_step step;
	bool has_references;

	if (!digests_find_head(store, digest_id, &digest, error))
		return NULL;
	if (!digest) {
		pb_fail(error, PB_ERROR_NOT_FOUND, "no such digest");
		return NULL;
	}
	has_references = digest->style.attach != PREFERENCE_ATTACH_NONE;
	if (has_references)
		paper_cache = NULL;
	if (paper_cache && !paper_cache_refresh(paper_cache, error))
		return NULL;
	statement = sql_bind(store, sql, error, SQL_INT(digest_id));
	if (!statement)
		return NULL;
	while ((step = record_step(statement, &layout, error)) == SQL_STEP_ROW) {
		g_autofree struct item *item = record_load(statement, &layout);
		struct paper *paper = load_paper(store, paper_cache, item->seq, error);
		struct digest_entry *entry;

		if (!paper)
			return NULL;
		entry = digest_entry_new(paper, item->day);
		entry->upvotes = item->upvotes;
		entry->upvotes_before = item->upvotes_before;
		entry->stars = item->stars;
		entry->venue = g_strdup(item->venue);
		entry->shown = item->shown;
		digests_parse_reasons(item->reasons, entry->reasons);
		g_ptr_array_add(digest->entries, entry);
	}
	if (step != SQL_STEP_DONE ||
	    (has_references && !load_references(store, digest, error)))
		return NULL;
	return g_steal_pointer(&digest);
}

GPtrArray *
digests_load_newest(
    struct store *store, int64_t subscriber_id, unsigned limit, GError **error)
{
#define COLUMN(...) RECORD_COLUMN(digest_row, __VA_ARGS__)
	static const struct record_column columns[] = {COLUMN(id), COLUMN(recipient),
	    COLUMN(slot), COLUMN(date), COLUMN(state, RECORD_CHECK(DIGEST_STATE)),
	    COLUMN(message_state, RECORD_CHECK_OPTIONAL(OUTBOX_STATE)),
	    COLUMN(created_at), COLUMN(papers)};
#undef COLUMN
	static const struct record_layout layout = RECORD_LAYOUT(digest_row, columns);
	static const char sql[] =
	    "SELECT g.id, s.address, g.slot, g.date, g.state, o.state, g.created_at,"
	    " (SELECT count(*) FROM digest_item i WHERE i.digest_id = g.id)"
	    " FROM digest g JOIN subscriber s ON s.id = g.subscriber_id"
	    " LEFT JOIN outbox o ON o.digest_id = g.id"
	    " ORDER BY g.id DESC LIMIT ?1";
	/* Few rows of many: use the index by subscriber, then sort. */
	static const char sql_person[] =
	    "SELECT g.id, s.address, g.slot, g.date, g.state, o.state, g.created_at,"
	    " (SELECT count(*) FROM digest_item i WHERE i.digest_id = g.id)"
	    " FROM digest g JOIN subscriber s ON s.id = g.subscriber_id"
	    " LEFT JOIN outbox o ON o.digest_id = g.id"
	    " WHERE g.subscriber_id = ?2 ORDER BY g.id DESC LIMIT ?1";
	sql_auto *statement = subscriber_id
	                          ? sql_bind(store, sql_person, error, SQL_INT(limit),
	                                SQL_INT(subscriber_id))
	                          : sql_bind(store, sql, error, SQL_INT(limit));

	return record_load_all(statement, &layout, error);
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
digests_load_last_built(
    struct store *store, int64_t subscriber_id, int64_t *at, GError **error)
{
	static const char sql[] =
	    "SELECT (SELECT created_at FROM digest WHERE id ="
	    " (SELECT max(id) FROM digest WHERE subscriber_id = ?1))";

	return sql_number(store, sql, at, error, SQL_INT(subscriber_id));
}

bool
digests_find_by_token(struct store *store, const char *token, int64_t *digest_id,
    int64_t *subscriber_id, GError **error)
{
	static const char sql[] =
	    "SELECT d.id, iif(d.created_at < s.moved_at, 0, s.id) FROM digest d"
	    " JOIN subscriber s ON s.id = d.subscriber_id WHERE message_token = ?1";
	sql_auto *statement = sql_bind(store, sql, error, SQL_TEXT(token));
	enum sql_step step = statement ? sql_step(statement, error) : SQL_STEP_FAILED;

	*digest_id = *subscriber_id = 0;
	if (step == SQL_STEP_ROW) {
		*digest_id = sql_get_int(statement, 0);
		*subscriber_id = sql_get_int(statement, 1);
	}
	return step != SQL_STEP_FAILED;
}
