/*
 * outbox_queue.c - what an operator sees of one message, and may do to one that waits.
 */
#include "store/mail/outbox_queue.h"

#include "base/error.h"
#include "store/core/enumeration.h"
#include "store/core/row_count.h"
#include "store/core/sql.h"

/* The columns that load_message() reads, in its order. */
#define MESSAGE_COLUMNS                                                            \
	"o.id, o.digest_id, o.subscriber_id, coalesce(o.recipient, s.address),"    \
	" s.state, o.state, o.attempt,"                                            \
	" o.queued_at, o.next_try_at, o.claimed_at, o.ended_at, o.code, o.reply,"  \
	" o.render_key, o.message_hash, o.held_from, o.held_why, g.slot, g.date, " \
	"g.state,"                                                                 \
	" g.created_at,"                                                           \
	" (SELECT count(*) FROM digest_item i WHERE i.digest_id = g.id),"          \
	" (SELECT max(day) FROM digest_item i WHERE i.digest_id = g.id), o.kind,"  \
	" o.possible_copies, o.crashes"                                            \
	" FROM outbox o LEFT JOIN subscriber s ON s.id = o.subscriber_id"          \
	" LEFT JOIN digest g ON g.id = o.digest_id"

void
outbox_message_free(struct outbox_message *message)
{
	if (!message)
		return;
	g_free(message->kind);
	g_free(message->recipient);
	g_free(message->recipient_state);
	g_free(message->state);
	g_free(message->reply);
	g_free(message->cache_key);
	g_free(message->held_from);
	g_free(message->held_why);
	g_free(message->slot);
	g_free(message->date);
	g_free(message->digest_state);
	g_free(message->newest_day);
	g_free(message);
}

static struct outbox_message *
load_message(sqlite3_stmt *row)
{
	struct outbox_message *message = g_new0(struct outbox_message, 1);

	message->id = sql_get_int(row, 0);
	message->digest_id = sql_get_int(row, 1);
	message->subscriber_id = sql_get_int(row, 2);
	message->recipient = sql_dup_text(row, 3);
	message->recipient_state = sql_dup_text(row, 4);
	message->state = sql_dup_text(row, 5);
	message->attempt = (unsigned)sql_get_int(row, 6);
	message->queued_at = sql_get_int(row, 7);
	message->next_try_at = sql_get_int(row, 8);
	message->claimed_at = sql_get_int(row, 9);
	message->ended_at = sql_get_int(row, 10);
	message->code = (int)sql_get_int(row, 11);
	message->reply = sql_dup_text(row, 12);
	message->cache_key = sql_dup_text(row, 13);
	message->message_hash = sql_get_int(row, 14);
	message->held_from = sql_dup_text(row, 15);
	message->held_why = sql_dup_text(row, 16);
	message->slot = sql_dup_text(row, 17);
	message->date = sql_dup_text(row, 18);
	message->digest_state = sql_dup_text(row, 19);
	message->created_at = sql_get_int(row, 20);
	message->papers = sql_get_int(row, 21);
	message->newest_day = sql_dup_text(row, 22);
	message->kind = sql_dup_text(row, 23);
	message->copies = (unsigned)sql_get_int(row, 24);
	message->crashes = (unsigned)sql_get_int(row, 25);
	return message;
}

/* @param message  set; NULL when there is no row */
static bool
find_one(sqlite3_stmt *statement, struct outbox_message **message, GError **error)
{
	static const struct enumeration_column enumerations[] = {
	    {4, ENUMERATION_SUBSCRIBER_STATE, ENUMERATION_OPTIONAL, 2},
	    {5, ENUMERATION_OUTBOX_STATE, ENUMERATION_VALUE, 0},
	    {15, ENUMERATION_OUTBOX_HELD_FROM, ENUMERATION_OPTIONAL, 0},
	    {16, ENUMERATION_OUTBOX_HELD_WHY, ENUMERATION_OPTIONAL, 0},
	    {19, ENUMERATION_DIGEST_STATE, ENUMERATION_OPTIONAL, 1},
	    {23, ENUMERATION_OUTBOX_KIND, ENUMERATION_VALUE, 0},
	};

	enum sql_step step = statement
	                         ? ENUMERATION_STEP(statement, enumerations, error)
	                         : SQL_STEP_FAILED;

	if (step == SQL_STEP_FAILED)
		return false;
	*message = step == SQL_STEP_ROW ? load_message(statement) : NULL;
	return true;
}

struct outbox_message *
outbox_load_message(struct store *store, int64_t id, GError **error)
{
	static const char sql[] = "SELECT " MESSAGE_COLUMNS " WHERE o.id = ?1";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(id));
	pb_auto(outbox_message) message = NULL;

	if (find_one(statement, &message, error) && !message)
		g_set_error(error, PB_ERROR, PB_ERROR_NOT_FOUND,
		    "no such message: %" G_GINT64_FORMAT, id);
	return g_steal_pointer(&message);
}

bool
outbox_find_digest(struct store *store, int64_t digest_id,
    struct outbox_message **message, GError **error)
{
	static const char sql[] = "SELECT " MESSAGE_COLUMNS " WHERE o.digest_id = ?1";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(digest_id));

	return find_one(statement, message, error);
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
	    " WHERE o.ended_at IS NULL AND o.state = 'DEFERRED'"
	    " ORDER BY o.queued_at, o.id LIMIT 1";
	sql_auto *statement = is_deferred ? sql_bind(store, sql_deferred, error)
	                                  : sql_bind(store, sql, error);

	return find_one(statement, message, error);
}

bool
outbox_find_last_failed(
    struct store *store, int64_t after, struct outbox_message **message, GError **error)
{
	static const char sql[] =
	    "SELECT " MESSAGE_COLUMNS " WHERE o.ended_at > ?1 AND o.state = 'FAILED'"
	    " ORDER BY o.ended_at DESC LIMIT 1";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(after));

	return find_one(statement, message, error);
}

GArray *
outbox_load_ids(struct store *store, const char *state, int64_t after, unsigned limit,
    GError **error)
{
	static const char sql[] =
	    "SELECT id FROM outbox WHERE id > ?1 AND ended_at IS NULL"
	    " AND (?2 IS NULL OR state = ?2) ORDER BY id LIMIT ?3";
	sql_auto *statement = sql_bind(
	    store, sql, error, SQL_INT(after), SQL_TEXT(state), SQL_INT(limit));
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
	    "  iif(claimed_at IS NULL, 'NEW', 'UNKNOWN')),"
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
outbox_count_held(struct store *store, const char *why, int64_t *count, GError **error)
{
	g_autofree char *name =
	    why ? g_strconcat("held ", why, NULL) : g_strdup("outbox HELD");

	return row_count_load(store, name, count, error);
}

bool
outbox_count_failed_since(
    struct store *store, int64_t after, int64_t *count, GError **error)
{
	static const char sql[] = "SELECT count(*) FROM outbox WHERE ended_at > ?1"
	                          " AND state = 'FAILED'";

	return sql_number(store, sql, count, error, SQL_INT(after));
}
