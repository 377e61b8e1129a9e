/*
 * paper_history.c - history of a paper: its listings, and its digests for a subscriber.
 */
#include "store/paper/paper_history.h"

#include "store/core/record.h"
#include "store/paper/packed_papers.h"

GPtrArray *
paper_history_load_listings(struct store *store, int64_t paper_seq, GError **error)
{
	static const char sql[] =
	    "SELECT paper_seq, source, day, type, first_seen_at FROM listing"
	    " WHERE paper_seq = ?1 ORDER BY first_seen_at, day, source";
	RECORD_LAYOUT(layout, paper_history_listing, "listing", "itdwn",
	    (ENUMERATION_LISTING_TYPE), paper_seq, source, day, listing_type,
	    first_seen_at);

	return record_load_all(store, sql, &layout, error, SQL_INT(paper_seq));
}

/* @param is_found  set if the packed contents have the paper; then `shown`, too */
static bool
find_paper(struct store *store, struct sql_statement *row, int column,
    int64_t paper_seq, bool *is_found, enum digest_detail *shown, GError **error)
{
	pb_local(digest_contents) contents = {0};
	g_autoptr(GArray) papers = packed_papers_new();
	struct sql_bytes packed = sql_get_bytes(row, column);

	digest_contents_init(&contents);
	*is_found = false;
	if (!digest_contents_unpack(&contents, packed.data, packed.size, error) ||
	    !packed_papers_add(row, column, papers, error) ||
	    !packed_papers_follow(store, papers, error))
		return false;
	for (unsigned i = 0; i < papers->len && !*is_found; i++)
		if (packed_papers_get(papers, i)->seq == paper_seq) {
			*is_found = true;
			*shown = digest_contents_get_paper(&contents, i)->shown;
		}
	return true;
}

GPtrArray *
paper_history_load_digests(
    struct store *store, int64_t subscriber_id, int64_t paper_seq, GError **error)
{
	static const char sql[] =
	    "SELECT d.id, d.created_at, d.state, o.state, o.next_try_at,"
	    " o.ended_at, o.reply, coalesce(o.possible_copies, 0), d.contents"
	    " FROM digest d LEFT JOIN outbox o ON o.digest_id = d.id"
	    " WHERE d.subscriber_id = ?1 ORDER BY d.id";
	RECORD_LAYOUT(layout, paper_history_digest, "digest", "inwWNNTnb",
	    (ENUMERATION_DIGEST_STATE, ENUMERATION_OUTBOX_STATE), id, created_at, state,
	    message, next_try_at, ended_at, reply, copies);
	g_autoptr(GPtrArray) digests = g_ptr_array_new_with_free_func(g_free);
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(subscriber_id));
	enum sql_step step = SQL_STEP_FAILED;

	while (statement &&
	       (step = record_step(statement, &layout, error)) == SQL_STEP_ROW) {
		struct paper_history_digest *digest;
		enum digest_detail shown;
		bool is_found;

		if (!find_paper(store, statement, (int)layout.count, paper_seq,
		        &is_found, &shown, error))
			return NULL;
		if (!is_found)
			continue;
		digest = record_load(statement, &layout);
		digest->shown = shown;
		g_ptr_array_add(digests, digest);
	}
	return step == SQL_STEP_DONE ? g_steal_pointer(&digests) : NULL;
}

/* Whether packed papers have a paper in a version after `newest`, which is then set. */
static bool
find_version(struct store *store, struct sql_statement *row, int column,
    int64_t paper_seq, int64_t *newest, bool *is_newer, GError **error)
{
	g_autoptr(GArray) papers = packed_papers_new();

	*is_newer = false;
	if (!packed_papers_add(row, column, papers, error) ||
	    !packed_papers_follow(store, papers, error))
		return false;
	for (unsigned i = 0; i < papers->len; i++) {
		const struct digest_contents_version *paper =
		    packed_papers_get(papers, i);

		if (paper->seq == paper_seq && paper->replacement > *newest) {
			*newest = paper->replacement;
			*is_newer = true;
		}
	}
	return true;
}

bool
paper_history_load_delivery(struct store *store, int64_t subscriber_id,
    int64_t paper_seq, struct paper_history_delivery *delivery, GError **error)
{
	static const char sql[] = "SELECT at, digest_id, papers FROM delivered"
	                          " WHERE subscriber_id = ?1 ORDER BY digest_id";
	static const char sql_refusals[] =
	    "SELECT coalesce((SELECT times FROM digest_rejected"
	    "  WHERE subscriber_id = ?1 AND paper_seq = ?2), 0)";
	struct paper_history_delivery found = {.at = -1, .digest_id = -1};
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(subscriber_id));
	enum sql_step step = SQL_STEP_FAILED;
	int64_t newest = -1;

	while (statement && (step = record_next(statement, "delivered", "nib",
	                         error)) == SQL_STEP_ROW) {
		bool is_newer;

		if (!find_version(
		        store, statement, 2, paper_seq, &newest, &is_newer, error))
			return false;
		if (is_newer) {
			found.at = sql_get_int(statement, 0);
			found.digest_id = sql_get_int(statement, 1);
			found.replacement = newest;
		}
	}
	if (step != SQL_STEP_DONE ||
	    !sql_number(store, sql_refusals, &found.refusals, error,
	        SQL_INT(subscriber_id), SQL_INT(paper_seq)))
		return false;
	*delivery = found;
	return true;
}

bool
paper_history_load_first_day(struct store *store, char day[11], GError **error)
{
	static const char sql[] = "SELECT coalesce(min(last_day), '') FROM paper";
	sql_auto *statement = sql_bind(store, sql, error);

	if (!statement || record_next(statement, "paper", "D", error) != SQL_STEP_ROW)
		return false;
	g_strlcpy(day, sql_get_text(statement, 0), 11);
	return true;
}

GPtrArray *
paper_history_load_days(struct store *store, const char *oldest_day, GError **error)
{
	static const char sql[] =
	    "SELECT last_day, count(*) FROM paper"
	    " WHERE last_day >= ?1 GROUP BY last_day ORDER BY last_day";
	RECORD_LAYOUT(layout, paper_history_day, "paper", "dn", (), day, papers);

	return record_load_all(store, sql, &layout, error, SQL_TEXT(oldest_day));
}
