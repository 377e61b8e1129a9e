/*
 * outbox.c - messages to send and their delivery status.
 */
#include "store/mail/outbox.h"

#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "store/core/record.h"

/* Check the header. @return the problem, or NULL */
static const char *
check_header(const char *bytes, size_t size)
{
	static const char name[] = "Message-ID:";
	bool has_id = false;

	for (const char *at = bytes, *end = bytes + size; at < end;) {
		const char *stop = memmem(at, (size_t)(end - at), "\r\n", 2);

		if (stop == at)
			return has_id ? NULL : "no Message-ID";
		if (!stop)
			break;
		has_id |= (size_t)(stop - at) > strlen(name) &&
		          g_ascii_strncasecmp(at, name, strlen(name)) == 0;
		at = stop + 2;
	}
	return "no empty line after the headers";
}

static bool
check_message(GBytes *message, GError **error)
{
	size_t size;
	const char *bytes = g_bytes_get_data(message, &size);
	const char *wrong;

	if (size > BOUNDS_STORED_BYTES)
		return pb_fail(error, PB_ERROR_INPUT,
		    "a message of %" G_GSIZE_FORMAT " bytes is too large", size);
	wrong = text_find_bad_line(bytes, size);
	if (!wrong)
		wrong = check_header(bytes, size);
	if (!wrong && bytes[size - 1] != '\n')
		wrong = "no CRLF at the end";
	if (!wrong)
		return true;
	return pb_fail(error, PB_ERROR_INPUT, "the message has %s", wrong);
}

bool
outbox_add_mail(
    struct store *store, const struct outbox_mail *mail, int64_t *id, GError **error)
{
	static const char sql[] =
	    "INSERT INTO outbox (kind, subscriber_id, recipient, address_key, sender,"
	    " message, state, queued_at, next_try_at, priority)"
	    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'NEW', ?7, ?7, ?8) RETURNING id";

	g_assert(mail->kind != OUTBOX_DIGEST);
	return check_message(mail->message, error) &&
	       sql_number(store, sql, id, error,
	           SQL_TEXT(record_get_word(ENUMERATION_OUTBOX_KIND, mail->kind)),
	           mail->subscriber_id > 0 ? SQL_INT(mail->subscriber_id) : SQL_NULL,
	           SQL_TEXT(mail->recipient), SQL_TEXT(mail->address_key),
	           SQL_TEXT(mail->sender), SQL_BYTES(mail->message), SQL_INT(mail->now),
	           SQL_INT(OUTBOX_PRIORITY_MAIL));
}

bool
outbox_find_mail(struct store *store, int64_t id, GBytes **message, GError **error)
{
	static const char sql[] = "SELECT message FROM outbox WHERE id = ?1";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(id));
	enum sql_step step = statement ? sql_step(statement, error) : SQL_STEP_FAILED;

	if (step == SQL_STEP_FAILED)
		return false;
	*message = step == SQL_STEP_ROW ? sql_dup_bytes(statement, 0) : NULL;
	return true;
}

bool
outbox_retry_now(struct store *store, int64_t now, GError **error)
{
	static const char sql[] = "UPDATE outbox SET next_try_at = ?1"
	                          " WHERE next_try_at > ?2";

	return sql_exec(store, sql, error, SQL_INT(now), SQL_INT(now + CLOCK_DAY_S));
}

bool
outbox_cancel(struct store *store, int64_t subscriber_id, int64_t now, GError **error)
{
	/* The mailer checks messages that are SENDING again before it sends them. */
	static const char sql[] =
	    "SELECT id, 'UNKNOWN' IN (state, held_from) FROM outbox"
	    " WHERE subscriber_id = ?1 AND kind = 'digest'"
	    " AND state IN ('NEW', 'DEFERRED', 'UNKNOWN', 'HELD')"
	    " AND ended_at IS NULL ORDER BY id";
	g_autoptr(GArray) found =
	    sql_load_numbers(store, sql, error, SQL_INT(subscriber_id));

	for (unsigned i = 0; found && i < found->len; i += 2)
		if (!outbox_cancel_one(store, g_array_index(found, int64_t, i),
		        g_array_index(found, int64_t, i + 1) == 1, now, error))
			return false;
	return found != NULL;
}

