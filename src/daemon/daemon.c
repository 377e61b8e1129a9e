/*
 * daemon.c - the main loop of paperboyd: threads, control commands, one-shot runs.
 */
#include "daemon/daemon.h"

#include <glib-unix.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "daemon/control.h"
#include "daemon/notify.h"
#include "daemon/pipeline.h"
#include "daemon/receivers.h"
#include "daemon/reload.h"
#include "daemon/shutdown.h"
#include "daemon/status_line.h"
#include "daemon/watchdog.h"
#include "daemon/web_listener.h"
#include "daemon/worker.h"
#include "service/health/metrics.h"
#include "service/log/event.h"
#include "service/setup/startup.h"
#include "service/state/clock_watch.h"
#include "service/state/lock.h"
#include "service/state/one_click.h"

/* Longest step of a thread: the slowest source, or a night's mail. */
#define STEP_S (30 * 60)

/* Time to the next attempt after a failure of the store or the machine. */
#define RETRY_S 60

/* In the order of the pipeline: each wakes the next.  The last that is busy is shown in
 * the status line. */
enum stage { STAGE_COLLECTOR, STAGE_SCHEDULER, STAGE_MAILER, N_STAGES };

struct daemon {
	const struct daemon_options *options;
	struct config_snapshot *config_snapshot; /* the newest; of the main thread */
	struct collector collector;
	struct scheduler scheduler;
	struct mailer_stage mailer;
	struct worker *workers[N_STAGES];
	struct heartbeats *heartbeats; /* of all threads */
	struct heartbeat *stage_heartbeats[N_STAGES];
	struct receivers *receivers;       /* of the main thread */
	struct web_listener *web_listener; /* likewise */
	struct control *control;
	GMainLoop *loop;
	/* Once readable, replies of the relay are no longer awaited; or -1. */
	int shutdown_fd;
	/* Next poll of the sources, s; digests are not built between it and its end. */
	_Atomic int64_t collect_at;
	_Atomic bool is_ready; /* mail can be received */
	/* Try the relay although its breaker is open. */
	_Atomic bool is_retry_requested;
	/* Start of the last completed poll of the sources, s; or -1. */
	_Atomic int64_t collected_at;
	/* End of the last run in which all due mail was sent, s; or -1. */
	_Atomic int64_t delivered_at;
	int64_t retry_at; /* of the collector: end of the first source's back-off */
	int64_t started_at;
	GMutex clock_lock;
	struct clock_watch clock_watch; /* under clock_lock */
	GMutex stats_lock;              /* of the rest */
	char *relay_text;               /* the mailer's last line about the relay */
	struct status_line status_line;
	const char *activity[N_STAGES]; /* static; NULL: idle */
	struct metrics_work work;
	/* Of the scheduler's thread: the digests of this run; NULL: none are built. */
	const struct digest_build_report *building;
	int64_t
	    inbox_due; /* likewise: when the next received message is due, s; or -1 */
	const int *scheduler_stop;   /* likewise */
	_Atomic bool has_mail;       /* received since the last look at the inbox */
	_Atomic bool is_building;    /* the mailer is to be woken for more of them */
	struct mailer_report mailed; /* of the mailer's thread: not logged yet */
	GError *mail_error;          /* of paperboyd --once: what ended the mailer */
};

/* @return an open lock file, or -1, and then the settings are freed */
static int
lock_state(const struct daemon_options *options, GError **error)
{
	int lock = lock_take(options->settings->state_dir, error);

	if (lock < 0)
		settings_free(options->settings);
	return lock;
}

/* Takes the settings.  @return a reference, or NULL */
static struct config_snapshot *
make_first_snapshot(const struct daemon_options *options, GError **error)
{
	pb_auto(settings) settings = options->settings;
	pb_auto(store) store = factory_open_store(settings, error);
	g_autoptr(GBytes) key = store ? startup_load_key(settings, store, error) : NULL;

	if (!key)
		return NULL;
	return config_snapshot_new(g_steal_pointer(&settings), options->credentials,
	    options->clock, key, error);
}

