/*
 * daemon.c - the whole program at work: its threads, from the first to the last.
 */
#include "daemon/daemon.h"

#include <glib-unix.h>
#include <signal.h>
#include <unistd.h>

#include "daemon/daemon_private.h"
#include "daemon/notify.h"
#include "daemon/reload.h"
#include "daemon/shutdown.h"
#include "daemon/watchdog.h"
#include "service/log/event.h"
#include "service/setup/startup.h"
#include "service/state/lock.h"

/* A step that takes longer hangs: the slowest source, a long night of letters. */
#define STEP_S (30 * 60)

/* The settings that the program begins with. @return a reference, or NULL */
static struct config_snapshot *
make_first_snapshot(const struct daemon_options *options, GError **error)
{
	pb_auto(settings) settings = options->settings;
	pb_auto(store) store = factory_open_store(settings, error);
	g_autoptr(GBytes) key = store ? startup_load_key(settings, store, error) : NULL;

	if (!key)
		return NULL;
	return config_snapshot_new(
	    g_steal_pointer(&settings), options->credentials, key, error);
}

bool
daemon_init_stages(struct daemon *daemon, GError **error)
{
	struct config_snapshot *first = make_first_snapshot(daemon->options, error);

	daemon->config_snapshot = first;
	return first && collector_init(&daemon->collect, first, error) &&
	       digest_cache_stage_init(&daemon->scheduler, first, error) &&
	       mailer_stage_init(&daemon->mailer, first, daemon->options->clock,
	           daemon->heartbeats, &daemon->shutdown_fd, error);
}

void
daemon_clear_stages(struct daemon *daemon)
{
	mailer_stage_clear(&daemon->mailer);
	digest_cache_stage_clear(&daemon->scheduler);
	collector_clear(&daemon->collect);
	config_snapshot_unref(daemon->config_snapshot);
}

int
daemon_lock_state(const struct daemon_options *options, GError **error)
{
	int lock = lock_take(options->settings->state_dir, error);

	if (lock < 0)
		settings_free(options->settings);
	return lock;
}

static gboolean
handle_reload(gpointer data)
{
	g_free(daemon_reload(data));
	return G_SOURCE_CONTINUE;
}

static gboolean
handle_end(gpointer data)
{
	struct daemon *daemon = data;

	g_main_loop_quit(daemon->loop);
	return G_SOURCE_CONTINUE;
}

/* From the thread of a mailbox. */
static void
note_mail(void *data)
{
	struct daemon *daemon = data;

	worker_wake(daemon->presser);
}

static bool
start_receivers(struct daemon *daemon, GError **error)
{
	const struct receivers_options options = {
	    .clock = daemon->options->clock,
	    .credentials = daemon->options->credentials,
	    .arrived = note_mail,
	    .data = daemon,
	    .heartbeats = daemon->heartbeats,
	};

	daemon->receivers = receivers_new(&options, daemon->config_snapshot, error);
	return daemon->receivers != NULL;
}

/* A long night of matching gets on commit by commit. */
static void
note_commit(void *data)
{
	heartbeat_arm(data, STEP_S);
}

static void
make_heartbeats(struct daemon *daemon)
{
	daemon->collector_heartbeat = heartbeat_new(daemon->heartbeats, "collector");
	daemon->scheduler_heartbeat = heartbeat_new(daemon->heartbeats, "scheduler");
	daemon->mailer_heartbeat = heartbeat_new(daemon->heartbeats, "mailer");
	store_set_commit_hook(
	    daemon->collect.store, note_commit, daemon->collector_heartbeat);
	store_set_commit_hook(
	    daemon->scheduler.store, note_commit, daemon->scheduler_heartbeat);
	mailer_set_heartbeat(daemon->mailer.mailer, daemon->mailer_heartbeat);
}