bool
outbox_foreach_sent(struct store *store, int64_t since, int64_t step,
    void (*add)(void *data, int64_t at, int64_t count), void *data, GError **error)
{
	static const char sql[] =
	    "SELECT at / ?2 * ?2, count(*) FROM ("
	    "  SELECT ended_at AS at FROM outbox WHERE ended_at >= ?1"
	    "   AND (state = 'SENT' OR state = 'UNKNOWN')"
	    "  UNION ALL SELECT claimed_at FROM outbox WHERE ended_at IS NULL"
	    "   AND state = 'UNKNOWN' AND claimed_at >= ?1) AS sent"
	    " GROUP BY 1 ORDER BY 1";
	sql_auto *statement =
	    sql_bind(store, sql, error, SQL_INT(since), SQL_INT(step));
	enum sql_step result = SQL_STEP_FAILED;

	while (statement &&
	       (result = record_next(statement, "outbox", "nn", error)) == SQL_STEP_ROW)
		add(data, sql_get_int(statement, 0), sql_get_int(statement, 1));
	return result != SQL_STEP_FAILED;
}

/* 0 in the cursor: not paused. */
#define PAUSE_CURSOR "delivery paused"

bool
outbox_load_pause(struct store *store, int64_t *since, GError **error)
{
	if (!store_load_cursor(store, PAUSE_CURSOR, 0, since, error))
		return false;
	*since = *since ? *since : -1;
	return true;
}

bool
outbox_save_pause(struct store *store, int64_t since, GError **error)
{
	return store_save_cursor(store, PAUSE_CURSOR, MAX(since, 0), error);
}

bool
outbox_load_next_try(struct store *store, int64_t *at, GError **error)
{
	static const char sql[] = "SELECT min(next_try_at) FROM outbox"
	                          " WHERE next_try_at IS NOT NULL";
	static const char sql_paused[] =
	    "SELECT min(next_try_at) FROM outbox WHERE next_try_at IS NOT NULL"
	    " AND priority > 0 AND priority = ?1";
	int64_t paused;

	if (!outbox_load_pause(store, &paused, error))
		return false;
	return paused < 0 ? sql_number(store, sql, at, error)
	                  : sql_number(store, sql_paused, at, error,
	                        SQL_INT(OUTBOX_PRIORITY_MAIL));
}

GPtrArray *
outbox_load_rows(struct store *store, const struct outbox_filter *choice, int64_t after,
    unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT o.id, o.digest_id, coalesce(o.recipient, s.address), o.state,"
	    " o.attempt, o.queued_at, o.next_try_at, o.ended_at, o.code, o.reply,"
	    " CASE WHEN o.state = 'HELD' THEN o.held_why END, o.kind,"
	    " o.possible_copies, o.crashes"
	    " FROM outbox o LEFT JOIN subscriber s ON s.id = o.subscriber_id"
	    " WHERE o.id > ?1 AND (?2 <> 0 OR o.ended_at IS NULL)"
	    " AND (?4 IS NULL OR o.state = ?4) AND (?5 = 0 OR o.subscriber_id = ?5)"
	    " ORDER BY o.id LIMIT ?3";
	RECORD_LAYOUT(layout, outbox_row, "outbox", "iITwnnNNNTWwnn",
	    (ENUMERATION_OUTBOX_STATE, ENUMERATION_OUTBOX_HELD_WHY,
	        ENUMERATION_OUTBOX_KIND),
	    id, digest_id, recipient, state, attempt, queued_at, next_try_at, ended_at,
	    code, reply, held_why, kind, copies, crashes);

	return record_load_all(store, sql, &layout, error, SQL_INT(after),
	    SQL_INT(choice->is_all), SQL_INT(limit), SQL_TEXT(choice->state),
	    SQL_INT(choice->subscriber_id));
}

