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

/*
 * Load digests and the size of the head of their contents, the papers.  Damaged ones
 * are not recorded, which doctor reports.
 *
 * @param values  set to pairs of these
 */
static bool
load_heads(struct store *store, const int64_t *ids, unsigned count,
    struct sql_value *values, unsigned *loaded, GError **error)
{
	/* Not a notice that there are no papers. */
	static const char sql[] = SQL_WITH_LIST(
	    "SELECT d.id, d.contents FROM outbox o"
	    " JOIN digest d ON d.id = o.digest_id WHERE d.papers > 0 AND o.id IN (",
	    "?", "?", ")");
	struct sql_value list[SQL_LIST_MAX + 1] = {0};
	g_autoptr(GArray) papers = packed_papers_new();
	sql_auto *row = NULL;
	enum sql_step step = SQL_STEP_FAILED;

	*loaded = 0;
	sql_fill_list(list, ids, count);
	row = sql_bind_values(store, sql, list, error);
	while (row && (step = sql_step(row, error)) == SQL_STEP_ROW) {
		struct sql_bytes contents = sql_get_bytes(row, 1);
		size_t head_bytes;

		g_array_set_size(papers, 0);
		if (!digest_contents_unpack_papers(
		        contents.data, contents.size, papers, &head_bytes, NULL))
			continue;
		values[2 * *loaded] = SQL_INT(sql_get_int(row, 0));
		values[2 * *loaded + 1] = SQL_INT((int64_t)head_bytes);
		++*loaded;
	}
	return step == SQL_STEP_DONE;
}

/* @param ids  of messages; @param count  at most SQL_LIST_MAX */
static bool
insert_delivered(struct store *store, const int64_t *ids, unsigned count, int64_t now,
    GError **error)
{
	static const char sql[] = SQL_WITH_LIST("WITH j (id, bytes) AS (VALUES ",
	    "(CAST(? AS BIGINT), CAST(? AS BIGINT))", "(?, ?)",
	    ") INSERT INTO delivered (subscriber_id, digest_id, at, papers)"
	    " SELECT d.subscriber_id, d.id, CAST(? AS BIGINT),"
	    " substr(d.contents, 1, CAST(j.bytes AS INTEGER))"
	    " FROM j CROSS JOIN digest d WHERE d.id = j.id"
	    " ON CONFLICT (subscriber_id, digest_id) DO NOTHING");
	struct sql_value values[2 * SQL_LIST_MAX + 2] = {0};
	unsigned loaded;

	if (!load_heads(store, ids, count, values, &loaded, error))
		return false;
	if (!loaded)
		return true;
	for (unsigned i = 2 * loaded; i < 2 * SQL_LIST_MAX; i++)
		values[i] = SQL_NULL;
	values[2 * SQL_LIST_MAX] = SQL_INT(now);
	return sql_exec_values(store, sql, values, error);
}

/* Record the papers of messages as delivered. @param ids  of int64_t */
static bool
save_delivered(struct store *store, const GArray *ids, int64_t now, GError **error)
{
	static const char sql[] = SQL_WITH_LIST(
	    "UPDATE digest SET state = 'sent' WHERE id IN (SELECT digest_id FROM outbox"
	    " WHERE id IN (",
	    "?", "?", "))");

	if (!sql_exec_list(store, sql, ids, error))
		return false;
	for (unsigned i = 0; i < ids->len; i += SQL_LIST_MAX)
		if (!insert_delivered(store, &g_array_index(ids, int64_t, i),
		        MIN(ids->len - i, SQL_LIST_MAX), now, error))
			return false;
	return true;
}

static bool
save_delivered_one(struct store *store, int64_t id, int64_t now, GError **error)
{
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int64_t));

	g_array_append_val(ids, id);
	return save_delivered(store, ids, now, error);
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
	return is_delivered ? save_delivered_one(store, id, now, error)
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
		break; /* see save_sent() */
	case OUTBOX_DEFERRED:
		return requeue_row(store, result, "DEFERRED", error);
	case OUTBOX_RETURNED:
		return return_row(store, result, error);
	case OUTBOX_UNKNOWN:
		if (result->next_try_at >= 0)
			return requeue_row(store, result, "UNKNOWN", error);
		return end_row(store, result, "UNKNOWN", now, error) &&
		       save_delivered_one(store, result->id, now, error);
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