/* From the last step of the way to the first: collect pokes press pokes post. */
static bool
start_workers(struct daemon *daemon, GError **error)
{
	struct worker_options options = {
	    .clock = daemon->options->clock,
	    .data = daemon,
	    .step_s = STEP_S,
	};

	make_heartbeats(daemon);
	options.name = "mailer";
	options.heartbeat = daemon->mailer_heartbeat;
	options.step = daemon_step_deliver;
	daemon->poster = worker_new(&options, error);
	options.name = "scheduler";
	options.heartbeat = daemon->scheduler_heartbeat;
	options.step = daemon_step_schedule;
	daemon->presser = daemon->poster ? worker_new(&options, error) : NULL;
	options.name = "collector";
	options.heartbeat = daemon->collector_heartbeat;
	options.step = daemon_step_collect;
	daemon->collector = daemon->presser ? worker_new(&options, error) : NULL;
	return daemon->collector != NULL;
}

/*
 * From here on nothing begins: nobody waits for the others to end first.  What is on
 * its way to the relay has so long, that we end in order before systemd ends us.
 */
static void
end_work(struct daemon *daemon)
{
	g_atomic_int_set(&daemon->collect.stop, 1);
	worker_stop(daemon->poster);
	worker_stop(daemon->presser);
	worker_stop(daemon->collector);
	shutdown_cut_short(
	    daemon->shutdown_fd, daemon->config_snapshot->settings->smtp_stop_wait_s);
}

static void
stop_workers(struct daemon *daemon)
{
	g_atomic_int_set(&daemon->collect.stop, 1);
	/* The first of the way ends first: then nobody pokes one that is gone. */
	worker_free(daemon->collector);
	worker_free(daemon->presser);
	worker_free(daemon->poster);
	heartbeat_free(daemon->collector_heartbeat);
	heartbeat_free(daemon->scheduler_heartbeat);
	heartbeat_free(daemon->mailer_heartbeat);
}

static void
work(struct daemon *daemon)
{
	guint watchdog = watchdog_start(daemon->heartbeats);

	reload_hold(false);
	notify_ready();
	event_log(EVENT_STARTED);
	g_main_loop_run(daemon->loop);
	notify_stopping();
	event_log(EVENT_STOPPING);
	end_work(daemon);
	if (watchdog)
		g_source_remove(watchdog);
}

bool
daemon_run(const struct daemon_options *options, GError **error)
{
	struct daemon daemon = {
	    .options = options,
	    .shutdown_fd = -1,
	    .collected_at = -1,
	    .posted_at = -1,
	    .status_line = {.next_digest_at = -1},
	    .started_at = clock_get_now(options->clock),
	};
	int lock = daemon_lock_state(options, error);
	guint signals[3];
	bool is_ok;

	if (lock < 0)
		return false;
	/* Before any thread starts: a signal during the start is handled, too. */
	signals[0] = g_unix_signal_add(SIGTERM, handle_end, &daemon);
	signals[1] = g_unix_signal_add(SIGINT, handle_end, &daemon);
	signals[2] = g_unix_signal_add(SIGHUP, handle_reload, &daemon);
	g_mutex_init(&daemon.stats_lock);
	g_mutex_init(&daemon.clock_lock);
	daemon.loop = g_main_loop_new(NULL, FALSE);
	daemon.heartbeats = heartbeats_new(watchdog_get_beat_s());
	is_ok = daemon_init_stages(&daemon, error) &&
	        shutdown_open(&daemon.shutdown_fd, error) &&
	        start_workers(&daemon, error) && start_receivers(&daemon, error);
	if (is_ok)
		daemon.control =
		    control_new(daemon.config_snapshot->settings->state_dir,
		        daemon_words, &daemon, error);
	is_ok = is_ok && daemon.control;
	if (is_ok)
		work(&daemon);
	/* SIGHUP has its default action again, which would end the program. */
	reload_hold(true);
	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
		g_source_remove(signals[i]);
	control_free(daemon.control);
	receivers_free(daemon.receivers);
	stop_workers(&daemon);
	if (is_ok)
		store_checkpoint(daemon.scheduler.store);
	daemon_clear_stages(&daemon);
	heartbeats_free(daemon.heartbeats);
	g_free(daemon.relay);
	mailer_relay_clear(&daemon.status_line.relay);
	g_mutex_clear(&daemon.stats_lock);
	g_mutex_clear(&daemon.clock_lock);
	g_main_loop_unref(daemon.loop);
	shutdown_close(daemon.shutdown_fd);
	close(lock);
	if (is_ok)
		event_log(EVENT_ENDED);
	return is_ok;
}