/* In the order of message_columns. */
#define MESSAGE_COLUMNS                                                           \
	"o.id, o.digest_id, o.subscriber_id, coalesce(o.recipient, s.address),"   \
	" s.state, o.state, o.attempt,"                                           \
	" o.queued_at, o.next_try_at, o.claimed_at, o.ended_at, o.code, o.reply," \
	" o.cache_key, o.message_hash, o.held_from, o.held_why, g.slot, g.date, " \
	"g.state,"                                                                \
	" g.created_at,"                                                          \
	" coalesce(g.papers, 0), g.newest_day, o.kind,"                           \
	" o.possible_copies, o.crashes"                                           \
	" FROM outbox o LEFT JOIN subscriber s ON s.id = o.subscriber_id"         \
	" LEFT JOIN digest g ON g.id = o.digest_id"

RECORD_LAYOUT(message_layout, outbox_message, "outbox", "iIITTwnnNNNNTT*WWTDTNnDwnn",
    (ENUMERATION_OUTBOX_STATE, ENUMERATION_OUTBOX_HELD_FROM,
        ENUMERATION_OUTBOX_HELD_WHY, ENUMERATION_OUTBOX_KIND),
    id, digest_id, subscriber_id, recipient, recipient_state, state, attempt, queued_at,
    next_try_at, claimed_at, ended_at, code, reply, cache_key, message_hash, held_from,
    held_why, slot, date, digest_state, created_at, papers, newest_day, kind, copies,
    crashes);

/* @param sql  with the id as its value */
static struct outbox_message *
load_message(struct store *store, const char *sql, int64_t id, GError **error)
{
	struct outbox_message *message = NULL;

	if (record_find(store, sql, &message_layout, &message, error, SQL_INT(id)) &&
	    !message)
		pb_fail(error, PB_ERROR_NOT_FOUND, "no such message: %" G_GINT64_FORMAT,
		    id);
	return message;
}

struct outbox_message *
outbox_load_message(struct store *store, int64_t id, GError **error)
{
	static const char sql[] = "SELECT " MESSAGE_COLUMNS " WHERE o.id = ?1";

	return load_message(store, sql, id, error);
}

struct outbox_message *
outbox_lock_message(struct store *store, int64_t id, GError **error)
{
	static const char sql[] =
	    "SELECT " MESSAGE_COLUMNS " WHERE o.id = ?1" SQL_LOCK_ROWS("o");

	return load_message(store, sql, id, error);
}

bool
outbox_find_digest(struct store *store, int64_t digest_id,
    struct outbox_message **message, GError **error)
{
	static const char sql[] = "SELECT " MESSAGE_COLUMNS " WHERE o.digest_id = ?1";

	return record_find(
	    store, sql, &message_layout, message, error, SQL_INT(digest_id));
}

bool
outbox_find_oldest(struct store *store, bool is_deferred,
    struct outbox_message **message, GError **error)
{
	static const char sql[] =
	    "SELECT " MESSAGE_COLUMNS " WHERE o.ended_at IS NULL AND o.state <> 'HELD'"
	    " ORDER BY o.queued_at, o.id LIMIT 1";
	static const char sql_deferred[] =
	    "SELECT " MESSAGE_COLUMNS
	    " WHERE o.ended_at IS NULL AND (o.state = 'DEFERRED' OR o.state = "
	    "'UNKNOWN') AND o.state = 'DEFERRED'"
	    " ORDER BY o.queued_at, o.id LIMIT 1";

	return record_find(
	    store, is_deferred ? sql_deferred : sql, &message_layout, message, error);
}

