/*
 * takeover.c - messages whose results are lost: they may have arrived.
 */
#include "service/delivery/takeover.h"

#include "base/clock.h"
#include "service/log/event.h"
#include "store/core/instances.h"
#include "store/mail/outbox.h"
#include "transport/backoff.h"

static struct outbox_result *
new_result(const struct outbox_job *job, bool is_crash, int64_t now)
{
	struct outbox_result *result = g_new0(struct outbox_result, 1);
	/* Whatever its age: the relay did not defer it. */
	const struct backoff_policy attempt = {.queued_at = now,
	    .now = now,
	    .attempts = job->copies + 1,
	    .id = (uint64_t)job->id,
	    .expire_s = CLOCK_DAY_S};

	*result = (struct outbox_result){
	    .id = job->id,
	    .end = OUTBOX_UNKNOWN,
	    .next_try_at = -1,
	    .was_unknown = job->was_unknown,
	    .copies = job->copies + 1,
	    .crashes = job->crashes + is_crash,
	    .code = -1,
	    .stage = -1,
	    .message_hash = -1,
	};
	if (is_crash && result->crashes >= OUTBOX_CRASHES_HELD)
		result->end = OUTBOX_HELD;
	else if (result->copies < OUTBOX_COPIES_MAX)
		backoff_next(&attempt, &result->next_try_at, NULL);
	return result;
}

static void
log_ended(const struct outbox_job *job, const struct outbox_result *result)
{
	if (result->next_try_at >= 0)
		return;
	event_log(
	    result->end == OUTBOX_HELD ? EVENT_DELIVERY_HELD : EVENT_DELIVERY_EXPIRED,
	    EVENT_INT("outbox", job->id), EVENT_INT("attempt", job->attempt),
	    EVENT_INT("copies", result->copies), EVENT_INT("crashes", result->crashes));
}

struct takeover {
	GBytes *key;
	int64_t now;
	int64_t store_now;  /* for leases */
	bool is_crash;      /* of ended instances, which are deleted; else of our own */
	GPtrArray *jobs;    /* of struct outbox_job * */
	GPtrArray *results; /* of struct outbox_result *, of each job */
	unsigned ended;     /* expired instances that were deleted */
};

static void
takeover_clear(struct takeover *takeover)
{
	g_clear_pointer(&takeover->jobs, g_ptr_array_unref);
	g_clear_pointer(&takeover->results, g_ptr_array_unref);
}

static bool
save(struct store *store, void *data, GError **error)
{
	struct takeover *takeover = data;
	int64_t now = takeover->now;
	GPtrArray *jobs;

	takeover_clear(takeover);
	/* On a server this locks the expired instance: its next claim waits for this
	 * transaction, and then finds that it has ended. */
	if (takeover->is_crash && !instances_delete_expired(store, takeover->store_now,
	                              &takeover->ended, error))
		return false;
	jobs = takeover->is_crash ? outbox_take_over(store, takeover->key, error)
	                          : outbox_load_in_flight(store, takeover->key, error);
	if (!jobs)
		return false;
	takeover->jobs = jobs;
	takeover->results =
	    g_ptr_array_new_with_free_func((GDestroyNotify)outbox_result_free);
	for (unsigned i = 0; i < jobs->len; i++)
		g_ptr_array_add(takeover->results,
		    new_result(jobs->pdata[i], takeover->is_crash, now));
	return outbox_save_results(store, takeover->results, now, error);
}

bool
takeover_run(struct store *store, GBytes *key, bool is_crash, int64_t now,
    unsigned *count, GError **error)
{
	pb_local(takeover) run = {.key = key, .now = now, .is_crash = is_crash};

	if (!instances_load_time(store, now, &run.store_now, error) ||
	    !store_transact_rows(store, save, &run, error))
		return false;
	*count = run.jobs->len;
	for (unsigned i = 0; i < run.jobs->len; i++)
		log_ended(run.jobs->pdata[i], run.results->pdata[i]);
	if (run.ended)
		event_log(EVENT_INSTANCE_EXPIRED, EVENT_INT("instances", run.ended));
	if (run.jobs->len)
		event_log(EVENT_OUTBOX_RECOVERED, EVENT_INT("unknown", run.jobs->len));
	return true;
}
