/*
 * paper_history.c - history of a paper: its listings, and its digests for a subscriber.
 */
#include "store/paper/paper_history.h"

#include "store/core/enumeration.h"
#include "store/core/sql.h"

void
paper_history_listing_free(struct paper_history_listing *listing)
{
	if (!listing)
		return;
	g_free(listing->source);
	g_free(listing->listing_type);
	g_free(listing);
}

void
paper_history_digest_free(struct paper_history_digest *digest)
{
	if (!digest)
		return;
	g_free(digest->state);
	g_free(digest->message);
	g_free(digest->reply);
	g_free(digest);
}

GPtrArray *
paper_history_load_listings(struct store *store, int64_t paper_seq, GError **error)
{
	static const char sql[] =
	    "SELECT source, day, type, first_seen_at, paper_seq FROM listing"
	    " WHERE paper_seq = ?1 ORDER BY first_seen_at, day, source";
	static const struct enumeration_column enumerations[] = {
	    {2, ENUMERATION_LISTING_TYPE, ENUMERATION_VALUE, 4}};
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(paper_seq));
	g_autoptr(GPtrArray) listings =
	    g_ptr_array_new_with_free_func((GDestroyNotify)paper_history_listing_free);
	enum sql_step step;

	if (!statement)
		return NULL;
	while (
	    (step = ENUMERATION_STEP(statement, enumerations, error)) == SQL_STEP_ROW) {
		struct paper_history_listing *listing =
		    g_new0(struct paper_history_listing, 1);

		listing->source = sql_dup_text(statement, 0);
		g_strlcpy(listing->day, (const char *)sqlite3_column_text(statement, 1),
		    sizeof(listing->day));
		listing->listing_type = sql_dup_text(statement, 2);
		listing->first_seen_at = sql_get_int(statement, 3);
		g_ptr_array_add(listings, listing);
	}
	return step == SQL_STEP_DONE ? g_steal_pointer(&listings) : NULL;
}

GPtrArray *
paper_history_load_digests(
    struct store *store, int64_t subscriber_id, int64_t paper_seq, GError **error)
{
	static const char sql[] =
	    "SELECT d.id, d.created_at, d.state, i.shown, o.state, o.next_try_at,"
	    " o.ended_at, o.reply, ifnull(o.possible_copies, 0) FROM digest d"
	    " JOIN digest_item i ON i.digest_id = d.id AND i.paper_seq = ?2"
	    " LEFT JOIN outbox o ON o.digest_id = d.id"
	    " WHERE d.subscriber_id = ?1 ORDER BY d.id";
	static const struct enumeration_column enumerations[] = {
	    {2, ENUMERATION_DIGEST_STATE, ENUMERATION_VALUE, 0},
	    {3, ENUMERATION_DIGEST_ITEM_SHOWN, ENUMERATION_VALUE, 0},
	    {4, ENUMERATION_OUTBOX_STATE, ENUMERATION_OPTIONAL, 0},
	};
	sql_auto *statement =
	    sql_bind(store, sql, error, SQL_INT(subscriber_id), SQL_INT(paper_seq));
	g_autoptr(GPtrArray) digests =
	    g_ptr_array_new_with_free_func((GDestroyNotify)paper_history_digest_free);
	enum sql_step step;

	if (!statement)
		return NULL;
	while (
	    (step = ENUMERATION_STEP(statement, enumerations, error)) == SQL_STEP_ROW) {
		struct paper_history_digest *digest =
		    g_new0(struct paper_history_digest, 1);

		digest->id = sql_get_int(statement, 0);
		digest->created_at = sql_get_int(statement, 1);
		digest->state = sql_dup_text(statement, 2);
		digest->shown = (enum digest_detail)sql_get_int(statement, 3);
		digest->message = sql_dup_text(statement, 4);
		digest->next_try_at = sql_get_int(statement, 5);
		digest->ended_at = sql_get_int(statement, 6);
		digest->reply = sql_dup_text(statement, 7);
		digest->copies = (unsigned)sql_get_int(statement, 8);
		g_ptr_array_add(digests, digest);
	}
	return step == SQL_STEP_DONE ? g_steal_pointer(&digests) : NULL;
}

bool
paper_history_load_delivery(struct store *store, int64_t subscriber_id,
    int64_t paper_seq, struct paper_history_delivery *delivery, GError **error)
{
	static const char sql[] = "SELECT (SELECT at FROM delivered"
	                          "  WHERE subscriber_id = ?1 AND paper_seq = ?2"
	                          "  ORDER BY replacement DESC LIMIT 1),"
	                          " (SELECT digest_id FROM delivered"
	                          "  WHERE subscriber_id = ?1 AND paper_seq = ?2"
	                          "  ORDER BY replacement DESC LIMIT 1),"
	                          " coalesce((SELECT times FROM digest_rejected"
	                          "  WHERE subscriber_id = ?1 AND paper_seq = ?2), 0)";
	sql_auto *statement =
	    sql_bind(store, sql, error, SQL_INT(subscriber_id), SQL_INT(paper_seq));

	if (!statement || sql_step(statement, error) != SQL_STEP_ROW)
		return false;
	*delivery = (struct paper_history_delivery){
	    .at = sql_get_int(statement, 0),
	    .digest_id = sql_get_int(statement, 1),
	    .refusals = sql_get_int(statement, 2),
	};
	return true;
}

bool
paper_history_load_first_day(struct store *store, char day[11], GError **error)
{
	static const char sql[] = "SELECT coalesce(min(last_day), '') FROM paper";
	sql_auto *statement = sql_bind(store, sql, error);

	if (!statement || sql_step(statement, error) != SQL_STEP_ROW)
		return false;
	g_strlcpy(day, (const char *)sqlite3_column_text(statement, 0), 11);
	return true;
}

GPtrArray *
paper_history_load_papers(struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql[] =
	    "SELECT p.id FROM delivered d JOIN paper p ON p.seq = d.paper_seq"
	    " WHERE d.subscriber_id = ?1 GROUP BY p.seq"
	    " ORDER BY max(d.at) DESC, p.seq DESC";

	return sql_load_texts(store, sql, error, SQL_INT(subscriber_id));
}
