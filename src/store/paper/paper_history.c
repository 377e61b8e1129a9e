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

/* A row of delivered papers. */
struct delivered_row {
	int64_t at, digest_id;
	unsigned end; /* of its papers among those of all rows */
};

/* Add the papers of all rows to a table, the newest version and the last time of each.
 */
static GHashTable *
make_deliveries(const GArray *rows, const GArray *papers)
{
	GHashTable *all =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	const struct delivered_row *row = (const void *)rows->data;

	for (unsigned i = 0; i < papers->len; i++) {
		const struct digest_contents_version *paper =
		    packed_papers_get(papers, i);
		struct paper_history_delivery *known =
		    g_hash_table_lookup(all, &paper->seq);

		while (i >= row->end)
			row++;
		if (!known) {
			known = g_new0(struct paper_history_delivery, 1);
			g_hash_table_insert(
			    all, g_memdup2(&paper->seq, sizeof(paper->seq)), known);
		}
		if (paper->replacement >= known->replacement)
			*known = (struct paper_history_delivery){.at = row->at,
			    .digest_id = row->digest_id,
			    .replacement = paper->replacement};
	}
	return all;
}

GHashTable *
paper_history_load_deliveries(
    struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql[] = "SELECT at, digest_id, papers FROM delivered"
	                          " WHERE subscriber_id = ?1 ORDER BY digest_id";
	g_autoptr(GArray) papers = packed_papers_new();
	g_autoptr(GArray) rows =
	    g_array_new(FALSE, FALSE, sizeof(struct delivered_row));
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(subscriber_id));
	enum sql_step step = SQL_STEP_FAILED;

	while (statement && (step = record_next(statement, "delivered", "nib",
	                         error)) == SQL_STEP_ROW) {
		struct delivered_row row = {
		    sql_get_int(statement, 0), sql_get_int(statement, 1), 0};

		if (!packed_papers_add(statement, 2, papers, error))
			return NULL;
		row.end = papers->len;
		g_array_append_val(rows, row);
	}
	if (step != SQL_STEP_DONE || !packed_papers_follow(store, papers, error))
		return NULL;
	return make_deliveries(rows, papers);
}

bool
paper_history_load_delivery(struct store *store, int64_t subscriber_id,
    int64_t paper_seq, struct paper_history_delivery *delivery, GError **error)
{
	static const char sql[] = "SELECT coalesce((SELECT times FROM digest_rejected"
	                          "  WHERE subscriber_id = ?1 AND paper_seq = ?2), 0)";
	g_autoptr(GHashTable) all =
	    paper_history_load_deliveries(store, subscriber_id, error);
	const struct paper_history_delivery *found =
	    all ? g_hash_table_lookup(all, &paper_seq) : NULL;
	int64_t refusals;

	if (!all || !sql_number(store, sql, &refusals, error, SQL_INT(subscriber_id),
	                SQL_INT(paper_seq)))
		return false;
	*delivery =
	    found ? *found : (struct paper_history_delivery){.at = -1, .digest_id = -1};
	delivery->refusals = refusals;
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