/* Also after a failure, clear_stages() frees them. */
static bool
init_stages(struct daemon *daemon, GError **error)
{
	struct config_snapshot *first = make_first_snapshot(daemon->options, error);

	daemon->config_snapshot = first;
	return first && collector_init(&daemon->collector, first, error) &&
	       scheduler_init(&daemon->scheduler, first, error) &&
	       mailer_stage_init(&daemon->mailer, first, daemon->options->clock,
	           daemon->heartbeats, &daemon->shutdown_fd, error);
}

static void
clear_stages(struct daemon *daemon)
{
	mailer_stage_clear(&daemon->mailer);
	scheduler_clear(&daemon->scheduler);
	collector_clear(&daemon->collector);
	config_snapshot_unref(daemon->config_snapshot);
}

/* ---- steps of the threads ---- */

/* Nothing was changed by the failure.  @return when to try again, s */
static int64_t
log_failure(enum event_kind kind, int64_t now, GError *problem)
{
	event_log(
	    kind, EVENT_SECONDS("next_in", RETRY_S), EVENT_TEXT(problem->message));
	g_error_free(problem);
	return now + RETRY_S;
}

/* Report to systemd.  @param activity  of this stage; static; NULL: idle */
static void
set_activity(struct daemon *daemon, enum stage stage, const char *activity)
{
	g_autofree char *line = NULL;

	g_mutex_lock(&daemon->stats_lock);
	daemon->activity[stage] = activity;
	daemon->status_line.activity = NULL;
	for (int i = 0; i < N_STAGES; i++)
		if (daemon->activity[i])
			daemon->status_line.activity = daemon->activity[i];
	line = status_line_format(&daemon->status_line);
	/* Under the lock, so that an older line does not overwrite a newer one. */
	notify_status(line);
	g_mutex_unlock(&daemon->stats_lock);
}

/* @param store  of the calling thread */
static void
update_status_line(struct daemon *daemon, struct store *store)
{
	int64_t next_at, waiting;

	/* The next step reports a store that fails. */
	if (!status_line_load(store, &next_at, &waiting, NULL))
		return;
	g_mutex_lock(&daemon->stats_lock);
	daemon->status_line.next_digest_at = next_at;
	daemon->status_line.waiting = waiting;
	g_mutex_unlock(&daemon->stats_lock);
}

/* Sooner when the back-off of a source ends before the interval. */
static int64_t
get_next_poll(const struct daemon *daemon)
{
	int64_t next = daemon->collected_at +
	               daemon->collector.config_snapshot->settings->collect_interval_s;

	return daemon->retry_at > daemon->collected_at ? MIN(next, daemon->retry_at)
	                                               : next;
}

/* A failed source with a new address is polled at once. */
static int64_t
get_poll_after_reload(struct daemon *daemon, int64_t now)
{
	bool is_moved = false;

	/* The poll itself reports a store that fails. */
	if (!collect_is_moved(
	        daemon->collector.store, daemon->collector.sources, &is_moved, NULL) ||
	    is_moved)
		return now;
	return get_next_poll(daemon);
}

/* CLOCK_BOOTTIME advances during suspend and when the clock is set.  s, or -1 */
static int64_t
read_boot_time(void)
{
	struct timespec time;

	return clock_gettime(CLOCK_BOOTTIME, &time) == 0 ? (int64_t)time.tv_sec : -1;
}

/* Detect a jump of the clock, before the rest of a step. */
static bool
watch_clock(struct daemon *daemon, struct store *store, int64_t now, GError **error)
{
	bool is_ok;

	g_mutex_lock(&daemon->clock_lock);
	is_ok = clock_watch_check(
	    &daemon->clock_watch, store, now, read_boot_time(), error);
	g_mutex_unlock(&daemon->clock_lock);
	return is_ok;
}

/* Compare a source's Date header with the clock at the time of its answer. */
static bool
collect(
    struct daemon *daemon, int64_t now, struct collect_report *report, GError **error)
{
	struct collector *stage = &daemon->collector;
	bool is_ok;

	if (!watch_clock(daemon, stage->store, now, error) ||
	    !collector_run(stage, now, report, error))
		return false;
	g_mutex_lock(&daemon->clock_lock);
	is_ok = clock_watch_confirm(stage->store, clock_get_now(daemon->options->clock),
	    http_take_date(stage->http), error);
	g_mutex_unlock(&daemon->clock_lock);
	return is_ok;
}

