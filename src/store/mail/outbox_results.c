/*
 * outbox_results.c - results of messages, and what a digest delivered.
 */
#include <string.h>

#include "store/core/sql.h"
#include "store/mail/outbox.h"
#include "store/paper/packed_papers.h"

void
outbox_result_free(struct outbox_result *result)
{
	if (!result)
		return;
	g_free(result->reply);
	g_free(result);
}

/* Record the papers of a message as delivered; damaged ones are not, which doctor
 * reports. */
static bool
save_delivered(struct store *store, int64_t id, int64_t now, GError **error)
{
	static const char sql_state[] =
	    "UPDATE digest SET state = 'sent'"
	    " WHERE id = (SELECT digest_id FROM outbox WHERE id = ?1)";
	/* Not a notice that there are no papers. */
	static const char sql_contents[] =
	    "SELECT d.subscriber_id, d.id, d.contents FROM outbox o"
	    " JOIN digest d ON d.id = o.digest_id WHERE d.papers > 0 AND o.id = ?1";
	static const char sql[] =
	    "INSERT INTO delivered (subscriber_id, digest_id, at, papers)"
	    " VALUES (?1, ?2, ?3, ?4)"
	    " ON CONFLICT (subscriber_id, digest_id) DO NOTHING";
	g_autoptr(GArray) papers = packed_papers_new();
	sql_auto *row = NULL;
	struct sql_bytes contents;
	size_t head_bytes;
	enum sql_step step;

	if (!sql_exec(store, sql_state, error, SQL_INT(id)))
		return false;
	row = sql_bind(store, sql_contents, error, SQL_INT(id));
	step = row ? sql_step(row, error) : SQL_STEP_FAILED;
	if (step != SQL_STEP_ROW)
		return step == SQL_STEP_DONE;
	contents = sql_get_bytes(row, 2);
	return !digest_contents_unpack_papers(
	           contents.data, contents.size, papers, &head_bytes, NULL) ||
	       sql_exec(store, sql, error, SQL_INT(sql_get_int(row, 0)),
	           SQL_INT(sql_get_int(row, 1)), SQL_INT(now),
	           SQL_BLOB(contents.data, head_bytes));
}

/*
 * The papers of a cancelled digest are available again, unless a copy may have arrived.
 */
bool
outbox_cancel_one(
    struct store *store, int64_t id, bool is_delivered, int64_t now, GError **error)
{
	static const char sql[] =
	    "UPDATE outbox SET state = 'CANCELLED', ended_at = ?2, next_try_at = NULL,"
	    " message = NULL WHERE id = ?1";
	static const char sql_digest[] =
	    "UPDATE digest SET state = 'cancelled'"
	    " WHERE id = (SELECT digest_id FROM outbox WHERE id = ?1)";

	if (!sql_exec(store, sql, error, SQL_INT(id), SQL_INT(now)))
		return false;
	return is_delivered ? save_delivered(store, id, now, error)
	                    : sql_exec(store, sql_digest, error, SQL_INT(id));
}

/* @return of struct digest_contents_version, none if damaged; NULL on failure */
static GArray *
load_papers(struct store *store, int64_t id, GError **error)
{
	static const char sql[] =
	    "SELECT g.contents FROM outbox o"
	    " JOIN digest g ON g.id = o.digest_id WHERE o.id = ?1";
	g_autoptr(GArray) papers = packed_papers_new();
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(id));
	enum sql_step step = statement ? sql_step(statement, error) : SQL_STEP_FAILED;

	if (step == SQL_STEP_FAILED)
		return NULL;
	if (step == SQL_STEP_ROW && !packed_papers_add(statement, 0, papers, NULL))
		g_array_set_size(papers, 0);
	if (!packed_papers_follow(store, papers, error))
		return NULL;
	return g_steal_pointer(&papers);
}

static bool
save_refused(struct store *store, int64_t id, int64_t now, GError **error)
{
	static const char sql[] =
	    "INSERT INTO digest_rejected (subscriber_id, paper_seq, times, at)"
	    " SELECT subscriber_id, ?3, 1, ?2 FROM outbox WHERE id = ?1"
	    " ON CONFLICT (subscriber_id, paper_seq)"
	    " DO UPDATE SET times = digest_rejected.times + 1, at = excluded.at";
	g_autoptr(GArray) papers = load_papers(store, id, error);

	for (unsigned i = 0; papers && i < papers->len; i++) {
		int64_t seq = packed_papers_get(papers, i)->seq;

		if (!sql_exec(
		        store, sql, error, SQL_INT(id), SQL_INT(now), SQL_INT(seq)))
			return false;
	}
	return papers != NULL;
}

static bool
fail_digest(struct store *store, int64_t id, GError **error)
{
	static const char sql[] =
	    "UPDATE digest SET state = 'failed'"
	    " WHERE id = (SELECT digest_id FROM outbox WHERE id = ?1)";

	return sql_exec(store, sql, error, SQL_INT(id));
}

static bool
end_row(struct store *store, const struct outbox_result *result, const char *state,
    int64_t now, GError **error)
{
	static const char sql[] =
	    "UPDATE outbox SET state = ?2, ended_at = ?3, "
	    "next_try_at = NULL, message = NULL, code = ?4,"
	    " reply = ?5, message_hash = coalesce(?6, message_hash),"
	    " possible_copies = ?7, crashes = ?8,"
	    " failed_stage = CASE WHEN subscriber_id IS NOT NULL THEN CAST(?9 AS "
	    "BIGINT) END"
	    " WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(result->id), SQL_TEXT(state),
	    SQL_INT(now), SQL_INT_OR_NULL(result->code), SQL_TEXT(result->reply),
	    SQL_INT_OR_NULL(result->message_hash), SQL_INT(result->copies),
	    SQL_INT(result->crashes),
	    strcmp(state, "FAILED") == 0 ? SQL_INT_OR_NULL(result->stage) : SQL_NULL);
}

