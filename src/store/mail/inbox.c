/*
 * inbox.c - queue of inbound messages.
 */
#include "store/mail/inbox.h"

#include "base/bounds.h"
#include "base/error.h"
#include "store/core/record.h"

#define COLUMNS                                                                   \
	"id, key, receiver, sender, recipient, received_at, size, state, tries, " \
	"next_try_at, ended_at, verdict, started"

RECORD_LAYOUT(layout, inbox_row, "inbox", "itwTTnnwnNNTn",
    (ENUMERATION_INBOX_RECEIVER, ENUMERATION_INBOX_STATE), id, key, receiver, sender,
    recipient, received_at, size, state, tries, next_try_at, ended_at, verdict,
    started);

bool
inbox_insert(struct store *store, const struct inbox_new *mail, int64_t now,
    bool *is_stored, GError **error)
{
	static const char sql[] = "INSERT INTO inbox"
	                          " (key, receiver, sender, recipient, received_at, "
	                          "size, state, next_try_at, raw)"
	                          " VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'new', ?5, ?7)"
	                          " ON CONFLICT (key) DO NOTHING";
	/* Another of our addresses that the same message was sent to. */
	static const char sql_recipient[] =
	    "UPDATE inbox SET recipient = coalesce(recipient || '\n', '') || ?2"
	    " WHERE key = ?1 AND state = 'new' AND ?2 IS NOT NULL"
	    " AND (recipient IS NULL OR replace('\n' || recipient || '\n',"
	    "  '\n' || ?2 || '\n', '') = '\n' || recipient || '\n')"
	    " AND coalesce(length(recipient), 0) + 1 + length(?2) <= ?3";
	unsigned count;

	if (!sql_exec_count(store, sql, &count, error, SQL_TEXT(mail->key),
	        SQL_TEXT(mail->receiver), SQL_TEXT(mail->sender),
	        SQL_TEXT(mail->recipient), SQL_INT(now),
	        SQL_INT((int64_t)MAX(mail->size, mail->full_size)),
	        /* Not NULL for an empty message. */
	        SQL_BLOB(mail->size ? mail->raw : "", mail->size)))
		return false;
	if (!count && !sql_exec(store, sql_recipient, error, SQL_TEXT(mail->key),
	                  SQL_TEXT(mail->recipient), SQL_INT(BOUNDS_RECIPIENTS_BYTES)))
		return false;
	*is_stored = count > 0;
	return true;
}

GArray *
inbox_load_due(struct store *store, int64_t now, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT id FROM inbox WHERE state = 'new' AND next_try_at <= ?1"
	    " ORDER BY next_try_at, id LIMIT ?2";

	return sql_load_numbers(store, sql, error, SQL_INT(now), SQL_INT(limit));
}

bool
inbox_load_next_due(struct store *store, int64_t *at, GError **error)
{
	static const char sql[] =
	    "SELECT min(next_try_at) FROM inbox WHERE state = 'new'";

	return sql_number(store, sql, at, error);
}

struct inbox_row *
inbox_load(struct store *store, int64_t id, GBytes **raw, GError **error)
{
	static const char sql[] = "SELECT " COLUMNS " FROM inbox WHERE id = ?1";
	static const char sql_raw[] =
	    "SELECT " COLUMNS ", raw FROM inbox WHERE id = ?1";
	sql_auto *statement = sql_bind(store, raw ? sql_raw : sql, error, SQL_INT(id));
	enum sql_step step =
	    statement ? record_step(statement, &layout, error) : SQL_STEP_FAILED;
	struct inbox_row *row =
	    step == SQL_STEP_ROW ? record_load(statement, &layout) : NULL;

	if (step == SQL_STEP_DONE)
		pb_fail(error, PB_ERROR_NOT_FOUND,
		    "no such inbound message: %" G_GINT64_FORMAT, id);
	if (row && raw)
		*raw = sql_dup_bytes(statement, 13);
	return row;
}

