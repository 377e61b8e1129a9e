/*
 * daemon.c - the main loop of paperboyd: threads and control commands.
 */
#include "daemon/daemon.h"

#include <errno.h>
#include <glib-unix.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/frame.h"
#include "base/listen_socket.h"
#include "base/notify.h"
#include "daemon/config_snapshot.h"
#include "daemon/control.h"
#include "daemon/pipeline.h"
#include "daemon/receivers.h"
#include "daemon/reload.h"
#include "daemon/stages.h"
#include "daemon/status_line.h"
#include "daemon/worker.h"
#include "message/web_proto.h"
#include "service/health/metrics.h"
#include "service/inbound/handler.h"
#include "service/log/event.h"
#include "service/log/heartbeat.h"
#include "service/state/clock_watch.h"
#include "service/state/one_click.h"
#include "service/web/web_handler.h"
#include "store/core/instances.h"

/* ---- requests of paperboy-web, on a Unix socket ---- */

struct daemon;

/* After a request that changed something, from a thread of the page. */
static void
handle_web_change(struct daemon *daemon, const struct handler_report *report);

#define BACKLOG 256

/* Timeout for a whole frame. */
#define TRANSFER_US (3 * G_USEC_PER_SEC)

/* Delay after a connection that cannot be accepted. */
#define RETRY_MS 200

/* Maximum time to process a request, s: the store's timeout, and a search.  A thread
 * that takes longer misses its heartbeat, and systemd restarts the service. */
#define STEP_S 120

/* Number of threads that answer paperboy-web. */
#define THREADS 2

struct web_thread {
	struct web_listener *listener;
	struct config_snapshot *config_snapshot;
	struct config_snapshot_slot next;
	struct store *store;
	struct heartbeat *heartbeat;
	GThread *gthread;
};

struct web_listener {
	struct daemon *daemon;
	const struct clock *clock;
	struct heartbeats *heartbeats; /* or NULL */
	struct web_budget *budget;
	int fd;         /* listening; or -1 */
	int stop_fd;    /* readable: end; or -1 */
	int is_failing; /* a request failed, which was logged; atomic */
	char *path;     /* of the socket; NULL: not listening */
	struct web_thread threads[THREADS];
};

/* ---- requests ---- */

/* Log the first of several failures, and the first change after them. */
static void
set_problem(struct web_listener *listener, const struct web_request *request,
    const GError *problem)
{
	int *is_failing = &listener->is_failing;

	if (problem && g_atomic_int_compare_and_exchange(is_failing, 0, 1))
		event_log(EVENT_WEB_FAILED, EVENT_TEXT(problem->message));
	if (!problem && web_handler_is_change(request->op) &&
	    g_atomic_int_compare_and_exchange(is_failing, 1, 0))
		event_log(EVENT_WEB_RECOVERED);
}

/* @return NULL if the store fails */
static struct web_reply *
process(struct web_thread *thread, const struct web_request *request, GError **error)
{
	struct web_listener *listener = thread->listener;
	const struct config_snapshot *config_snapshot = thread->config_snapshot;
	struct renderer *renderer = config_snapshot->renderer;
	const struct web_handler handler = {
	    .store = thread->store,
	    .options = {.settings = config_snapshot->settings,
	        .own_addresses = config_snapshot->own_addresses,
	        .sources = config_snapshot->sources,
	        .phrases = renderer_get_catalog(renderer),
	        .renderer = renderer,
	        .key = config_snapshot->key,
	        .random = &random_system,
	        .now = clock_get_now(listener->clock)},
	    .budget = listener->budget,
	};
	struct handler_report report = {0};
	struct web_reply *reply = web_handler_run(&handler, request, &report, error);

	if (report.is_changed || report.is_queued)
		handle_web_change(listener->daemon, &report);
	return reply;
}

static GBytes *
format_status(enum web_status status)
{
	pb_auto(web_reply) reply = web_reply_new(status, WEB_PAGE_NONE, "", NULL);

	return web_reply_write(reply);
}

