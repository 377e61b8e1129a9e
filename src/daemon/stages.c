/*
 * stages.c - all stages of a process, and the lock of their state directory.
 */
#include "daemon/stages.h"

#include "service/log/event.h"
#include "service/setup/factory.h"
#include "service/setup/startup.h"
#include "service/state/lock.h"

int
stages_lock(const struct daemon_options *options, GError **error)
{
	int lock = lock_take(options->settings->state_dir, error);

	if (lock < 0)
		settings_free(options->settings);
	return lock;
}

bool
stages_init(struct stages *stages, const struct daemon_options *options,
    struct heartbeats *heartbeats, const int *stop_fd, GError **error)
{
	pb_auto(settings) settings = options->settings;
	pb_auto(store) store = factory_open_store(settings, error);
	g_autoptr(GBytes) key = store ? startup_load_key(settings, store, error) : NULL;
	struct process_parts parts = {
	    .clock = options->clock, .heartbeats = heartbeats, .stop_fd = stop_fd};
	struct config_snapshot *first = NULL;

	if (key)
		stages->lease = lease_new(
		    store, settings->state_dir, clock_get_now(options->clock), error);
	if (stages->lease)
		first = stages->config_snapshot =
		    config_snapshot_new(g_steal_pointer(&settings),
		        options->credentials, options->clock, key, error);
	if (!first)
		return false;
	parts.lease = stages->lease;
	if (store_is_shared(store)) {
		stages->lease_store = g_steal_pointer(&store);
		store = factory_open_store(first->settings, error);
		if (!store)
			return false;
	}
	collector_init(&stages->collector, first, g_steal_pointer(&store));
	stages->collector.lease = stages->lease;
	if (!scheduler_init(&stages->scheduler, first, error))
		return false;
	stages->scheduler.lease = stages->lease;
	return mailer_stage_init(&stages->mailer, first, &parts, error);
}

bool
stages_start_lease_worker(struct stages *stages, const struct clock *clock,
    struct heartbeats *heartbeats, const struct lease_worker_calls *calls,
    GError **error)
{
	const struct lease_worker_options options = {
	    .lease = stages->lease,
	    .store = g_steal_pointer(&stages->lease_store),
	    .key = stages->config_snapshot->key,
	    .clock = clock,
	    .heartbeats = heartbeats,
	    .calls = *calls,
	};

	if (options.store)
		stages->lease_worker = lease_worker_new(&options, error);
	return !options.store || stages->lease_worker;
}

void
stages_stop_lease_worker(struct stages *stages)
{
	g_clear_pointer(&stages->lease_worker, lease_worker_free);
}

/* Others take over at once what would wait for the end of the lease. */
static void
end_lease(struct stages *stages)
{
	g_autoptr(GError) problem = NULL;

	if (stages->lease && stages->scheduler.store &&
	    !lease_end(stages->lease, stages->scheduler.store, &problem) &&
	    !store_is_outdated(stages->scheduler.store))
		event_log(EVENT_LEASE_FAILED, EVENT_TEXT(problem->message));
	g_clear_pointer(&stages->lease, lease_free);
}

void
stages_clear(struct stages *stages)
{
	stages_stop_lease_worker(stages);
	g_clear_pointer(&stages->lease_store, store_free);
	mailer_stage_clear(&stages->mailer);
	end_lease(stages);
	scheduler_clear(&stages->scheduler);
	collector_clear(&stages->collector);
	config_snapshot_unref(stages->config_snapshot);
}