/* @param one  -1 for never, as the other */
static int64_t
earlier(int64_t one, int64_t other)
{
	return one < 0 || (other >= 0 && other < one) ? other : one;
}

static gboolean renew_snapshot(gpointer data);

/* After the papers, which do not wait for it.  @return when it is due, s; -1: never */
static int64_t
check_web(struct daemon *daemon)
{
	bool is_changed;
	int64_t due;

	/* The mail to ourselves has to be received. */
	if (!daemon->is_ready)
		return -1;
	due = collector_check_web(&daemon->collector, daemon->options->clock,
	    &daemon->shutdown_fd, &is_changed);
	if (is_changed)
		g_idle_add(renew_snapshot, daemon);
	return due;
}

static int64_t
run_collector(void *data, int64_t now, const int *stop)
{
	struct daemon *daemon = data;
	struct collect_report report = {0};
	GError *problem = NULL;
	int64_t at;

	(void)stop;
	if (collector_reload(&daemon->collector) && daemon->collected_at >= 0)
		daemon->collect_at = get_poll_after_reload(daemon, now);
	at = daemon->collect_at;
	/* Woken early: sources are not polled more often for that, but a clock that
	 * was set back must not stop the polls. */
	if (now < at &&
	    at - now <= daemon->collector.config_snapshot->settings->collect_interval_s)
		return earlier(at, check_web(daemon));
	set_activity(daemon, STAGE_COLLECTOR, "polling sources");
	if (collect(daemon, now, &report, &problem)) {
		event_log(EVENT_COLLECTOR_DONE, EVENT_INT("answers", report.answers),
		    EVENT_INT("failed", report.failed), EVENT_INT("new", report.fresh),
		    EVENT_INT("changed", report.changed));
		g_mutex_lock(&daemon->stats_lock);
		daemon->work.collects++;
		daemon->work.new_papers += report.fresh;
		daemon->work.failed_fetches += report.failed;
		g_mutex_unlock(&daemon->stats_lock);
		daemon->collected_at = now;
		daemon->retry_at = report.retry_at;
		at = get_next_poll(daemon);
	} else {
		at = log_failure(EVENT_COLLECTOR_FAILED, now, problem);
	}
	daemon->collect_at = at;
	set_activity(daemon, STAGE_COLLECTOR, NULL);
	/* Also without new papers: digests waited for the poll. */
	worker_wake(daemon->workers[STAGE_SCHEDULER]);
	return earlier(at, check_web(daemon));
}

/* Digests do not depend on it.  @return when the next message is due; -1 for never */
static int64_t
process_inbox(struct daemon *daemon, int64_t now, const int *stop)
{
	struct inbox_process_report report = {0};
	GError *problem = NULL;
	int64_t next = -1;
	bool is_ok = scheduler_process_inbox(
	    &daemon->scheduler, now, stop, &report, &next, &problem);

	if (report.handled)
		worker_wake(daemon->workers[STAGE_MAILER]);
	g_mutex_lock(&daemon->stats_lock);
	daemon->work.inbox += report.handled;
	g_mutex_unlock(&daemon->stats_lock);
	return is_ok ? next : log_failure(EVENT_INBOX_ERROR, now, problem);
}

/* Also while nothing else works.  @return when to check again */
static int64_t
send_alerts(struct daemon *daemon, int64_t now)
{
	struct mailer_relay relay;
	g_autoptr(GError) problem = NULL;
	unsigned reported;

	g_mutex_lock(&daemon->stats_lock);
	relay = daemon->status_line.relay;
	relay.domain = g_strdup(relay.domain);
	g_mutex_unlock(&daemon->stats_lock);
	if (!scheduler_send_alerts(
	        &daemon->scheduler, now, &relay, &reported, &problem))
		event_log(EVENT_SCHEDULER_FAILED,
		    EVENT_SECONDS("next_in", daemon->scheduler.alerts_at - now),
		    EVENT_TEXT(problem->message));
	if (reported)
		worker_wake(daemon->workers[STAGE_MAILER]);
	mailer_relay_clear(&relay);
	return daemon->scheduler.alerts_at;
}

/* Send the first digests while others are built.  A step of many commits may take
 * longer than STEP_S in all. */