GPtrArray *
inbox_load_batch(struct store *store, const char *state, int64_t before, unsigned limit,
    GError **error)
{
	static const char sql[] = "SELECT " COLUMNS " FROM inbox WHERE id < ?1"
	                          " AND CASE WHEN ?2 IS NULL THEN state <> 'done'"
	                          "  ELSE state = ?2 END"
	                          " ORDER BY id DESC LIMIT ?3";

	return record_load_all(store, sql, &layout, error, SQL_INT(before),
	    SQL_TEXT(state), SQL_INT(limit));
}

bool
inbox_mark_done(
    struct store *store, int64_t id, const char *verdict, int64_t now, GError **error)
{
	static const char sql[] =
	    "UPDATE inbox SET state = 'done', sender = NULL, recipient = NULL,"
	    " raw = NULL, next_try_at = NULL, ended_at = ?3, verdict = ?2"
	    " WHERE id = ?1 AND state <> 'done'";

	return sql_exec(
	    store, sql, error, SQL_INT(id), SQL_TEXT(verdict), SQL_INT(now));
}

bool
inbox_mark_started(struct store *store, int64_t id, unsigned started, GError **error)
{
	static const char sql[] =
	    "UPDATE inbox SET started = ?2 WHERE id = ?1 AND state = 'new'";

	return sql_exec(store, sql, error, SQL_INT(id), SQL_INT(started));
}

bool
inbox_load_newest(struct store *store, int64_t *id, GError **error)
{
	static const char sql[] = "SELECT coalesce(max(id), 0) FROM inbox";

	return sql_number(store, sql, id, error);
}

bool
inbox_save_failure(struct store *store, int64_t id, const char *verdict,
    int64_t next_try_at, GError **error)
{
	static const char sql[] =
	    "UPDATE inbox SET tries = tries + 1, started = 0, next_try_at = ?3,"
	    " verdict = ?2"
	    " WHERE id = ?1 AND state = 'new'";

	return sql_exec(
	    store, sql, error, SQL_INT(id), SQL_TEXT(verdict), SQL_INT(next_try_at));
}

bool
inbox_save_quarantined(
    struct store *store, int64_t id, const char *verdict, int64_t now, GError **error)
{
	static const char sql[] =
	    "UPDATE inbox SET state = 'quarantined', tries = tries + 1,"
	    " next_try_at = NULL, ended_at = ?3, verdict = ?2"
	    " WHERE id = ?1 AND state = 'new'";

	return sql_exec(
	    store, sql, error, SQL_INT(id), SQL_TEXT(verdict), SQL_INT(now));
}

bool
inbox_retry_at(struct store *store, int64_t id, int64_t now, GError **error)
{
	static const char sql[] =
	    "UPDATE inbox SET state = 'new', tries = 0, started = 0, next_try_at = ?2,"
	    " ended_at = NULL WHERE id = ?1 AND state <> 'done'";

	return sql_exec(store, sql, error, SQL_INT(id), SQL_INT(now));
}

bool
inbox_count_new(struct store *store, int64_t *count, int64_t *oldest_at, GError **error)
{
	static const char sql[] = "SELECT count(*) FROM inbox WHERE state = 'new'";
	static const char sql_oldest[] =
	    "SELECT min(received_at) FROM inbox WHERE state = 'new'";
	int64_t oldest;

	if (!sql_number(store, sql_oldest, &oldest, error) ||
	    !sql_number(store, sql, count, error))
		return false;
	*oldest_at = oldest;
	return true;
}

GPtrArray *
inbox_load_unanswered(struct store *store, int64_t since, GError **error)
{
	static const char sql[] =
	    "SELECT count(*) || ' ' || verdict FROM inbox"
	    " WHERE state = 'done' AND ended_at >= ?1"
	    " AND (verdict LIKE 'no reply%' OR verdict LIKE 'rate limited%')"
	    " GROUP BY verdict ORDER BY count(*) DESC, verdict LIMIT 10";

	return sql_load_texts(store, sql, error, SQL_INT(since));
}

bool
inbox_count_quarantined(struct store *store, int64_t *count, GError **error)
{
	static const char sql[] =
	    "SELECT count(*) FROM inbox WHERE state = 'quarantined'";

	return sql_number(store, sql, count, error);
}