/* @return the frame of the reply */
static GBytes *
process_frame(struct web_thread *thread, GBytes *frame)
{
	pb_auto(web_request) request = web_request_parse(frame, NULL);
	pb_auto(web_reply) reply = NULL;
	g_autoptr(GError) problem = NULL;
	GBytes *made = NULL;

	if (!request)
		return format_status(WEB_STATUS_BAD_REQUEST);
	reply = process(thread, request, &problem);
	if (reply)
		made = web_reply_write(reply);
	if (reply && !made)
		pb_fail(
		    &problem, PB_ERROR_LIMIT, "a reply to paperboy-web is too large");
	set_problem(thread->listener, request, problem);
	return made ? made : format_status(WEB_STATUS_UNAVAILABLE);
}

static void
serve(struct web_thread *thread, int fd)
{
	/* NULL if the peer is slow or has closed the connection. */
	g_autoptr(GBytes) frame = frame_receive(
	    fd, WEB_PROTO_REQUEST_BYTES, g_get_monotonic_time() + TRANSFER_US);
	g_autoptr(GBytes) reply = frame ? process_frame(thread, frame) : NULL;

	/* The peer may be gone; what it asked for is done. */
	if (reply)
		frame_send(fd, reply, g_get_monotonic_time() + TRANSFER_US);
}

/* ---- threads ---- */

/* @return false when the thread is to end */
static bool
wait_for_client(struct web_thread *thread, int fd)
{
	struct pollfd fds[] = {
	    {.fd = thread->listener->stop_fd, .events = POLLIN},
	    {.fd = fd, .events = POLLIN},
	};
	int count;

	do {
		int64_t beat_s = heartbeat_idle(thread->heartbeat);

		count = poll(fds, G_N_ELEMENTS(fds), beat_s ? (int)beat_s * 1000 : -1);
	} while (count == 0 || (count < 0 && errno == EINTR));
	return !fds[0].revents;
}

/* @return -1 if another thread has accepted it, or on a failure */
static int
accept_client(struct web_thread *thread, int listen_fd)
{
	int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
	struct pollfd stop = {.fd = thread->listener->stop_fd, .events = POLLIN};

	/* Too many open files, perhaps: the client stays in the queue. */
	if (fd < 0 && errno != EAGAIN && errno != EINTR)
		poll(&stop, 1, RETRY_MS);
	return fd;
}

static gpointer
run(gpointer data)
{
	struct web_thread *thread = data;
	int listen_fd = thread->listener->fd;

	while (wait_for_client(thread, listen_fd)) {
		int fd;

		heartbeat_arm(thread->heartbeat, STEP_S);
		fd = accept_client(thread, listen_fd);
		if (fd < 0)
			continue;
		config_snapshot_switch(&thread->config_snapshot, &thread->next);
		serve(thread, fd);
		close(fd);
	}
	return NULL;
}

static bool
start_thread(struct web_thread *thread, struct web_listener *listener, unsigned number,
    struct config_snapshot *config_snapshot, GError **error)
{
	g_autofree char *name = g_strdup_printf("web-%u", number + 1);

	*thread = (struct web_thread){
	    .listener = listener,
	    .config_snapshot = config_snapshot_ref(config_snapshot),
	    .store = factory_open_store(config_snapshot->settings, error),
	};
	if (!thread->store)
		return false;
	thread->heartbeat = heartbeat_new(listener->heartbeats, name);
	thread->gthread = g_thread_try_new(name, run, thread, error);
	return thread->gthread != NULL;
}

static void
stop_thread(struct web_thread *thread)
{
	if (thread->gthread)
		g_thread_join(thread->gthread);
	heartbeat_free(thread->heartbeat);
	store_free(thread->store);
	config_snapshot_unref(config_snapshot_take(&thread->next));
	config_snapshot_unref(thread->config_snapshot);
	*thread = (struct web_thread){0};
}

