/*
 * lease_worker.c - a thread that renews the lease on a shared store.
 */
#include "daemon/lease_worker.h"

#include "daemon/worker.h"
#include "service/delivery/takeover.h"
#include "service/log/event.h"
#include "store/core/instances.h"

/* Interval of attempts while the lease cannot be renewed. */
#define RETRY_S 2

/* Maximum time of a step, s, after which the thread counts as hung: several timeouts of
 * the database, then a takeover. */
#define STEP_S (5 * 60)

struct lease_worker {
	struct lease_worker_options options;
	struct heartbeat *heartbeat;
	struct worker *worker;
	bool is_failing;
};

static int64_t
log_failure(struct lease_worker *worker, int64_t now, const GError *problem)
{
	const struct lease_worker_options *options = &worker->options;

	if (store_is_outdated(options->store))
		options->calls.outdated(options->calls.data);
	else if (!worker->is_failing)
		event_log(EVENT_LEASE_FAILED, EVENT_TEXT(problem->message));
	worker->is_failing = true;
	return now + RETRY_S;
}

static int64_t
run(void *data, int64_t now, const int *stop)
{
	struct lease_worker *worker = data;
	const struct lease_worker_options *options = &worker->options;
	bool was_held = lease_is_held(options->lease, lease_get_holder(options->lease));
	bool was_failing = worker->is_failing;
	g_autoptr(GError) problem = NULL;
	unsigned count;

	(void)stop;
	if (!lease_renew(options->lease, options->store, now, &problem) ||
	    !takeover_run(options->store, options->key, true, now, &count, &problem))
		return log_failure(worker, now, problem);
	worker->is_failing = false;
	/* Other threads may have failed, too, and wait before they try again. */
	if (!was_held || was_failing || count)
		options->calls.changed(options->calls.data);
	return now + INSTANCES_RENEW_S;
}

struct lease_worker *
lease_worker_new(const struct lease_worker_options *options, GError **error)
{
	struct lease_worker *worker = g_new0(struct lease_worker, 1);
	struct worker_options thread = {
	    .name = "lease",
	    .clock = options->clock,
	    .step = run,
	    .data = worker,
	    .step_s = STEP_S,
	};

	worker->options = *options;
	/* A renewal that takes longer is too late. */
	store_set_wait(options->store, INSTANCES_LEASE_S);
	g_bytes_ref(options->key);
	thread.heartbeat = worker->heartbeat =
	    heartbeat_new(options->heartbeats, thread.name);
	worker->worker = worker_new(&thread, error);
	if (worker->worker)
		return worker;
	lease_worker_free(worker);
	return NULL;
}

void
lease_worker_free(struct lease_worker *worker)
{
	if (!worker)
		return;
	worker_free(worker->worker);
	heartbeat_free(worker->heartbeat);
	store_free(worker->options.store);
	g_bytes_unref(worker->options.key);
	g_free(worker);
}