/* Values of a row of save_sent_list(). */
#define SENT_VALUES 6

static void
fill_sent(const struct outbox_result *result, struct sql_value *values)
{
	values[0] = SQL_INT(result->id);
	values[1] = SQL_INT_OR_NULL(result->code);
	values[2] = SQL_INT_OR_NULL(result->message_hash);
	values[3] = SQL_INT(result->copies);
	values[4] = SQL_INT(result->crashes);
	values[5] = SQL_TEXT(result->reply);
}

/*
 * One statement for each message would be twice the work.
 *
 * @param sent  at most SQL_LIST_MAX of them count; @param saved  added to
 */
static bool
save_sent_list(struct store *store, const gpointer *sent, unsigned count, int64_t now,
    unsigned *saved, GError **error)
{
	static const char sql[] = SQL_WITH_LIST(
	    "WITH r (id, code, message_hash, copies, crashes, reply) AS (VALUES ",
	    "(CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT),"
	    " CAST(? AS BIGINT), CAST(? AS BIGINT), ?)",
	    "(?, ?, ?, ?, ?, ?)",
	    ") UPDATE outbox SET state = 'SENT', ended_at = ?, next_try_at = NULL,"
	    " message = NULL, code = r.code,"
	    " message_hash = coalesce(r.message_hash, outbox.message_hash),"
	    " possible_copies = r.copies, crashes = r.crashes, reply = r.reply,"
	    " failed_stage = NULL"
	    " FROM r WHERE outbox.id = r.id AND state" SQL_NO_INDEX_TEXT
	    " = 'SENDING' AND holder = ?");
	struct sql_value values[SQL_LIST_MAX * SENT_VALUES + 3] = {0};
	const unsigned size = SQL_LIST_MAX * SENT_VALUES;
	unsigned updated;

	count = MIN(count, SQL_LIST_MAX);
	for (unsigned i = 0; i < size; i++)
		values[i] = SQL_NULL;
	for (unsigned i = 0; i < count; i++)
		fill_sent(sent[i], &values[i * SENT_VALUES]);
	values[size] = SQL_INT(now);
	values[size + 1] = SQL_INT(store_get_holder(store));
	if (!sql_exec_count_values(store, sql, values, &updated, error))
		return false;
	*saved += updated;
	return true;
}

/* Mark messages that were not saved: others have them, or they no longer exist. */
static bool
fence_sent(struct store *store, const GPtrArray *sent, GError **error)
{
	static const char sql[] =
	    "SELECT NOT EXISTS (SELECT 1 FROM outbox WHERE id = ?1"
	    " AND state = 'SENT' AND holder = ?2)";

	for (unsigned i = 0; i < sent->len; i++) {
		struct outbox_result *result = sent->pdata[i];

		if (!sql_has(store, sql, &result->is_fenced, error, SQL_INT(result->id),
		        SQL_INT(store_get_holder(store))))
			return false;
	}
	return true;
}

/* @param sent  of struct outbox_result * */
static bool
save_sent(struct store *store, const GPtrArray *sent, int64_t now, GError **error)
{
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
	unsigned saved = 0;

	for (unsigned i = 0; i < sent->len; i += SQL_LIST_MAX)
		if (!save_sent_list(
		        store, &sent->pdata[i], sent->len - i, now, &saved, error))
			return false;
	if (saved < sent->len && !fence_sent(store, sent, error))
		return false;
	for (unsigned i = 0; i < sent->len; i++) {
		const struct outbox_result *result = sent->pdata[i];

		if (!result->is_fenced)
			g_array_append_val(ids, result->id);
	}
	return save_delivered(store, ids, now, error);
}

/* @param results  of struct outbox_result *, none of which is OUTBOX_SENT */
static bool
save_others(struct store *store, const GPtrArray *results, int64_t now, GError **error)
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

bool
outbox_save_results(
    struct store *store, const GPtrArray *results, int64_t now, GError **error)
{
	g_autoptr(GPtrArray) sent = g_ptr_array_new();
	g_autoptr(GPtrArray) others = g_ptr_array_new();

	for (unsigned i = 0; i < results->len; i++) {
		struct outbox_result *result = results->pdata[i];

		result->is_fenced = false;
		g_ptr_array_add(result->end == OUTBOX_SENT ? sent : others, result);
	}
	return save_others(store, others, now, error) &&
	       save_sent(store, sent, now, error);
}