static void
handle_scheduler_commit(void *data)
{
	struct daemon *daemon = data;

	heartbeat_arm(daemon->stage_heartbeats[STAGE_SCHEDULER], STEP_S);
	if (!daemon->building || !daemon->building->digests)
		return;
	daemon->is_building = true;
	worker_wake(daemon->workers[STAGE_MAILER]);
}

/* Replies do not wait until all digests are built. */
static void
process_inbox_between(void *data)
{
	struct daemon *daemon = data;
	int64_t now = clock_get_now(daemon->options->clock);

	if (daemon->has_mail || (daemon->inbox_due >= 0 && daemon->inbox_due <= now)) {
		daemon->has_mail = false;
		daemon->inbox_due = process_inbox(daemon, now, daemon->scheduler_stop);
	}
}

static void
end_building(void *data)
{
	struct daemon *daemon = data;

	daemon->is_building = false;
	if (daemon->building && daemon->building->digests)
		worker_wake(daemon->workers[STAGE_MAILER]);
	daemon->building = NULL;
}

/*
 * After a start or a suspend, sources are polled before digests are built: papers of a
 * due slot would otherwise come with the next one, a day or a week later.
 */
static int64_t
run_scheduler(void *data, int64_t now, const int *stop)
{
	struct daemon *daemon = data;
	struct digest_build_report report = {0};
	GError *problem = NULL;
	int64_t next = -1;
	bool is_ok;

	scheduler_reload(&daemon->scheduler);
	store_set_stop(daemon->scheduler.store, stop);
	daemon->scheduler_stop = stop;
	daemon->has_mail = false;
	daemon->inbox_due = process_inbox(daemon, now, stop);
	if (now >= daemon->collect_at)
		return daemon->inbox_due;
	set_activity(daemon, STAGE_SCHEDULER, "building digests");
	daemon->building = &report;
	is_ok = watch_clock(daemon, daemon->scheduler.store, now, &problem) &&
	        scheduler_run(&daemon->scheduler, now, &report, &next, &problem);
	end_building(daemon);
	/* Some pages may be committed although a later one failed. */
	g_mutex_lock(&daemon->stats_lock);
	daemon->work.digests += report.digests;
	daemon->work.empty_digests += report.quiet;
	g_mutex_unlock(&daemon->stats_lock);
	update_status_line(daemon, daemon->scheduler.store);
	set_activity(daemon, STAGE_SCHEDULER, NULL);
	if (!is_ok)
		next = log_failure(EVENT_SCHEDULER_FAILED, now, problem);
	return earlier(earlier(next, daemon->inbox_due), send_alerts(daemon, now));
}

static int64_t
run_mailer(void *data, int64_t now, const int *stop)
{
	struct daemon *daemon = data;
	struct mailer_report *report = &daemon->mailed, before = *report;
	GError *problem = NULL;
	char *relay_text;
	int64_t next;
	bool is_ok;

	if (!mailer_stage_reload(&daemon->mailer, &problem))
		return log_failure(EVENT_MAILER_FAILED, now, problem);
	if (daemon->is_retry_requested) {
		daemon->is_retry_requested = false;
		mailer_reset_breakers(daemon->mailer.mailer);
	}
	set_activity(daemon, STAGE_MAILER, "sending");
	is_ok = mailer_stage_run(&daemon->mailer, stop, report, &next, &problem);
	update_status_line(daemon, daemon->mailer.store);
	if (is_ok)
		daemon->delivered_at = clock_get_now(daemon->options->clock);
	relay_text = mailer_format_relay(daemon->mailer.mailer);
	g_mutex_lock(&daemon->stats_lock);
	g_free(daemon->relay_text);
	daemon->relay_text = relay_text;
	mailer_relay_clear(&daemon->status_line.relay);
	mailer_describe_relay(daemon->mailer.mailer, &daemon->status_line.relay);
	daemon->work.sent += report->sent - before.sent;
	daemon->work.deferred += report->deferred - before.deferred;
	daemon->work.failed += report->failed - before.failed;
	g_mutex_unlock(&daemon->stats_lock);
	/* The runs while digests are built are logged as one. */
	if (!daemon->is_building || g_atomic_int_get(stop)) {
		mailer_stage_log(report);
		*report = (struct mailer_report){0};
	}
	set_activity(daemon, STAGE_MAILER, NULL);
	return is_ok ? next : log_failure(EVENT_MAILER_FAILED, now, problem);
}