static void
stop_listening(struct web_listener *listener)
{
	uint64_t one = 1;

	if (!listener->path)
		return;
	if (listener->stop_fd >= 0) {
		ssize_t size = write(listener->stop_fd, &one, sizeof(one));

		/* Cannot fail: the counter is 0. */
		(void)size;
	}
	for (unsigned i = 0; i < THREADS; i++)
		stop_thread(&listener->threads[i]);
	if (listener->stop_fd >= 0)
		close(listener->stop_fd);
	if (listener->fd >= 0) {
		unlink(listener->path);
		close(listener->fd);
	}
	listener->stop_fd = listener->fd = -1;
	g_clear_pointer(&listener->path, g_free);
}

/* Anybody may connect, as to the page; its directory may restrict that. */
static bool
open_socket(struct web_listener *listener, GError **error)
{
	listener->fd = listen_socket_bind_unix(listener->path, error);
	if (listener->fd < 0) {
		g_prefix_error(error, "web.socket: ");
		return false;
	}
	if (chmod(listener->path, 0666) != 0 || listen(listener->fd, BACKLOG) != 0)
		return pb_fail(error, PB_ERROR_TEMPORARY,
		    "web.socket: cannot listen on '%s': %s", listener->path,
		    g_strerror(errno));
	listener->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return listener->stop_fd >= 0 ||
	       pb_fail(error, PB_ERROR_TEMPORARY,
	           "cannot create an event file descriptor: %s", g_strerror(errno));
}

/* Without web.url nothing is started. */
static bool
start_listening(struct web_listener *listener, struct config_snapshot *config_snapshot,
    GError **error)
{
	const struct settings *settings = config_snapshot->settings;
	bool is_ok;

	if (!*settings->web_url)
		return true;
	listener->path = g_strdup(settings->web_socket);
	is_ok = open_socket(listener, error);
	for (unsigned i = 0; is_ok && i < THREADS; i++)
		is_ok = start_thread(
		    &listener->threads[i], listener, i, config_snapshot, error);
	if (!is_ok)
		stop_listening(listener);
	return is_ok;
}

/* Stop the threads; requests being processed are finished. @param listener  or NULL */
static void
web_listener_free(struct web_listener *listener)
{
	if (!listener)
		return;
	stop_listening(listener);
	web_budget_free(listener->budget);
	g_free(listener);
}

/* Start the threads, if web.url is set. */
static struct web_listener *
web_listener_new(struct daemon *daemon, const struct clock *clock,
    struct heartbeats *heartbeats, struct config_snapshot *config_snapshot,
    GError **error)
{
	struct web_listener *listener = g_new0(struct web_listener, 1);

	listener->daemon = daemon;
	listener->clock = clock;
	listener->heartbeats = heartbeats;
	listener->fd = listener->stop_fd = -1;
	listener->budget = web_budget_new(WEB_TESTS_PER_HOUR);
	if (start_listening(listener, config_snapshot, error))
		return listener;
	web_listener_free(listener);
	return NULL;
}

/* Switch to a snapshot; failures are logged. */
static void
web_listener_reload(
    struct web_listener *listener, struct config_snapshot *config_snapshot)
{
	const struct settings *settings = config_snapshot->settings;
	const char *path = *settings->web_url ? settings->web_socket : NULL;
	g_autoptr(GError) problem = NULL;

	if (listener->path && g_strcmp0(listener->path, path) == 0) {
		for (unsigned i = 0; i < THREADS; i++)
			config_snapshot_publish(
			    &listener->threads[i].next, config_snapshot);
		return;
	}
	stop_listening(listener);
	if (!start_listening(listener, config_snapshot, &problem))
		event_log(EVENT_WEB_FAILED, EVENT_TEXT(problem->message));
}

/* ---- watchdog ---- */

/* Messages per WatchdogSec. */
#define BEATS 6

/* Interval of the messages, and of heartbeats of idle threads, s; 0: no watchdog. */
static int64_t
watchdog_get_interval_s(void)
{
	return notify_get_watchdog_s() / BEATS;
}

