/*
 * outbox.c - messages to send and their delivery status.
 */
#include "store/mail/outbox.h"

#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "base/error.h"
#include "store/core/instances.h"
#include "store/core/record.h"
#include "store/core/suppression.h"
#include "store/paper/packed_papers.h"

/* @param n  bytes without the line end @return the problem, or NULL */
static const char *
check_line(const char *line, size_t n)
{
	if (n > BOUNDS_LINE_BYTES)
		return "an overlong line";
	if (memchr(line, '\0', n))
		return "a NUL";
	if (memchr(line, '\r', n) || memchr(line, '\n', n))
		return "a bare CR or LF";
	return NULL;
}

/* @return the problem, or NULL */
static const char *
check_lines(const char *bytes, size_t size)
{
	static const char name[] = "Message-ID:";
	const char *at = bytes, *end = bytes + size;
	bool is_in_headers = true, has_id = false;

	while (at < end) {
		const char *stop = memmem(at, (size_t)(end - at), "\r\n", 2);
		const char *wrong = check_line(at, (size_t)((stop ? stop : end) - at));

		if (wrong)
			return wrong;
		if (!stop)
			return "no CRLF at the end";
		if (stop == at)
			is_in_headers = false;
		else if (is_in_headers && (size_t)(stop - at) > strlen(name) &&
		         g_ascii_strncasecmp(at, name, strlen(name)) == 0)
			has_id = true;
		at = stop + 2;
	}
	if (is_in_headers)
		return "no empty line after the headers";
	return has_id ? NULL : "no Message-ID";
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
	wrong = check_lines(bytes, size);
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
	       sql_insert(store, sql, id, error,
	           SQL_TEXT(enumeration_get_word(ENUMERATION_OUTBOX_KIND, mail->kind)),
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

void
outbox_result_free(struct outbox_result *result)
{
	if (!result)
		return;
	g_free(result->reply);
	g_free(result);
}

/* Whether to send a message o to the subscriber s, or to none. */
#define IS_DUE_TO_SEND "(o.kind <> 'digest' OR s.state = 'active')"

/* In the order of job_columns; the message is not composed yet. */
#define JOB_COLUMNS                                                                    \
	"SELECT o.id, o.digest_id, o.subscriber_id, coalesce(o.recipient, s.address)," \
	" coalesce(o.address_key, s.address_key), o.cache_key, o.queued_at,"           \
	" o.attempt + 1, o.state = 'UNKNOWN', o.kind, o.sender,"                       \
	" (" IS_DUE_TO_SEND ") IS NOT TRUE, o.possible_copies, o.crashes, -1,"         \
	" o.priority FROM outbox o LEFT JOIN subscriber s ON s.id = o.subscriber_id"

#define COLUMN(...) RECORD_COLUMN(outbox_job, __VA_ARGS__)
static const struct record_column job_columns[] = {COLUMN(id), COLUMN(digest_id),
    COLUMN(subscriber_id), COLUMN(recipient), COLUMN(address_key), COLUMN(cache_key),
    COLUMN(queued_at), COLUMN(attempt), COLUMN(was_unknown),
    COLUMN(kind, RECORD_CHECK(OUTBOX_KIND)), COLUMN(sender), COLUMN(is_cancelled),
    COLUMN(copies), COLUMN(crashes), COLUMN(message_hash), COLUMN(priority)};
#undef COLUMN
static const struct record_layout job_layout = RECORD_LAYOUT(outbox_job, job_columns);

/* Cancel messages to suppressed addresses. @return jobs; NULL on failure */
static GPtrArray *
mark_suppressed(struct store *store, GBytes *keys, GPtrArray *jobs, GError **error)
{
	g_autofree struct suppression_probe *probes = NULL;
	g_autoptr(GPtrArray) all = jobs;

	if (!jobs)
		return NULL;
	probes = g_new0(struct suppression_probe, jobs->len);
	for (unsigned i = 0; i < jobs->len; i++)
		probes[i].address_key =
		    ((const struct outbox_job *)jobs->pdata[i])->address_key;
	if (!suppression_mark(store, keys, probes, jobs->len, error))
		return NULL;
	for (unsigned i = 0; i < jobs->len; i++)
		if (probes[i].is_suppressed)
			((struct outbox_job *)jobs->pdata[i])->is_cancelled = true;
	return g_steal_pointer(&all);
}

/* Maximum number of messages read for one claim. */
#define CLAIM_MAX 100

/* @param jobs  to add messages to */
static bool
load_priority(struct store *store, const struct outbox_claim *claim, int priority,
    unsigned limit, GPtrArray *jobs, GError **error)
{
	static const char sql_first[] = JOB_COLUMNS
	    " WHERE o.priority = ?3 AND o.priority > 0 AND o.next_try_at <= ?1"
	    " ORDER BY o.next_try_at, o.id LIMIT ?2" SQL_LOCK_ROWS("o");
	static const char sql_rest[] =
	    JOB_COLUMNS " WHERE o.priority = ?3 AND o.next_try_at <= ?1"
	                " ORDER BY o.next_try_at, o.id LIMIT ?2" SQL_LOCK_ROWS("o");
	sql_auto *statement =
	    sql_bind(store, priority > OUTBOX_PRIORITY_DIGEST ? sql_first : sql_rest,
	        error, SQL_INT(claim->now), SQL_INT(limit), SQL_INT(priority));
	g_autoptr(GPtrArray) loaded = record_load_all(statement, &job_layout, error);

	if (!loaded)
		return false;
	g_ptr_array_extend_and_steal(jobs, g_steal_pointer(&loaded));
	return true;
}

static GPtrArray *
load_due(struct store *store, const struct outbox_claim *claim, unsigned limit,
    GError **error)
{
	g_autoptr(GPtrArray) jobs = g_ptr_array_new_with_free_func(g_free);

	for (int priority = OUTBOX_PRIORITY_MAIL;
	     priority >= OUTBOX_PRIORITY_DIGEST && jobs->len < limit; priority--)
		if (!load_priority(
		        store, claim, priority, limit - jobs->len, jobs, error))
			return NULL;
	return mark_suppressed(store, claim->key, g_steal_pointer(&jobs), error);
}

/* Record the papers of a digest: the head of its contents.  Damaged ones are not
 * recorded, which doctor reports. */
static bool
insert_delivered(
    struct store *store, struct sql_statement *row, int64_t now, GError **error)
{
	static const char sql[] =
	    "INSERT INTO delivered (subscriber_id, digest_id, at, papers)"
	    " VALUES (?1, ?2, ?3, ?4)"
	    " ON CONFLICT (subscriber_id, digest_id) DO NOTHING";
	g_autoptr(GArray) papers = packed_papers_new();
	struct sql_bytes contents = sql_get_bytes(row, 2);
	size_t head_bytes;

	return !digest_contents_unpack_papers(
	           contents.data, contents.size, papers, &head_bytes, NULL) ||
	       sql_exec(store, sql, error, SQL_INT(sql_get_int(row, 0)),
	           SQL_INT(sql_get_int(row, 1)), SQL_INT(now),
	           SQL_BLOB(contents.data, head_bytes));
}

/* @param ids  of messages, at most SQL_LIST_MAX of them count */
static bool
insert_delivered_list(struct store *store, const int64_t *ids, unsigned count,
    int64_t now, GError **error)
{
	/* Not a notice that there are no papers. */
	static const char *const sql[] = SQL_LISTS(
	    "SELECT d.subscriber_id, d.id, d.contents FROM outbox o"
	    " JOIN digest d ON d.id = o.digest_id WHERE d.papers > 0 AND o.id IN (",
	    "?", "?", ")");
	struct sql_value values[SQL_LIST_MAX + 1] = {0};
	sql_auto *row = NULL;
	enum sql_step step = SQL_STEP_FAILED;

	sql_fill_list(values, sql_get_list_size(count), ids, count);
	row = sql_bind_values(store, SQL_CHOOSE(sql, count), values, error);
	while (row && (step = sql_step(row, error)) == SQL_STEP_ROW)
		if (!insert_delivered(store, row, now, error))
			return false;
	return step == SQL_STEP_DONE;
}

/* Record the papers of messages as delivered. @param ids  of int64_t */
static bool
save_delivered(struct store *store, const GArray *ids, int64_t now, GError **error)
{
	static const char *const sql[] = SQL_LISTS(
	    "UPDATE digest SET state = 'sent' WHERE id IN (SELECT digest_id FROM outbox"
	    " WHERE id IN (",
	    "?", "?", "))");

	if (!sql_exec_list(store, sql, ids, error))
		return false;
	for (unsigned i = 0; i < ids->len; i += SQL_LIST_MAX)
		if (!insert_delivered_list(store, &g_array_index(ids, int64_t, i),
		        ids->len - i, now, error))
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
    struct store *store, int64_t id, bool was_unknown, int64_t now, GError **error)
{
	static const char sql[] =
	    "UPDATE outbox SET state = 'CANCELLED', ended_at = ?2, next_try_at = NULL,"
	    " message = NULL WHERE id = ?1";
	static const char sql_digest[] =
	    "UPDATE digest SET state = 'cancelled'"
	    " WHERE id = (SELECT digest_id FROM outbox WHERE id = ?1)";

	if (!sql_exec(store, sql, error, SQL_INT(id), SQL_INT(now)))
		return false;
	return was_unknown ? save_delivered_one(store, id, now, error)
	                   : sql_exec(store, sql_digest, error, SQL_INT(id));
}

/* @param ids  of int64_t */
static bool
save_claimed(struct store *store, const struct outbox_claim *claim, const GArray *ids,
    GError **error)
{
	static const char *const sql[] = SQL_LISTS(
	    "UPDATE outbox"
	    " SET state = 'SENDING', attempt = attempt + 1, claimed_at = ?,"
	    " next_try_at = NULL, cache_key = coalesce(cache_key, ?), holder = ?"
	    " WHERE id IN (",
	    "?", "?", ")");

	return sql_exec_list(store, sql, ids, error, SQL_INT(claim->now),
	    SQL_TEXT(claim->cache_key), SQL_INT(store_get_holder(store)));
}

static bool
postpone_job(
    struct store *store, const struct outbox_job *job, int64_t next_at, GError **error)
{
	static const char sql[] = "UPDATE outbox SET next_try_at = ?2 WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(job->id), SQL_INT(next_at));
}

bool
outbox_is_sent_alone(const struct outbox_job *job)
{
	return job->crashes >= OUTBOX_CRASHES_ALONE;
}

/* A claim in progress. */
struct claiming {
	struct store *store;
	const struct outbox_claim *claim;
	unsigned claimed;
	GArray *ids;  /* of those whose claim is not saved: int64_t */
	bool is_full; /* no other message can be claimed */
};

/* Claim, cancel or postpone a message. @param is_taken  it is claimed or cancelled */
static bool
take_due(struct claiming *claiming, const struct outbox_job *job, bool *is_taken,
    GError **error)
{
	const struct outbox_claim *claim = claiming->claim;
	bool is_alone = outbox_is_sent_alone(job);
	int64_t next_at = claim->now;

	*is_taken = job->is_cancelled;
	if (job->is_cancelled)
		return outbox_cancel_one(
		    claiming->store, job->id, job->was_unknown, claim->now, error);
	claiming->is_full = claiming->claimed >= claim->limit ||
	                    (is_alone && (claiming->claimed || !claim->is_idle));
	if (claiming->is_full)
		return true;
	if (claim->allow && !claim->allow(claim->data, job->recipient, &next_at))
		return postpone_job(claiming->store, job, next_at, error);
	*is_taken = true;
	claiming->claimed++;
	claiming->is_full = is_alone;
	g_array_append_val(claiming->ids, job->id);
	return true;
}

/*
 * Read back by outbox_load_generation().  Not in a shared store, where all claims would
 * write this row: a server is not replaced by an older file.
 */
static bool
advance_generation(struct store *store, GError **error)
{
	static const char sql[] =
	    "INSERT INTO cursor (name, value) VALUES ('generation', 1)"
	    " ON CONFLICT (name) DO UPDATE SET value = cursor.value + 1";

	return sql_exec(store, sql, error);
}

bool
outbox_load_generation(struct store *store, int64_t *generation, GError **error)
{
	return store_load_cursor(store, "generation", 0, generation, error);
}

/* @param jobs  to add what is claimed or cancelled to */
static bool
take_all(struct claiming *claiming, GPtrArray *due, GPtrArray *jobs, GError **error)
{
	g_array_set_size(claiming->ids, 0);
	for (unsigned i = 0; i < due->len && !claiming->is_full; i++) {
		bool is_taken;

		if (!take_due(claiming, due->pdata[i], &is_taken, error))
			return false;
		if (is_taken)
			g_ptr_array_add(jobs, g_steal_pointer(&due->pdata[i]));
	}
	return save_claimed(claiming->store, claiming->claim, claiming->ids, error);
}

GPtrArray *
outbox_claim(struct store *store, const struct outbox_claim *claim, bool *is_more,
    GError **error)
{
	g_autoptr(GPtrArray) jobs = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
	struct claiming claiming = {.store = store, .claim = claim, .ids = ids};
	unsigned read = 0;
	bool has_next;

	if (!instances_is_held(store, &has_next, error))
		return NULL;
	while (has_next && !claiming.is_full && read < CLAIM_MAX) {
		/* The one after the last shows that there are more. */
		unsigned wanted =
		    MIN(claim->limit - claiming.claimed + 1, CLAIM_MAX - read);
		g_autoptr(GPtrArray) due = load_due(store, claim, wanted, error);

		if (!due || !take_all(&claiming, due, jobs, error))
			return NULL;
		has_next = due->len == wanted;
		read += due->len;
	}
	if (jobs->len && !store_is_shared(store) && !advance_generation(store, error))
		return NULL;
	*is_more = claiming.is_full || has_next;
	return g_steal_pointer(&jobs);
}

GPtrArray *
outbox_load_in_flight(struct store *store, GBytes *key, GError **error)
{
	static const char sql[] =
	    JOB_COLUMNS " WHERE o.state = 'SENDING' AND o.holder = ?1 ORDER BY o.id";
	sql_auto *statement =
	    sql_bind(store, sql, error, SQL_INT(store_get_holder(store)));
	GPtrArray *jobs = mark_suppressed(
	    store, key, record_load_all(statement, &job_layout, error), error);

	/* The current attempt, not the next one. */
	for (unsigned i = 0; jobs && i < jobs->len; i++)
		((struct outbox_job *)jobs->pdata[i])->attempt--;
	return jobs;
}

GPtrArray *
outbox_take_over(struct store *store, GBytes *key, int64_t now, GError **error)
{
	static const char sql[] =
	    JOB_COLUMNS " WHERE o.state = 'SENDING' AND NOT " INSTANCES_IS_LIVE(
	        "o.holder", "?1") " ORDER BY o.id";
	static const char sql_holder[] =
	    "UPDATE outbox SET holder = ?2 WHERE state = 'SENDING'"
	    " AND NOT " INSTANCES_IS_LIVE("holder", "?1");
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(now));
	g_autoptr(GPtrArray) jobs = mark_suppressed(
	    store, key, record_load_all(statement, &job_layout, error), error);

	if (!jobs || (jobs->len && !sql_exec(store, sql_holder, error, SQL_INT(now),
	                               SQL_INT(store_get_holder(store)))))
		return NULL;
	for (unsigned i = 0; i < jobs->len; i++)
		((struct outbox_job *)jobs->pdata[i])->attempt--;
	return g_steal_pointer(&jobs);
}

bool
outbox_is_cancelled(struct store *store, const struct outbox_job *job, GBytes *key,
    bool *is_cancelled, GError **error)
{
	/* No row: the subscriber was erased. */
	static const char sql[] =
	    "SELECT coalesce(o.address_key, s.address_key) FROM outbox o"
	    " LEFT JOIN subscriber s ON s.id = o.subscriber_id"
	    " WHERE o.id = ?1 AND " IS_DUE_TO_SEND;
	g_autofree char *address_key = NULL;
	struct suppression_probe probe = {0};

	if (!sql_find_text(store, sql, &address_key, error, SQL_INT(job->id)))
		return false;
	probe.address_key = address_key;
	if (address_key && !suppression_mark(store, key, &probe, 1, error))
		return false;
	*is_cancelled = !address_key || probe.is_suppressed;
	return true;
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

/* Whether the handle's instance does not hold a message any more. */
static bool
check_fence(struct store *store, int64_t id, bool *is_fenced, GError **error)
{
	static const char sql[] =
	    "SELECT NOT EXISTS (SELECT 1 FROM outbox WHERE id = ?1"
	    " AND state = 'SENDING' AND holder = ?2)";

	return sql_has(store, sql, is_fenced, error, SQL_INT(id),
	    SQL_INT(store_get_holder(store)));
}

static bool
save_result(
    struct store *store, struct outbox_result *result, int64_t now, GError **error)
{
	if (!check_fence(store, result->id, &result->is_fenced, error))
		return false;
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
	static const char *const sql[] = SQL_LISTS(
	    "WITH r (id, code, message_hash, copies, crashes, reply) AS (VALUES ",
	    "(CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT),"
	    " CAST(? AS BIGINT), CAST(? AS BIGINT), ?)",
	    "(?, ?, ?, ?, ?, ?)",
	    ") UPDATE outbox SET state = 'SENT', ended_at = ?, next_try_at = NULL,"
	    " message = NULL, code = r.code,"
	    " message_hash = coalesce(r.message_hash, outbox.message_hash),"
	    " possible_copies = r.copies, crashes = r.crashes, reply = r.reply,"
	    " failed_stage = NULL"
	    " FROM r WHERE outbox.id = r.id AND state = 'SENDING' AND holder = ?");
	struct sql_value values[SQL_LIST_MAX * SENT_VALUES + 3] = {0};
	unsigned updated, size = sql_get_list_size(count) * SENT_VALUES;

	for (unsigned i = 0; i < size; i++)
		values[i] = SQL_NULL;
	for (unsigned i = 0; i < MIN(count, SQL_LIST_MAX); i++)
		fill_sent(sent[i], &values[i * SENT_VALUES]);
	values[size] = SQL_INT(now);
	values[size + 1] = SQL_INT(store_get_holder(store));
	if (!sql_exec_count_values(
	        store, SQL_CHOOSE(sql, count), values, &updated, error))
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

bool
outbox_save_results(
    struct store *store, const GPtrArray *results, int64_t now, GError **error)
{
	g_autoptr(GPtrArray) sent = g_ptr_array_new();

	for (unsigned i = 0; i < results->len; i++) {
		struct outbox_result *result = results->pdata[i];

		result->is_fenced = false;
		if (result->end == OUTBOX_SENT) {
			g_ptr_array_add(sent, result);
		} else if (!save_result(store, result, now, error)) {
			g_prefix_error(
			    error, "message %" G_GINT64_FORMAT ": ", result->id);
			return false;
		}
	}
	return save_sent(store, sent, now, error);
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
	enum sql_step result = statement ? sql_step(statement, error) : SQL_STEP_FAILED;

	for (; result == SQL_STEP_ROW; result = sql_step(statement, error))
		add(data, sql_get_int(statement, 0), sql_get_int(statement, 1));
	return result != SQL_STEP_FAILED;
}

bool
outbox_load_next_try(struct store *store, int64_t *at, GError **error)
{
	static const char sql[] = "SELECT min(next_try_at) FROM outbox"
	                          " WHERE next_try_at IS NOT NULL";

	return sql_number(store, sql, at, error);
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
#define COLUMN(...) RECORD_COLUMN(outbox_row, __VA_ARGS__)
	static const struct record_column columns[] = {COLUMN(id), COLUMN(digest_id),
	    COLUMN(recipient), COLUMN(state, RECORD_CHECK(OUTBOX_STATE)),
	    COLUMN(attempt), COLUMN(queued_at), COLUMN(next_try_at), COLUMN(ended_at),
	    COLUMN(code), COLUMN(reply),
	    COLUMN(held_why, RECORD_CHECK_OPTIONAL(OUTBOX_HELD_WHY)),
	    COLUMN(kind, RECORD_CHECK(OUTBOX_KIND)), COLUMN(copies), COLUMN(crashes)};
#undef COLUMN
	static const struct record_layout layout = RECORD_LAYOUT(outbox_row, columns);
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(after),
	    SQL_INT(choice->is_all), SQL_INT(limit), SQL_TEXT(choice->state),
	    SQL_INT(choice->subscriber_id));

	return record_load_all(statement, &layout, error);
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

#define COLUMN(...) RECORD_COLUMN(outbox_message, __VA_ARGS__)
static const struct record_column message_columns[] = {COLUMN(id), COLUMN(digest_id),
    COLUMN(subscriber_id), COLUMN(recipient),
    COLUMN(recipient_state, RECORD_CHECK_OPTIONAL(SUBSCRIBER_STATE), .row = 2),
    COLUMN(state, RECORD_CHECK(OUTBOX_STATE)), COLUMN(attempt), COLUMN(queued_at),
    COLUMN(next_try_at), COLUMN(claimed_at), COLUMN(ended_at), COLUMN(code),
    COLUMN(reply), COLUMN(cache_key), COLUMN(message_hash),
    COLUMN(held_from, RECORD_CHECK_OPTIONAL(OUTBOX_HELD_FROM)),
    COLUMN(held_why, RECORD_CHECK_OPTIONAL(OUTBOX_HELD_WHY)), COLUMN(slot),
    COLUMN(date), COLUMN(digest_state, RECORD_CHECK_OPTIONAL(DIGEST_STATE), .row = 1),
    COLUMN(created_at), COLUMN(papers), COLUMN(newest_day),
    COLUMN(kind, RECORD_CHECK(OUTBOX_KIND)), COLUMN(copies), COLUMN(crashes)};
#undef COLUMN
static const struct record_layout message_layout =
    RECORD_LAYOUT(outbox_message, message_columns);

struct outbox_message *
outbox_load_message(struct store *store, int64_t id, GError **error)
{
	static const char sql[] = "SELECT " MESSAGE_COLUMNS " WHERE o.id = ?1";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(id));
	struct outbox_message *message = NULL;

	if (record_find(statement, &message_layout, &message, error) && !message)
		pb_fail(error, PB_ERROR_NOT_FOUND, "no such message: %" G_GINT64_FORMAT,
		    id);
	return message;
}

bool
outbox_find_digest(struct store *store, int64_t digest_id,
    struct outbox_message **message, GError **error)
{
	static const char sql[] = "SELECT " MESSAGE_COLUMNS " WHERE o.digest_id = ?1";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(digest_id));

	return record_find(statement, &message_layout, message, error);
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
	sql_auto *statement = is_deferred ? sql_bind(store, sql_deferred, error)
	                                  : sql_bind(store, sql, error);

	return record_find(statement, &message_layout, message, error);
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
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(after));

	return record_find(statement, &message_layout, message, error);
}

bool
outbox_count_failed_since(
    struct store *store, int64_t after, int64_t *count, GError **error)
{
	static const char sql[] = "SELECT count(*) FROM outbox WHERE ended_at > ?1"
	                          " AND state = 'FAILED'";

	return sql_number(store, sql, count, error, SQL_INT(after));
}