GArray *
outbox_load_ids(struct store *store, const char *state, int64_t after, unsigned limit,
    GError **error)
{
	static const char sql[] =
	    "SELECT id FROM outbox WHERE id > ?1 AND ended_at IS NULL"
	    " AND (?2 IS NULL OR state = ?2) ORDER BY id LIMIT ?3";

	return sql_load_numbers(
	    store, sql, error, SQL_INT(after), SQL_TEXT(state), SQL_INT(limit));
}

bool
outbox_save_due(struct store *store, int64_t id, int64_t now, GError **error)
{
	static const char sql[] =
	    "UPDATE outbox SET next_try_at = ?2 WHERE id = ?1 AND ended_at IS NULL"
	    " AND state IN ('NEW', 'DEFERRED', 'UNKNOWN')";

	return sql_exec(store, sql, error, SQL_INT(id), SQL_INT(now));
}

bool
outbox_hold(struct store *store, int64_t id, const char *why, GError **error)
{
	static const char sql[] =
	    "UPDATE outbox SET held_from = state, held_why = ?2, state = 'HELD',"
	    " next_try_at = NULL WHERE id = ?1 AND ended_at IS NULL"
	    " AND state IN ('NEW', 'DEFERRED', 'UNKNOWN')";

	return sql_exec(store, sql, error, SQL_INT(id), SQL_TEXT(why));
}

bool
outbox_hold_slot(struct store *store, int64_t subscriber_id, const char *slot,
    const char *why, GError **error)
{
	static const char sql[] =
	    "UPDATE outbox SET held_from = state, held_why = ?3, state = 'HELD',"
	    " next_try_at = NULL WHERE state = 'NEW' AND digest_id ="
	    " (SELECT id FROM digest WHERE subscriber_id = ?1 AND slot = ?2)";

	return sql_exec(
	    store, sql, error, SQL_INT(subscriber_id), SQL_TEXT(slot), SQL_TEXT(why));
}

bool
outbox_release(struct store *store, int64_t id, int64_t now, GError **error)
{
	static const char sql[] =
	    "UPDATE outbox SET state = coalesce(held_from,"
	    "  CASE WHEN claimed_at IS NULL THEN 'NEW' ELSE 'UNKNOWN' END),"
	    " held_from = NULL, held_why = NULL, next_try_at = ?2, queued_at = ?2"
	    " WHERE id = ?1 AND state = 'HELD'";

	return sql_exec(store, sql, error, SQL_INT(id), SQL_INT(now));
}

bool
outbox_count_in_doubt(struct store *store, int64_t *count, GError **error)
{
	static const char sql[] =
	    "SELECT count(*) FROM outbox WHERE ended_at IS NULL AND (state = 'SENDING'"
	    " OR state = 'UNKNOWN' OR held_from = 'UNKNOWN')";

	return sql_number(store, sql, count, error);
}

bool
outbox_find_last_failed(
    struct store *store, int64_t after, struct outbox_message **message, GError **error)
{
	static const char sql[] =
	    "SELECT " MESSAGE_COLUMNS " WHERE o.ended_at > ?1 AND o.state = 'FAILED'"
	    " ORDER BY o.ended_at DESC LIMIT 1";

	return record_find(store, sql, &message_layout, message, error, SQL_INT(after));
}

bool
outbox_count_failed_since(
    struct store *store, int64_t after, int64_t *count, GError **error)
{
	static const char sql[] = "SELECT count(*) FROM outbox WHERE ended_at > ?1"
	                          " AND state = 'FAILED'";

	return sql_number(store, sql, count, error, SQL_INT(after));
}

/* ---- failed and returned messages, for bounces ---- */

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
	RECORD_LAYOUT(layout, outbox_failure, "outbox", "iIiNnnNT", (), id, digest_id,
	    subscriber_id, is_current, ended_at, stage, code, reply);

	return record_load_all(store, sql, &layout, error, SQL_INT(limit));
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