/* Without the message systemd kills and restarts us; the event names the thread. */
static gboolean
notify_watchdog(gpointer data)
{
	struct heartbeats *heartbeats = data;
	g_autofree char *name = NULL;

	if (heartbeats_count_overdue(heartbeats, &name))
		event_log(EVENT_THREAD_STUCK, EVENT_WORD("thread", name));
	else
		notify_send("WATCHDOG=1");
	return G_SOURCE_CONTINUE;
}

/* ---- daemon ---- */

/* Time to the next attempt after a failure of the store or the machine. */
#define RETRY_S 60

/* Time to the next attempt after a failure of a database server, which may be started
 * again at any time. */
#define SERVER_RETRY_S 10

/* Interval of checks for work that other instances have added. */
#define SHARED_CHECK_S 5

/* Maximum time for monthly reports between two runs of the scheduler. */
#define CHECKUPS_MS 250

/* In the order of the pipeline: each wakes the next.  The last that is busy is shown in
 * the status line. */
enum stage { STAGE_COLLECTOR, STAGE_SCHEDULER, STAGE_MAILER, N_STAGES };

struct daemon {
	const struct daemon_options *options;
	struct stages stages; /* config_snapshot: of the main thread */
	struct worker *workers[N_STAGES];
	struct heartbeats *heartbeats; /* of all threads */
	struct heartbeat *stage_heartbeats[N_STAGES];
	struct receivers *receivers;       /* of the main thread */
	struct web_listener *web_listener; /* of the main thread */
	struct control *control;
	GMainLoop *loop;
	/* A timer that is started by a shutdown: once readable, replies of the relay
	 * are no longer awaited; or -1. */
	int shutdown_fd;
	/* Next poll of the sources, s; digests are not built between it and its end. */
	_Atomic int64_t collect_at;
	_Atomic bool is_ready;    /* mail can be received */
	_Atomic bool is_outdated; /* the store: end, and be started again */
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
	int64_t inbox_due; /* of the scheduler: when the next received message is due,
	                      s; or -1 */
	const int *scheduler_stop;     /* of the scheduler */
	_Atomic bool is_inbox_failing; /* the last run over received mail failed */
	_Atomic bool has_mail;         /* received since the last look at the inbox */
	_Atomic bool is_building;      /* the mailer is to be woken for more of them */
	struct mailer_report mailed;   /* of the mailer's thread: not logged yet */
};

/* ---- steps of the threads ---- */

/* Nothing was changed by the failure.  @return when to try again, s */
static int64_t
log_failure(
    const struct daemon *daemon, enum event_kind kind, int64_t now, GError *problem)
{
	bool is_shared = store_is_shared(daemon->stages.scheduler.store);
	int64_t retry_s = is_shared ? SERVER_RETRY_S : RETRY_S;

	if (!g_error_matches(problem, PB_ERROR, PB_ERROR_STOPPED))
		event_log(kind, EVENT_SECONDS("next_in", retry_s),
		    EVENT_TEXT(problem->message));
	g_error_free(problem);
	return now + retry_s;
}

/* Report to systemd.  @param activity  of this stage; static; NULL: idle */
static void
set_activity(struct daemon *daemon, enum stage stage, const char *activity)
{
	g_autofree char *line = NULL, *message = NULL;

	g_mutex_lock(&daemon->stats_lock);
	daemon->activity[stage] = activity;
	daemon->status_line.activity = NULL;
	for (int i = 0; i < N_STAGES; i++)
		if (daemon->activity[i])
			daemon->status_line.activity = daemon->activity[i];
	line = status_line_format(&daemon->status_line);
	message = g_strconcat("STATUS=", line, NULL);
	/* Under the lock, so that an older line does not overwrite a newer one. */
	notify_send(message);
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
	int64_t next =
	    daemon->collected_at +
	    daemon->stages.collector.config_snapshot->settings->collect_interval_s;

	return daemon->retry_at > daemon->collected_at ? MIN(next, daemon->retry_at)
	                                               : next;
}

