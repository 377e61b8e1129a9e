/*
 * outbox_claim.c - claims of messages.
 */
#include "store/admin/backup.h"
#include "store/core/instances.h"
#include "store/core/record.h"
#include "store/mail/outbox.h"
#include "store/subscriber/suppression.h"

/* Whether to send a message o to the subscriber s, or to none. */
#define IS_DUE_TO_SEND "(o.kind <> 'digest' OR s.state = 'active')"

/* In the order of job_columns; the message is not composed yet. */
#define JOB_COLUMNS                                                                    \
	"SELECT o.id, o.digest_id, o.subscriber_id, coalesce(o.recipient, s.address)," \
	" coalesce(o.address_key, s.address_key), o.cache_key, o.queued_at,"           \
	" o.attempt + 1, o.state = 'UNKNOWN', o.kind, o.sender,"                       \
	" (" IS_DUE_TO_SEND ") IS NOT TRUE, o.possible_copies, o.crashes, -1,"         \
	" o.priority FROM outbox o LEFT JOIN subscriber s ON s.id = o.subscriber_id"

RECORD_LAYOUT(job_layout, outbox_job, "outbox", "iIIttTnnnwTnnnnn",
    (ENUMERATION_OUTBOX_KIND), id, digest_id, subscriber_id, recipient, address_key,
    cache_key, queued_at, attempt, was_unknown, kind, sender, is_cancelled, copies,
    crashes, message_hash, priority);

static bool
is_answer(const struct outbox_job *job)
{
	return job->kind == OUTBOX_REPLY || job->kind == OUTBOX_CONFIRMATION;
}

/* Cancel messages to suppressed addresses. @return jobs; NULL on failure */
static GPtrArray *
mark_suppressed(struct store *store, GBytes *keys, GPtrArray *jobs, GError **error)
{
	g_autofree struct suppression_lookup *lookups = NULL;
	g_autoptr(GPtrArray) all = jobs;

	if (!jobs)
		return NULL;
	lookups = g_new0(struct suppression_lookup, jobs->len);
	for (unsigned i = 0; i < jobs->len; i++) {
		const struct outbox_job *job = jobs->pdata[i];

		lookups[i].address_key = job->address_key;
		lookups[i].is_answer = is_answer(job);
	}
	if (!suppression_mark(store, keys, lookups, jobs->len, error))
		return NULL;
	for (unsigned i = 0; i < jobs->len; i++)
		if (lookups[i].is_suppressed)
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
	    " ORDER BY o.next_try_at, o.id LIMIT ?2" SQL_LOCK_FREE_ROWS("o");
	static const char sql_rest[] = JOB_COLUMNS
	    " WHERE o.priority = ?3 AND o.next_try_at <= ?1"
	    " ORDER BY o.next_try_at, o.id LIMIT ?2" SQL_LOCK_FREE_ROWS("o");
	g_autoptr(GPtrArray) loaded = record_load_all(store,
	    priority > OUTBOX_PRIORITY_DIGEST ? sql_first : sql_rest, &job_layout,
	    error, SQL_INT(claim->now), SQL_INT(limit), SQL_INT(priority));

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
	int lowest = OUTBOX_PRIORITY_DIGEST;
	int64_t paused;

	if (!outbox_load_pause(store, &paused, error))
		return NULL;
	if (paused >= 0)
		lowest = OUTBOX_PRIORITY_MAIL;
	for (int priority = OUTBOX_PRIORITY_MAIL;
	     priority >= lowest && jobs->len < limit; priority--)
		if (!load_priority(
		        store, claim, priority, limit - jobs->len, jobs, error))
			return NULL;
	return mark_suppressed(store, claim->key, g_steal_pointer(&jobs), error);
}