/* ---- control commands ---- */

static void
wake_all(struct daemon *daemon)
{
	for (int i = 0; i < N_STAGES; i++)
		worker_wake(daemon->workers[i]);
}

/* Takes the snapshot.  Each stage switches to it between two of its runs. */
static void
publish_snapshot(struct daemon *daemon, struct config_snapshot *fresh)
{
	config_snapshot_publish(&daemon->collector.next, fresh);
	config_snapshot_publish(&daemon->scheduler.next, fresh);
	mailer_stage_publish(&daemon->mailer, fresh);
	receivers_reload(daemon->receivers, fresh);
	web_listener_reload(daemon->web_listener, fresh);
	config_snapshot_unref(daemon->config_snapshot);
	daemon->config_snapshot = fresh;
	wake_all(daemon);
}

/* @return the reply to the client, a new string; NULL for ok */
static char *
reload(struct daemon *daemon)
{
	const struct daemon_options *options = daemon->options;
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
	struct config_snapshot *fresh;

	notify_reloading();
	fresh = reload_load(
	    options->config, options->credentials, daemon->config_snapshot, problems);
	/* Before the event, which is logged by the new level. */
	if (fresh)
		log_set_level(options->log, fresh->settings->log_level);
	reload_log(daemon->config_snapshot, fresh, problems);
	if (fresh)
		publish_snapshot(daemon, fresh);
	notify_ready();
	return reload_format_answer(problems);
}

/* Whether digests offer one-click unsubscribing has changed. */
static gboolean
renew_snapshot(gpointer data)
{
	struct daemon *daemon = data;
	g_autoptr(GError) problem = NULL;
	struct config_snapshot *current = daemon->config_snapshot;
	struct config_snapshot *fresh;

	if (one_click_is_offered(current->settings) == current->is_one_click_offered)
		return G_SOURCE_REMOVE;
	fresh = config_snapshot_renew(current, daemon->options->credentials, &problem);
	if (fresh)
		publish_snapshot(daemon, fresh);
	else
		event_log(EVENT_CONFIG_ERROR, EVENT_TEXT(problem->message));
	return G_SOURCE_REMOVE;
}

/* The store was changed by another process. */
static char *
command_wake(void *data)
{
	renew_snapshot(data);
	wake_all(data);
	return NULL;
}

static char *
command_reload(void *data)
{
	return reload(data);
}

static char *
command_retry(void *data)
{
	struct daemon *daemon = data;

	daemon->is_retry_requested = true;
	worker_wake(daemon->workers[STAGE_MAILER]);
	return NULL;
}

/* @param state  to be cleared */
static void
load_state(struct daemon *daemon, struct status_daemon *state)
{
	*state = (struct status_daemon){
	    .is_running = true,
	    .started_at = daemon->started_at,
	    .collected_at = daemon->collected_at,
	    .delivered_at = daemon->delivered_at,
	    .receivers = receivers_format(daemon->receivers),
	};
	g_mutex_lock(&daemon->stats_lock);
	state->relay = daemon->status_line.relay;
	state->relay.domain = g_strdup(state->relay.domain);
	state->relay_text =
	    g_strdup(daemon->relay_text ? daemon->relay_text : "not tried yet");
	g_mutex_unlock(&daemon->stats_lock);
	g_strdelimit(state->relay_text, "\r\n", ' ');
}

static char *
command_status(void *data)
{
	pb_local(status_daemon) state = {0};
	char *reply;

	load_state(data, &state);
	reply = status_daemon_format(&state);
	return reply;
}

/* @return lines; an error as a comment, which a scraper skips */
static char *
command_metrics(void *data)
{
	struct daemon *daemon = data;
	const struct settings *settings = daemon->config_snapshot->settings;
	pb_local(status_daemon) state = {0};
	struct metrics_work work;
	g_autoptr(GError) error = NULL;
	pb_auto(store) store = factory_open_store(settings, &error);
	char *text = NULL;

	load_state(daemon, &state);
	g_mutex_lock(&daemon->stats_lock);
	work = daemon->work;
	g_mutex_unlock(&daemon->stats_lock);
	work.overdue_threads = heartbeats_count_overdue(daemon->heartbeats, NULL);
	if (store)
		text = metrics_format(store, settings, &state, &work,
		    clock_get_now(daemon->options->clock), &error);
	return text ? g_strchomp(text) : g_strdup_printf("# %s", error->message);
}