/* A failed source with a new address is polled at once. */
static int64_t
get_poll_after_reload(struct daemon *daemon, int64_t now)
{
	bool is_moved = false;

	/* The poll itself reports a store that fails. */
	if (!collect_is_moved(daemon->stages.collector.store,
	        daemon->stages.collector.sources, &is_moved, NULL) ||
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
	struct collector *stage = &daemon->stages.collector;
	bool is_ok;

	if (!watch_clock(daemon, stage->store, now, error) ||
	    !collector_run(stage, now, report, error))
		return false;
	if (stage->is_idle)
		return true;
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

/* @param next  when something is due, s; or -1 @return when to check for it */
static int64_t
get_next_check(const struct daemon *daemon, const struct store *store, int64_t next)
{
	int64_t now = clock_get_now(daemon->options->clock);

	return store_is_shared(store) ? earlier(next, now + SHARED_CHECK_S) : next;
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
	due = collector_check_web(&daemon->stages.collector, daemon->options->clock,
	    &daemon->shutdown_fd, &is_changed);
	if (is_changed)
		g_idle_add(renew_snapshot, daemon);
	return due;
}

/* @return time of the next poll, s */
static int64_t
end_poll(struct daemon *daemon, int64_t now, const struct collect_report *report)
{
	g_mutex_lock(&daemon->stats_lock);
	daemon->work.collects++;
	daemon->work.new_papers += report->fresh;
	daemon->work.failed_fetches += report->failed;
	g_mutex_unlock(&daemon->stats_lock);
	daemon->collected_at = now;
	daemon->retry_at = report->retry_at;
	/* Last: then the control socket reports it, too. */
	event_log(EVENT_COLLECTOR_DONE, EVENT_INT("answers", report->answers),
	    EVENT_INT("failed", report->failed), EVENT_INT("new", report->fresh),
	    EVENT_INT("changed", report->changed));
	return get_next_poll(daemon);
}

static int64_t
run_collector(void *data, int64_t now, const int *stop)
{
	struct daemon *daemon = data;
	struct collect_report report = {0};
	bool was_idle = daemon->stages.collector.is_idle;
	GError *problem = NULL;
	int64_t at;

	(void)stop;
	if (collector_reload(&daemon->stages.collector) && daemon->collected_at >= 0)
		daemon->collect_at = get_poll_after_reload(daemon, now);
	at = daemon->collect_at;
	/* Woken early: sources are not polled more often for that, but a clock that
	 * was set back must not stop the polls. */
	if (now < at &&
	    at - now <=
	        daemon->stages.collector.config_snapshot->settings->collect_interval_s)
		return earlier(at, check_web(daemon));
	set_activity(daemon, STAGE_COLLECTOR, "polling sources");
	if (!collect(daemon, now, &report, &problem))
		at = log_failure(daemon, EVENT_COLLECTOR_FAILED, now, problem);
	else if (daemon->stages.collector.is_idle)
		at = now + INSTANCES_RENEW_S;
	else
		at = end_poll(daemon, now, &report);
	daemon->collect_at = at;
	set_activity(daemon, STAGE_COLLECTOR, NULL);
	/* Also without new papers: digests waited for the poll. */
	if (!was_idle || !daemon->stages.collector.is_idle)
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
	    &daemon->stages.scheduler, now, stop, &report, &next, &problem);

	daemon->is_inbox_failing = !is_ok;
	if (report.handled)
		worker_wake(daemon->workers[STAGE_MAILER]);
	g_mutex_lock(&daemon->stats_lock);
	daemon->work.inbox += report.handled;
	g_mutex_unlock(&daemon->stats_lock);
	return is_ok ? get_next_check(daemon, daemon->stages.scheduler.store, next)
	             : log_failure(daemon, EVENT_INBOX_ERROR, now, problem);
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
	        &daemon->stages.scheduler, now, &relay, &reported, &problem))
		event_log(EVENT_SCHEDULER_FAILED,
		    EVENT_SECONDS("next_in", daemon->stages.scheduler.alerts_at - now),
		    EVENT_TEXT(problem->message));
	if (reported)
		worker_wake(daemon->workers[STAGE_MAILER]);
	mailer_relay_clear(&relay);
	return daemon->stages.scheduler.alerts_at;
}

