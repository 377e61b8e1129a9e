/*
 * private_feeds.c - feeds of a subscriber's matches.
 */
#include "store/subscriber/private_feeds.h"

#include "store/core/record.h"
#include "store/core/sql.h"

bool
private_feeds_load_since(
    struct store *store, int64_t subscriber_id, int64_t *since, GError **error)
{
	static const char sql[] =
	    "SELECT coalesce((SELECT feeds_since FROM"
	    " subscriber WHERE id = ?1 AND feeds_since >= 0), -1)";

	return sql_number(store, sql, since, error, SQL_INT(subscriber_id));
}

bool
private_feeds_turn_on(
    struct store *store, int64_t subscriber_id, int64_t now, GError **error)
{
	static const char sql[] = "UPDATE subscriber SET feeds_since ="
	                          " CASE WHEN abs(feeds_since) >= ?2"
	                          " THEN abs(feeds_since) + 1 ELSE ?2 END"
	                          " WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(subscriber_id), SQL_INT(now));
}

bool
private_feeds_turn_off(struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql[] =
	    "UPDATE subscriber SET feeds_since = -abs(feeds_since) WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(subscriber_id));
}

bool
private_feeds_find_filter(struct store *store, int64_t subscription_id,
    struct private_feed_filter **filter, GError **error)
{
#define COLUMN(...) RECORD_COLUMN(private_feed_filter, __VA_ARGS__)
	static const struct record_column columns[] = {
	    COLUMN(subscriber_id), COLUMN(created_at), COLUMN(label)};
#undef COLUMN
	static const struct record_layout layout =
	    RECORD_LAYOUT(private_feed_filter, columns);
	static const char sql[] = "SELECT subscriber_id, created_at,"
	                          " coalesce(name, text) FROM subscription"
	                          " WHERE id = ?1 AND is_block = 0";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(subscription_id));

	return record_find(statement, &layout, filter, error);
}

GPtrArray *
private_feeds_load(struct store *store, int64_t subscriber_id, int64_t subscription_id,
    unsigned limit, GError **error)
{
#define COLUMN(...) RECORD_COLUMN(private_feed_entry, __VA_ARGS__)
	static const struct record_column columns[] = {
	    COLUMN(paper_seq), COLUMN(found_at), COLUMN(filters)};
#undef COLUMN
	static const struct record_layout layout =
	    RECORD_LAYOUT(private_feed_entry, columns);
	static const char sql[] =
	    "SELECT p.seq, max(m.decided_at), group_concat(coalesce(s.name, s.text), "
	    "', ')"
	    " FROM subscription s JOIN match m ON m.filter_id = s.filter_id"
	    " CROSS JOIN json_each('[' || m.papers || ']') j"
	    " JOIN paper p ON p.seq = CAST(j.value AS BIGINT)"
	    " WHERE s.subscriber_id = ?1 AND s.is_block = 0 AND (?2 = 0 OR s.id = ?2)"
	    " AND p.last_day >= s.since_day AND p.seq NOT IN"
	    "  (SELECT CAST(j.value AS BIGINT) FROM subscription t JOIN match n"
	    "   ON n.filter_id = t.filter_id"
	    "   CROSS JOIN json_each('[' || n.papers || ']') j"
	    "   WHERE t.subscriber_id = ?1 AND t.is_block = 1)"
	    " GROUP BY p.seq ORDER BY 2 DESC, p.seq DESC LIMIT ?3";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(subscriber_id),
	    SQL_INT(subscription_id), SQL_INT(limit));

	return record_load_all(statement, &layout, error);
}