static const struct control_command commands[] = {
    {"wake", command_wake},
    {"retry", command_retry},
    {"status", command_status},
    {"metrics", command_metrics},
    {"reload", command_reload},
    {0},
};

/* ---- start and stop ---- */

static gboolean
handle_hangup(gpointer data)
{
	g_free(reload(data));
	return G_SOURCE_CONTINUE;
}

static gboolean
handle_terminate(gpointer data)
{
	struct daemon *daemon = data;

	g_main_loop_quit(daemon->loop);
	return G_SOURCE_CONTINUE;
}

/* From a receiver's thread. */
static void
handle_mail_received(void *data)
{
	struct daemon *daemon = data;

	daemon->has_mail = true;
	worker_wake(daemon->workers[STAGE_SCHEDULER]);
}

static bool
start_receivers(struct daemon *daemon, GError **error)
{
	const struct receivers_options options = {
	    .clock = daemon->options->clock,
	    .credentials = daemon->options->credentials,
	    .arrived = handle_mail_received,
	    .data = daemon,
	    .heartbeats = daemon->heartbeats,
	};

	daemon->receivers = receivers_new(&options, daemon->config_snapshot, error);
	return daemon->receivers != NULL;
}

/* From a thread of the page. */
static void
handle_web_change(void *data, const struct handler_report *report)
{
	struct daemon *daemon = data;

	if (report->is_queued)
		worker_wake(daemon->workers[STAGE_MAILER]);
	/* Also for erasures, which wait for a mail. */
	worker_wake(daemon->workers[STAGE_SCHEDULER]);
}

static bool
start_web_listener(struct daemon *daemon, GError **error)
{
	const struct web_listener_options options = {
	    .clock = daemon->options->clock,
	    .heartbeats = daemon->heartbeats,
	    .changed = handle_web_change,
	    .data = daemon,
	};

	daemon->web_listener =
	    web_listener_new(&options, daemon->config_snapshot, error);
	return daemon->web_listener != NULL;
}

/* A step of many commits may take longer than STEP_S in all. */
static void
handle_commit(void *data)
{
	heartbeat_arm(data, STEP_S);
}

static const struct {
	const char *name;
	worker_step step;
} stages[N_STAGES] = {
    [STAGE_COLLECTOR] = {"collector", run_collector},
    [STAGE_SCHEDULER] = {"scheduler", run_scheduler},
    [STAGE_MAILER] = {"mailer", run_mailer},
};

/* The last stage first, since each wakes the next. */
static bool
start_workers(struct daemon *daemon, GError **error)
{
	struct heartbeat **heartbeats = daemon->stage_heartbeats;

	for (int i = 0; i < N_STAGES; i++)
		heartbeats[i] = heartbeat_new(daemon->heartbeats, stages[i].name);
	store_set_commit_hook(
	    daemon->collector.store, handle_commit, heartbeats[STAGE_COLLECTOR]);
	store_set_commit_hook(daemon->scheduler.store, handle_scheduler_commit, daemon);
	store_set_between(daemon->scheduler.store, process_inbox_between, daemon);
	daemon->scheduler.built = end_building;
	daemon->scheduler.data = daemon;
	mailer_set_heartbeat(daemon->mailer.mailer, heartbeats[STAGE_MAILER]);
	for (int i = N_STAGES - 1; i >= 0; i--) {
		const struct worker_options options = {
		    .name = stages[i].name,
		    .clock = daemon->options->clock,
		    .step = stages[i].step,
		    .data = daemon,
		    .step_s = STEP_S,
		    .heartbeat = heartbeats[i],
		};

		daemon->workers[i] = worker_new(&options, error);
		if (!daemon->workers[i])
			return false;
	}
	return true;
}

/*
 * Ask all threads to end at once, and limit the wait for the relay, so that we end
 * before systemd kills us.
 */