/* @param ids  of int64_t */
static bool
save_claimed(struct store *store, const struct outbox_claim *claim, const GArray *ids,
    GError **error)
{
	static const char sql[] = SQL_WITH_LIST(
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
 * Read back by backup_load_generation().  Not in a shared store, where all claims would
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
	bool has_next, is_superseded;

	if (!instances_lock(store, &has_next, error) ||
	    !backup_is_superseded(store, &is_superseded, error))
		return NULL;
	has_next &= !is_superseded;
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

/* Load messages that have no result, and suppress. */
static GPtrArray *
load_unfinished(struct store *store, const char *sql, const struct sql_value *values,
    GBytes *key, GError **error)
{
	GPtrArray *jobs = mark_suppressed(store, key,
	    record_load_all_values(store, sql, values, &job_layout, error), error);

	/* The current attempt, not the next one. */
	for (unsigned i = 0; jobs && i < jobs->len; i++)
		((struct outbox_job *)jobs->pdata[i])->attempt--;
	return jobs;
}

GPtrArray *
outbox_load_in_flight(struct store *store, GBytes *key, GError **error)
{
	static const char sql[] =
	    JOB_COLUMNS " WHERE o.state = 'SENDING' AND o.holder = ?1"
	                " ORDER BY o.id" SQL_LOCK_ROWS("o");

	const struct sql_value values[] = {SQL_INT(store_get_holder(store)), {0}};

	return load_unfinished(store, sql, values, key, error);
}

GPtrArray *
outbox_take_over(struct store *store, GBytes *key, GError **error)
{
	static const char sql[] =
	    JOB_COLUMNS " WHERE o.state = 'SENDING' AND NOT EXISTS"
	                " (SELECT 1 FROM instance i WHERE i.id = o.holder)"
	                " ORDER BY o.id" SQL_LOCK_ROWS("o");
	static const char sql_holder[] =
	    SQL_WITH_LIST("UPDATE outbox SET holder = ? WHERE id IN (", "?", "?", ")");
	g_autoptr(GPtrArray) jobs =
	    load_unfinished(store, sql, &(struct sql_value){0}, key, error);
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int64_t));

	for (unsigned i = 0; jobs && i < jobs->len; i++)
		g_array_append_val(
		    ids, ((const struct outbox_job *)jobs->pdata[i])->id);
	if (!jobs || !sql_exec_list(store, sql_holder, ids, error,
	                 SQL_INT(store_get_holder(store))))
		return NULL;
	return g_steal_pointer(&jobs);
}

/* Load addresses of messages that are due to be sent. @param jobs  at most SQL_LIST_MAX
 */
static bool
load_due_addresses(struct store *store, struct outbox_job *const *jobs,
    struct suppression_lookup *lookups, unsigned count, GError **error)
{
	/* Without a row the subscriber was erased. */
	static const char sql[] = SQL_WITH_LIST(
	    "SELECT o.id, coalesce(o.address_key, s.address_key) FROM outbox o"
	    " LEFT JOIN subscriber s ON s.id = o.subscriber_id"
	    " WHERE " IS_DUE_TO_SEND " AND o.id IN (",
	    "?", "?", ")");
	struct sql_value values[SQL_LIST_MAX + 1] = {0};
	int64_t ids[SQL_LIST_MAX];
	sql_auto *row = NULL;
	enum sql_step step = SQL_STEP_FAILED;

	for (unsigned i = 0; i < count; i++)
		ids[i] = jobs[i]->id;
	sql_fill_list(values, ids, count);
	row = sql_bind_values(store, sql, values, error);
	while (row && (step = record_next(row, "outbox", "iT", error)) == SQL_STEP_ROW)
		for (unsigned i = 0; i < count; i++)
			if (ids[i] == sql_get_int(row, 0)) {
				lookups[i].address_key = sql_dup_text(row, 1);
				lookups[i].is_answer = is_answer(jobs[i]);
			}
	return step == SQL_STEP_DONE;
}

bool
outbox_mark_cancelled(struct store *store, GBytes *key, struct outbox_job *const *jobs,
    unsigned count, GError **error)
{
	struct suppression_lookup lookups[SQL_LIST_MAX] = {0};
	unsigned first = MIN(count, SQL_LIST_MAX);
	bool is_ok = load_due_addresses(store, jobs, lookups, first, error) &&
	             suppression_mark(store, key, lookups, first, error);

	for (unsigned i = 0; i < first; i++) {
		jobs[i]->is_cancelled =
		    !lookups[i].address_key || lookups[i].is_suppressed;
		g_free((char *)lookups[i].address_key);
	}
	return is_ok && (count == first || outbox_mark_cancelled(store, key,
	                                       &jobs[first], count - first, error));
}