/* Send the first digests while others are built.  A step of many commits may take
 * longer than STAGES_STEP_S in all. */
static void
handle_scheduler_commit(void *data)
{
	struct daemon *daemon = data;

	heartbeat_arm(daemon->stage_heartbeats[STAGE_SCHEDULER], STAGES_STEP_S);
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

	scheduler_reload(&daemon->stages.scheduler);
	store_set_stop(daemon->stages.scheduler.store, stop);
	daemon->scheduler_stop = stop;
	daemon->has_mail = false;
	daemon->inbox_due = process_inbox(daemon, now, stop);
	if (now >= daemon->collect_at && !daemon->stages.collector.is_idle)
		return daemon->inbox_due;
	set_activity(daemon, STAGE_SCHEDULER, "building digests");
	daemon->building = &report;
	is_ok = watch_clock(daemon, daemon->stages.scheduler.store, now, &problem) &&
	        scheduler_run(&daemon->stages.scheduler, now, &report, &next, &problem);
	end_building(daemon);
	/* Some pages may be committed although a later one failed. */
	g_mutex_lock(&daemon->stats_lock);
	daemon->work.digests += report.digests;
	daemon->work.empty_digests += report.quiet;
	g_mutex_unlock(&daemon->stats_lock);
	update_status_line(daemon, daemon->stages.scheduler.store);
	set_activity(daemon, STAGE_SCHEDULER, NULL);
	if (!is_ok)
		next = log_failure(daemon, EVENT_SCHEDULER_FAILED, now, problem);
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

	if (!mailer_stage_reload(&daemon->stages.mailer, &problem))
		return log_failure(daemon, EVENT_MAILER_FAILED, now, problem);
	if (daemon->is_retry_requested) {
		daemon->is_retry_requested = false;
		mailer_reset_breakers(daemon->stages.mailer.mailer);
	}
	set_activity(daemon, STAGE_MAILER, "sending");
	is_ok = mailer_stage_run(&daemon->stages.mailer, stop, report, &next, &problem);
	update_status_line(daemon, daemon->stages.mailer.store);
	if (is_ok &&
	    !settings_is_default(daemon->stages.mailer.config_snapshot->settings))
		daemon->delivered_at = clock_get_now(daemon->options->clock);
	relay_text = mailer_format_relay(daemon->stages.mailer.mailer);
	g_mutex_lock(&daemon->stats_lock);
	g_free(daemon->relay_text);
	daemon->relay_text = relay_text;
	mailer_relay_clear(&daemon->status_line.relay);
	mailer_describe_relay(daemon->stages.mailer.mailer, &daemon->status_line.relay);
	daemon->work.sent += report->sent - before.sent;
	daemon->work.deferred += report->deferred - before.deferred;
	daemon->work.failed += report->failed - before.failed;
	g_mutex_unlock(&daemon->stats_lock);
	/* While digests are built, the mailer runs many times: one line in the log. */
	if (!daemon->is_building || g_atomic_int_get(stop)) {
		mailer_stage_log(report);
		*report = (struct mailer_report){0};
	}
	set_activity(daemon, STAGE_MAILER, NULL);
	return is_ok ? get_next_check(daemon, daemon->stages.mailer.store, next)
	             : log_failure(daemon, EVENT_MAILER_FAILED, now, problem);
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
	config_snapshot_publish(&daemon->stages.collector.next, fresh);
	config_snapshot_publish(&daemon->stages.scheduler.next, fresh);
	mailer_stage_publish(&daemon->stages.mailer, fresh);
	receivers_reload(daemon->receivers, fresh);
	web_listener_reload(daemon->web_listener, fresh);
	config_snapshot_unref(daemon->stages.config_snapshot);
	daemon->stages.config_snapshot = fresh;
	wake_all(daemon);
}