static void
begin_shutdown(struct daemon *daemon)
{
	g_atomic_int_set(&daemon->collector.stop, 1);
	for (int i = N_STAGES - 1; i >= 0; i--)
		worker_stop(daemon->workers[i]);
	shutdown_cut_short(daemon->shutdown_fd,
	    daemon->config_snapshot->settings->smtp_shutdown_timeout_s);
}

/* The first stage first: none is woken after it was freed. */
static void
stop_workers(struct daemon *daemon)
{
	g_atomic_int_set(&daemon->collector.stop, 1);
	for (int i = 0; i < N_STAGES; i++)
		worker_free(daemon->workers[i]);
	for (int i = 0; i < N_STAGES; i++)
		heartbeat_free(daemon->stage_heartbeats[i]);
}

static void
run_loop(struct daemon *daemon)
{
	guint watchdog = watchdog_start(daemon->heartbeats);

	reload_hold(false);
	notify_ready();
	event_log(EVENT_STARTED);
	daemon->is_ready = true;
	worker_wake(daemon->workers[STAGE_COLLECTOR]);
	g_main_loop_run(daemon->loop);
	notify_stopping();
	event_log(EVENT_STOPPING);
	begin_shutdown(daemon);
	if (watchdog)
		g_source_remove(watchdog);
}

static bool
start(struct daemon *daemon, GError **error)
{
	if (!init_stages(daemon, error) ||
	    !shutdown_open(&daemon->shutdown_fd, error) ||
	    !start_workers(daemon, error) || !start_receivers(daemon, error) ||
	    !start_web_listener(daemon, error))
		return false;
	daemon->control = control_new(
	    daemon->config_snapshot->settings->state_dir, commands, daemon, error);
	return daemon->control != NULL;
}

/* Also after a start that failed. */
static void
stop(struct daemon *daemon, bool is_started)
{
	control_free(daemon->control);
	web_listener_free(daemon->web_listener);
	receivers_free(daemon->receivers);
	stop_workers(daemon);
	if (is_started)
		store_checkpoint(daemon->scheduler.store);
	clear_stages(daemon);
	heartbeats_free(daemon->heartbeats);
	g_free(daemon->relay_text);
	mailer_relay_clear(&daemon->status_line.relay);
	g_mutex_clear(&daemon->stats_lock);
	g_mutex_clear(&daemon->clock_lock);
	g_main_loop_unref(daemon->loop);
	shutdown_close(daemon->shutdown_fd);
}

bool
daemon_run(const struct daemon_options *options, GError **error)
{
	struct daemon daemon = {
	    .options = options,
	    .shutdown_fd = -1,
	    .collected_at = -1,
	    .delivered_at = -1,
	    .status_line = {.next_digest_at = -1},
	    .started_at = clock_get_now(options->clock),
	};
	int lock = lock_state(options, error);
	guint signals[3];
	bool is_ok;

	if (lock < 0)
		return false;
	/* Before any thread, so that signals during the start are handled. */
	signals[0] = g_unix_signal_add(SIGTERM, handle_terminate, &daemon);
	signals[1] = g_unix_signal_add(SIGINT, handle_terminate, &daemon);
	signals[2] = g_unix_signal_add(SIGHUP, handle_hangup, &daemon);
	g_mutex_init(&daemon.stats_lock);
	g_mutex_init(&daemon.clock_lock);
	daemon.loop = g_main_loop_new(NULL, FALSE);
	daemon.heartbeats = heartbeats_new(watchdog_get_interval_s());
	is_ok = start(&daemon, error);
	if (is_ok)
		run_loop(&daemon);
	/* Removing the handler restores the default action, which kills us. */
	reload_hold(true);
	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
		g_source_remove(signals[i]);
	stop(&daemon, is_ok);
	close(lock);
	if (is_ok)
		event_log(EVENT_ENDED);
	return is_ok;
}

/* ---- paperboyd --once ---- */

static void
ignore_mail_received(void *data)
{
	(void)data;
}

