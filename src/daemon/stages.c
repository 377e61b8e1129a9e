/*
 * stages.c - all stages of a process, and the lock of their state directory.
 */
#include "daemon/stages.h"

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
	struct config_snapshot *first = NULL;

	if (key)
		first = stages->config_snapshot =
		    config_snapshot_new(g_steal_pointer(&settings),
		        options->credentials, options->clock, key, error);
	if (!first)
		return false;
	collector_init(&stages->collector, first, g_steal_pointer(&store));
	return scheduler_init(&stages->scheduler, first, error) &&
	       mailer_stage_init(
	           &stages->mailer, first, options->clock, heartbeats, stop_fd, error);
}

void
stages_clear(struct stages *stages)
{
	mailer_stage_clear(&stages->mailer);
	scheduler_clear(&stages->scheduler);
	collector_clear(&stages->collector);
	config_snapshot_unref(stages->config_snapshot);
}