/* @return the reply to the client, a new string; NULL for ok */
static char *
reload(struct daemon *daemon)
{
	const struct daemon_options *options = daemon->options;
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
	/* CLOCK_MONOTONIC, as sd_notify(3) expects. */
	g_autofree char *message = g_strdup_printf(
	    "RELOADING=1\nMONOTONIC_USEC=%" G_GINT64_FORMAT, g_get_monotonic_time());
	struct config_snapshot *fresh;

	notify_send(message);
	fresh = reload_load(options->config, options->credentials,
	    daemon->stages.config_snapshot, problems);
	/* Before the event, which is logged by the new level. */
	if (fresh)
		log_set_level(options->log, fresh->settings->log_level);
	reload_log(daemon->stages.config_snapshot, fresh, problems);
	if (fresh)
		publish_snapshot(daemon, fresh);
	/* The end of the reload, also after a failure. */
	notify_send("READY=1");
	return reload_format_answer(problems);
}

/* Whether digests offer one-click unsubscribing has changed. */
static gboolean
renew_snapshot(gpointer data)
{
	struct daemon *daemon = data;
	g_autoptr(GError) problem = NULL;
	struct config_snapshot *current = daemon->stages.config_snapshot;
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
	    .is_inbox_failing = daemon->is_inbox_failing,
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
	const struct settings *settings = daemon->stages.config_snapshot->settings;
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
	    .lease = daemon->stages.lease,
	};

	daemon->receivers =
	    receivers_new(&options, daemon->stages.config_snapshot, error);
	return daemon->receivers != NULL;
}

static void
handle_web_change(struct daemon *daemon, const struct handler_report *report)
{
	if (report->is_queued)
		worker_wake(daemon->workers[STAGE_MAILER]);
	/* Also for erasures, which wait for a mail. */
	worker_wake(daemon->workers[STAGE_SCHEDULER]);
}

/* A step of many commits may take longer than STAGES_STEP_S in all. */
static void
handle_commit(void *data)
{
	heartbeat_arm(data, STAGES_STEP_S);
}

static const struct {
	const char *name;
	worker_step step;
} steps[N_STAGES] = {
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
		heartbeats[i] = heartbeat_new(daemon->heartbeats, steps[i].name);
	store_set_commit_hook(
	    daemon->stages.collector.store, handle_commit, heartbeats[STAGE_COLLECTOR]);
	store_set_commit_hook(
	    daemon->stages.scheduler.store, handle_scheduler_commit, daemon);
	store_set_between(
	    daemon->stages.scheduler.store, process_inbox_between, daemon);
	daemon->stages.scheduler.built = end_building;
	daemon->stages.scheduler.data = daemon;
	daemon->stages.scheduler.checkups_ms = CHECKUPS_MS;
	mailer_set_heartbeat(daemon->stages.mailer.mailer, heartbeats[STAGE_MAILER]);
	for (int i = N_STAGES - 1; i >= 0; i--) {
		const struct worker_options options = {
		    .name = steps[i].name,
		    .clock = daemon->options->clock,
		    .step = steps[i].step,
		    .data = daemon,
		    .step_s = STAGES_STEP_S,
		    .heartbeat = heartbeats[i],
		};

		daemon->workers[i] = worker_new(&options, error);
		if (!daemon->workers[i])
			return false;
	}
	return true;
}

/* From the thread of the lease. */
static void
handle_lease_change(void *data)
{
	wake_all(data);
}

static gboolean
quit_outdated(gpointer data)
{
	struct daemon *daemon = data;

	g_main_loop_quit(daemon->loop);
	return G_SOURCE_REMOVE;
}

/* From the thread of the lease.  The loop may not run yet. */
static void
handle_outdated(void *data)
{
	struct daemon *daemon = data;

	if (daemon->is_outdated)
		return;
	event_log(EVENT_STORE_REPLACED);
	daemon->is_outdated = true;
	g_idle_add(quit_outdated, daemon);
}

/*
 * Ask all threads to end at once, and limit the wait for the relay, so that we end
 * before systemd kills us.
 */