/* @param is_clean  cleared when messages are left */
static bool
receive_once(struct daemon *daemon, int64_t now, bool *is_clean, GError **error)
{
	const struct receivers_options options = {
	    .clock = daemon->options->clock,
	    .credentials = daemon->options->credentials,
	    .arrived = ignore_mail_received,
	};
	struct inbox_process_report report = {0};
	g_autoptr(GError) problem = NULL;
	int64_t next = -1;

	if (!receivers_poll(&options, daemon->config_snapshot, is_clean, error))
		return false;
	if (!scheduler_process_inbox(
	        &daemon->scheduler, now, NULL, &report, &next, &problem))
		event_log(EVENT_INBOX_ERROR, EVENT_TEXT(problem->message));
	*is_clean = *is_clean && !problem && next < 0;
	return true;
}

static int64_t
run_mailer_once(void *data, int64_t now, const int *stop)
{
	struct daemon *daemon = data;
	int64_t next;

	(void)now;
	if (!daemon->mail_error)
		mailer_stage_run(
		    &daemon->mailer, stop, &daemon->mailed, &next, &daemon->mail_error);
	return -1;
}

/* Send while digests are built, if there are more than a page of them. */
static void
handle_commit_once(void *data)
{
	struct daemon *daemon = data;
	struct worker **mailer = &daemon->workers[STAGE_MAILER];
	const struct worker_options options = {
	    .name = stages[STAGE_MAILER].name,
	    .clock = daemon->options->clock,
	    .step = run_mailer_once,
	    .data = daemon,
	    .step_s = STEP_S,
	};

	if (!daemon->building->digests)
		return;
	/* Without a thread all are sent afterwards. */
	if (!*mailer)
		*mailer = worker_new(&options, NULL);
	else
		worker_wake(*mailer);
}

static void
end_building_once(void *data)
{
	struct daemon *daemon = data;

	store_set_commit_hook(daemon->scheduler.store, NULL, NULL);
	g_clear_pointer(&daemon->workers[STAGE_MAILER], worker_free);
}

/* @param next  set to when to retry what is left, s; -1: all is sent */
static bool
build_and_send_once(struct daemon *daemon, int64_t now,
    struct digest_build_report *built, int64_t *next, GError **error)
{
	bool is_ok;

	daemon->building = built;
	daemon->scheduler.built = end_building_once;
	daemon->scheduler.data = daemon;
	store_set_commit_hook(daemon->scheduler.store, handle_commit_once, daemon);
	is_ok = scheduler_run(&daemon->scheduler, now, built, next, error);
	end_building_once(daemon);
	if (is_ok && daemon->mail_error)
		is_ok = pb_error_forward(error, &daemon->mail_error);
	g_clear_error(&daemon->mail_error);
	if (!is_ok ||
	    !mailer_stage_run(&daemon->mailer, NULL, &daemon->mailed, next, error))
		return false;
	mailer_stage_log(&daemon->mailed);
	return true;
}

bool
daemon_run_once(const struct daemon_options *options, bool *is_clean, GError **error)
{
	struct daemon daemon = {.options = options, .shutdown_fd = -1};
	struct collect_report collected = {0};
	struct digest_build_report built = {0};
	const struct mailer_report *mailed = &daemon.mailed;
	int64_t now = clock_get_now(options->clock), next;
	int lock = lock_state(options, error);
	bool is_ok, is_inbox_clean = true;

	if (lock < 0)
		return false;
	is_ok =
	    init_stages(&daemon, error) &&
	    clock_watch_check(
	        &daemon.clock_watch, daemon.scheduler.store, now, -1, error) &&
	    receive_once(&daemon, now, &is_inbox_clean, error) &&
	    collector_run(&daemon.collector, now, &collected, error) &&
	    clock_watch_confirm(daemon.collector.store, clock_get_now(options->clock),
	        http_take_date(daemon.collector.http), error) &&
	    build_and_send_once(&daemon, now, &built, &next, error);
	if (is_ok) {
		store_checkpoint(daemon.scheduler.store);
		/* next is the mailer's: when to retry what is left. */
		*is_clean = is_inbox_clean && !collected.failed && next < 0 &&
		            (!mailed->failed || mailed->sent);
		event_log(EVENT_RUN_DONE, EVENT_INT("answers", collected.answers),
		    EVENT_INT("failed", collected.failed),
		    EVENT_INT("new", collected.fresh),
		    EVENT_INT("digests", built.digests),
		    EVENT_INT("sent", mailed->sent));
	}
	clear_stages(&daemon);
	close(lock);
	return is_ok;
}
