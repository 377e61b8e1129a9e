/*
 * inbox.c - queue of inbound messages.
 */
#include "store/mail/inbox.h"

#include "base/bounds.h"
#include "base/error.h"
#include "store/core/enumeration.h"
#include "store/core/sql.h"

#define COLUMNS                                                                   \
	"id, key, receiver, sender, recipient, received_at, size, state, tries, " \
	"next_try_at,"                                                            \
	" ended_at, verdict, started"

void
inbox_row_free(struct inbox_row *row)
{
	if (!row)
		return;
	g_free(row->key);
	g_free(row->receiver);
	g_free(row->sender);
	g_free(row->recipient);
	g_free(row->state);
	g_free(row->verdict);
	g_free(row);
}

static const struct enumeration_column enumerations[] = {
    {2, ENUMERATION_INBOX_RECEIVER, ENUMERATION_VALUE, 0},
    {7, ENUMERATION_INBOX_STATE, ENUMERATION_VALUE, 0},
};

static struct inbox_row *
read_row(sqlite3_stmt *statement)
{
	struct inbox_row *row = g_new0(struct inbox_row, 1);

	row->id = sql_get_int(statement, 0);
	row->key = sql_dup_text(statement, 1);
	row->receiver = sql_dup_text(statement, 2);
	row->sender = sql_dup_text(statement, 3);
	row->recipient = sql_dup_text(statement, 4);
	row->received_at = sql_get_int(statement, 5);
	row->size = sql_get_int(statement, 6);
	row->state = sql_dup_text(statement, 7);
	row->tries = (unsigned)sql_get_int(statement, 8);
	row->next_try_at = sql_get_int(statement, 9);
	row->ended_at = sql_get_int(statement, 10);
	row->verdict = sql_dup_text(statement, 11);
	row->started = (unsigned)sql_get_int(statement, 12);
	return row;
}

bool
inbox_insert(struct store *store, const struct inbox_new *mail, int64_t now,
    bool *is_fresh, GError **error)
{
	static const char sql[] = "INSERT INTO inbox"
	                          " (key, receiver, sender, recipient, received_at, "
	                          "size, state, next_try_at, raw)"
	                          " VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'new', ?5, ?7)"
	                          " ON CONFLICT (key) DO NOTHING";
	/* Another of our addresses that the same message was sent to. */
	static const char sql_recipient[] =
	    "UPDATE inbox SET recipient = ifnull(recipient || char(10), '') || ?2"
	    " WHERE key = ?1 AND state = 'new' AND ?2 IS NOT NULL"
	    " AND ifnull(instr(char(10) || recipient || char(10),"
	    "  char(10) || ?2 || char(10)), 0) = 0"
	    " AND ifnull(length(recipient), 0) + 1 + length(?2) <= ?3";
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
	*is_fresh = count > 0;
	return true;
}

GArray *
inbox_load_due(struct store *store, int64_t now, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT id FROM inbox WHERE state = 'new' AND next_try_at <= ?1"
	    " ORDER BY next_try_at, id LIMIT ?2";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(now), SQL_INT(limit));
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
	enum sql_step step;

	if (!statement)
		return NULL;
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW) {
		int64_t id = sql_get_int(statement, 0);

		g_array_append_val(ids, id);
	}
	return step == SQL_STEP_DONE ? g_steal_pointer(&ids) : NULL;
}

bool
inbox_load_next_due(struct store *store, int64_t *at, GError **error)
{
	static const char sql[] =
	    "SELECT min(next_try_at) FROM inbox WHERE state = 'new'";

	return sql_number(store, sql, at, error);
}

static struct inbox_row *
read_one(sqlite3_stmt *statement, int64_t id, GError **error)
{
	switch (ENUMERATION_STEP(statement, enumerations, error)) {
	case SQL_STEP_ROW:
		return read_row(statement);
	case SQL_STEP_DONE:
		g_set_error(error, PB_ERROR, PB_ERROR_NOT_FOUND,
		    "no such inbound message: %" G_GINT64_FORMAT, id);
		break;
	case SQL_STEP_FAILED:
		break;
	}
	return NULL;
}

struct inbox_row *
inbox_load(struct store *store, int64_t id, GBytes **raw, GError **error)
{
	static const char sql[] = "SELECT " COLUMNS " FROM inbox WHERE id = ?1";
	static const char sql_raw[] =
	    "SELECT " COLUMNS ", raw FROM inbox WHERE id = ?1";
	sql_auto *statement = sql_bind(store, raw ? sql_raw : sql, error, SQL_INT(id));
	struct inbox_row *row = statement ? read_one(statement, id, error) : NULL;

	if (row && raw)
		*raw = sql_dup_bytes(statement, 13);
	return row;
}

GPtrArray *
inbox_load_page(struct store *store, const char *state, int64_t before, unsigned limit,
    GError **error)
{
	static const char sql[] = "SELECT " COLUMNS " FROM inbox WHERE id < ?1"
	                          " AND CASE WHEN ?2 IS NULL THEN state <> 'done'"
	                          "  ELSE state = ?2 END"
	                          " ORDER BY id DESC LIMIT ?3";
	sql_auto *statement = sql_bind(
	    store, sql, error, SQL_INT(before), SQL_TEXT(state), SQL_INT(limit));
	g_autoptr(GPtrArray) rows =
	    g_ptr_array_new_with_free_func((GDestroyNotify)inbox_row_free);
	enum sql_step step;

	if (!statement)
		return NULL;
	while (
	    (step = ENUMERATION_STEP(statement, enumerations, error)) == SQL_STEP_ROW)
		g_ptr_array_add(rows, read_row(statement));
	return step == SQL_STEP_DONE ? g_steal_pointer(&rows) : NULL;
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

bool
inbox_count_quarantined(struct store *store, int64_t *count, GError **error)
{
	static const char sql[] =
	    "SELECT count(*) FROM inbox WHERE state = 'quarantined'";

	return sql_number(store, sql, count, error);
}

bool
inbox_prune_quarantine(struct store *store, int64_t before, unsigned limit,
    unsigned *count, GError **error)
{
	static const char sql[] =
	    "UPDATE inbox SET state = 'done', sender = NULL, recipient = NULL,"
	    " raw = NULL WHERE id IN (SELECT id FROM inbox"
	    "  WHERE state = 'quarantined' AND ended_at < ?1 LIMIT ?2)";

	return sql_exec_count(
	    store, sql, count, error, SQL_INT(before), SQL_INT(limit));
}

bool
inbox_prune(struct store *store, int64_t before, unsigned limit, unsigned *count,
    GError **error)
{
	static const char sql[] =
	    "DELETE FROM inbox WHERE id IN (SELECT id FROM inbox"
	    " WHERE state = 'done' AND received_at < ?1 LIMIT ?2)";

	return sql_exec_count(
	    store, sql, count, error, SQL_INT(before), SQL_INT(limit));
}
