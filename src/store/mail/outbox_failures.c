/*
 * outbox_failures.c - failed and returned messages, for bounces.
 */
#include "store/core/record.h"
#include "store/mail/outbox.h"

GPtrArray *
outbox_load_failures(struct store *store, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT o.id, o.digest_id, o.subscriber_id,"
	    " CASE WHEN o.kind = 'digest' THEN o.claimed_at >= coalesce(s.moved_at, 0)"
	    "  ELSE o.address_key = s.address_key END,"
	    " o.ended_at, o.failed_stage, o.code, o.reply"
	    " FROM outbox o JOIN subscriber s ON s.id = o.subscriber_id"
	    " WHERE o.failed_stage IS NOT NULL ORDER BY o.id LIMIT ?1";
#define COLUMN(...) RECORD_COLUMN(outbox_failure, __VA_ARGS__)
	static const struct record_column columns[] = {COLUMN(id), COLUMN(digest_id),
	    COLUMN(subscriber_id), COLUMN(is_current), COLUMN(ended_at), COLUMN(stage),
	    COLUMN(code), COLUMN(reply)};
#undef COLUMN
	static const struct record_layout layout =
	    RECORD_LAYOUT(outbox_failure, columns, "outbox", "iIiNnnNT");
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(limit));

	return record_load_all(statement, &layout, error);
}

bool
outbox_mark_classified(struct store *store, int64_t id, GError **error)
{
	static const char sql[] = "UPDATE outbox SET failed_stage = NULL WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(id));
}

bool
outbox_requeue_returned(struct store *store, int64_t digest_id, int64_t since,
    int64_t next_try_at, bool *is_requeued, GError **error)
{
	static const char sql[] =
	    "UPDATE outbox SET state = 'DEFERRED', ended_at = NULL, next_try_at = ?3,"
	    " returned = returned + 1"
	    " WHERE digest_id = ?1 AND state = 'SENT' AND queued_at >= ?2 AND returned "
	    "< 5"
	    " AND (SELECT state FROM subscriber WHERE id = subscriber_id) = 'active'";
	static const char sql_digest[] =
	    "UPDATE digest SET state = 'live' WHERE id = ?1";
	static const char sql_delivered[] =
	    "DELETE FROM delivered"
	    " WHERE subscriber_id = (SELECT subscriber_id FROM digest WHERE id = ?1)"
	    " AND digest_id = ?1";
	unsigned count;

	if (!sql_exec_count(store, sql, &count, error, SQL_INT(digest_id),
	        SQL_INT(since), SQL_INT(next_try_at)))
		return false;
	*is_requeued = count > 0;
	return count == 0 ||
	       (sql_exec(store, sql_digest, error, SQL_INT(digest_id)) &&
	           sql_exec(store, sql_delivered, error, SQL_INT(digest_id)));
}