static void
begin_shutdown(struct daemon *daemon)
{
	/* Results cannot be recorded in a store that is outdated. */
	int wait_s =
	    daemon->is_outdated
	        ? 1
	        : daemon->stages.config_snapshot->settings->smtp_shutdown_timeout_s;
	const struct itimerspec once = {.it_value.tv_sec = wait_s};

	g_atomic_int_set(&daemon->stages.collector.stop, 1);
	for (int i = N_STAGES - 1; i >= 0; i--)
		worker_stop(daemon->workers[i]);
	/* Fails only for a bad descriptor.  Never read, so it stays readable. */
	if (timerfd_settime(daemon->shutdown_fd, 0, &once, NULL) != 0)
		g_assert_not_reached();
}

/* The first stage first: none is woken after it was freed. */
static void
stop_workers(struct daemon *daemon)
{
	g_atomic_int_set(&daemon->stages.collector.stop, 1);
	for (int i = 0; i < N_STAGES; i++)
		worker_free(daemon->workers[i]);
	for (int i = 0; i < N_STAGES; i++)
		heartbeat_free(daemon->stage_heartbeats[i]);
}

static void
run_loop(struct daemon *daemon)
{
	guint watchdog = 0;

	if (notify_get_watchdog_s())
		watchdog =
		    g_timeout_add_seconds((guint)MAX(watchdog_get_interval_s(), 1),
		        notify_watchdog, daemon->heartbeats);
	reload_hold(false);
	notify_send("READY=1");
	event_log(EVENT_STARTED);
	daemon->is_ready = true;
	worker_wake(daemon->workers[STAGE_COLLECTOR]);
	g_main_loop_run(daemon->loop);
	notify_send("STOPPING=1");
	event_log(EVENT_STOPPING);
	begin_shutdown(daemon);
	if (watchdog)
		g_source_remove(watchdog);
}

static bool
start(struct daemon *daemon, GError **error)
{
	const struct lease_worker_calls calls = {
	    .changed = handle_lease_change,
	    .outdated = handle_outdated,
	    .data = daemon,
	};

	if (!stages_init(&daemon->stages, daemon->options, daemon->heartbeats,
	        &daemon->shutdown_fd, error))
		return false;
	/* Before the threads, whose events tell that paperboyd runs. */
	daemon->control =
	    control_new(daemon->stages.config_snapshot->settings->state_dir, commands,
	        daemon, error);
	if (!daemon->control)
		return false;
	daemon->shutdown_fd =
	    timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (daemon->shutdown_fd < 0)
		return pb_fail(error, PB_ERROR_TEMPORARY, "cannot create a timer: %s",
		    g_strerror(errno));
	if (!start_workers(daemon, error) ||
	    !stages_start_lease_worker(&daemon->stages, daemon->options->clock,
	        daemon->heartbeats, &calls, error) ||
	    !start_receivers(daemon, error))
		return false;
	daemon->web_listener = web_listener_new(daemon, daemon->options->clock,
	    daemon->heartbeats, daemon->stages.config_snapshot, error);
	return daemon->web_listener != NULL;
}

/* Also after a start that failed. */
static void
stop(struct daemon *daemon, bool is_started)
{
	control_free(daemon->control);
	web_listener_free(daemon->web_listener);
	receivers_free(daemon->receivers);
	/* Before the workers, which it wakes. */
	stages_stop_lease_worker(&daemon->stages);
	stop_workers(daemon);
	if (is_started)
		store_checkpoint(daemon->stages.scheduler.store);
	stages_clear(&daemon->stages);
	heartbeats_free(daemon->heartbeats);
	g_free(daemon->relay_text);
	mailer_relay_clear(&daemon->status_line.relay);
	g_mutex_clear(&daemon->stats_lock);
	g_mutex_clear(&daemon->clock_lock);
	g_main_loop_unref(daemon->loop);
	if (daemon->shutdown_fd >= 0)
		close(daemon->shutdown_fd);
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
	int lock = stages_lock(options, error);
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
	return is_ok &&
	       (!daemon.is_outdated ||
	           pb_fail(error, PB_ERROR_TEMPORARY,
	               "the database server was replaced: to be started again"));
}