static bool
requeue_row(struct store *store, const struct outbox_result *result, const char *state,
    GError **error)
{
	static const char sql[] =
	    "UPDATE outbox SET state = ?2, next_try_at = ?3, code = coalesce(?4, code),"
	    " reply = coalesce(?5, reply), message_hash = coalesce(?6, message_hash),"
	    " possible_copies = ?7, crashes = ?8 WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(result->id), SQL_TEXT(state),
	    SQL_INT(result->next_try_at), SQL_INT_OR_NULL(result->code),
	    SQL_TEXT(result->reply), SQL_INT_OR_NULL(result->message_hash),
	    SQL_INT(result->copies), SQL_INT(result->crashes));
}

static bool
hold_row(struct store *store, const struct outbox_result *result, GError **error)
{
	static const char sql[] =
	    "UPDATE outbox SET state = 'HELD', held_from = 'UNKNOWN',"
	    " held_why = 'crash', next_try_at = NULL, possible_copies = ?2,"
	    " crashes = ?3 WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(result->id), SQL_INT(result->copies),
	    SQL_INT(result->crashes));
}

/* Restore the state before the claim, but keep the reply of the relay. */
static bool
return_row(struct store *store, const struct outbox_result *result, GError **error)
{
	static const char sql[] =
	    "UPDATE outbox SET state = CASE WHEN ?5 <> 0 THEN 'UNKNOWN'"
	    "  WHEN attempt = 1 AND coalesce(?4, reply) IS NULL THEN 'NEW'"
	    "  ELSE 'DEFERRED' END,"
	    " next_try_at = ?2, code = coalesce(?3, code), reply = coalesce(?4, reply),"
	    " cache_key = CASE WHEN attempt > 1 THEN cache_key END,"
	    " attempt = attempt - 1 WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(result->id),
	    SQL_INT(result->next_try_at), SQL_INT_OR_NULL(result->code),
	    SQL_TEXT(result->reply), SQL_INT(result->was_unknown));
}

static bool
has_number(const GArray *numbers, int64_t number)
{
	for (unsigned i = 0; i < numbers->len; i++)
		if (g_array_index(numbers, int64_t, i) == number)
			return true;
	return false;
}

/*
 * Lock messages, and mark results of those that the handle's instance does not hold any
 * more.
 *
 * @param results  at most SQL_LIST_MAX of them count
 */
static bool
lock_held(struct store *store, const gpointer *results, unsigned count, GError **error)
{
	static const char sql[] = SQL_WITH_LIST(
	    "SELECT id FROM outbox WHERE state = 'SENDING' AND holder = ? AND id IN (",
	    "?", "?", ") ORDER BY id" SQL_LOCK_ROWS("outbox"));
	struct sql_value values[SQL_LIST_MAX + 2] = {SQL_INT(store_get_holder(store))};
	int64_t ids[SQL_LIST_MAX];
	g_autoptr(GArray) held = NULL;

	count = MIN(count, SQL_LIST_MAX);
	for (unsigned i = 0; i < count; i++)
		ids[i] = ((const struct outbox_result *)results[i])->id;
	sql_fill_list(&values[1], ids, count);
	held = sql_load_numbers_values(store, sql, values, error);
	for (unsigned i = 0; held && i < count; i++)
		((struct outbox_result *)results[i])->is_fenced =
		    !has_number(held, ids[i]);
	return held != NULL;
}

static bool
save_result(
    struct store *store, struct outbox_result *result, int64_t now, GError **error)
{
	if (result->is_fenced)
		return true;
	switch (result->end) {
	case OUTBOX_SENT:
		return end_row(store, result, "SENT", now, error) &&
		       save_delivered(store, result->id, now, error);
	case OUTBOX_DEFERRED:
		return requeue_row(store, result, "DEFERRED", error);
	case OUTBOX_RETURNED:
		return return_row(store, result, error);
	case OUTBOX_UNKNOWN:
		if (result->next_try_at >= 0)
			return requeue_row(store, result, "UNKNOWN", error);
		return end_row(store, result, "UNKNOWN", now, error) &&
		       save_delivered(store, result->id, now, error);
	case OUTBOX_HELD:
		return hold_row(store, result, error);
	case OUTBOX_FAILED:
		return end_row(store, result, "FAILED", now, error) &&
		       fail_digest(store, result->id, error);
	case OUTBOX_CANCELLED:
		return outbox_cancel_one(
		    store, result->id, result->was_unknown, now, error);
	case OUTBOX_REJECTED:
		return end_row(store, result, "FAILED", now, error) &&
		       save_refused(store, result->id, now, error) &&
		       fail_digest(store, result->id, error);
	}
	return false;
}

bool
outbox_save_results(
    struct store *store, const GPtrArray *results, int64_t now, GError **error)
{
	for (unsigned i = 0; i < results->len; i++) {
		struct outbox_result *result = results->pdata[i];

		if (i % SQL_LIST_MAX == 0 &&
		    !lock_held(store, &results->pdata[i], results->len - i, error))
			return false;
		if (!save_result(store, result, now, error)) {
			g_prefix_error(
			    error, "message %" G_GINT64_FORMAT ": ", result->id);
			return false;
		}
	}
	return true;
}
