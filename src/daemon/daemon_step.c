/*
 * daemon_step.c - what each thread does when it is woken, and when it wants to be
 * again.
 */
#include <time.h>

#include "daemon/daemon_private.h"
#include "daemon/notify.h"
#include "service/log/event.h"

/* After a failure of the store or the machine, look again so much later. */
#define TROUBLE_S 60

/* Whatever went wrong, the rows are as they were: look again a little later. */
static int64_t
note_trouble(enum event_kind kind, int64_t now, GError *problem)
{
	event_log(
	    kind, EVENT_SECONDS("next_in", TROUBLE_S), EVENT_TEXT(problem->message));
	g_error_free(problem);
	return now + TROUBLE_S;
}

/* Tell systemd what goes on. @param doing  of this job; static; NULL: nothing */
static void
tell_doing(struct daemon *daemon, enum job job, const char *doing)
{
	g_autofree char *line = NULL;

	g_mutex_lock(&daemon->stats_lock);
	daemon->doing[job] = doing;
	daemon->status_line.doing = NULL;
	for (int i = 0; i < N_JOBS; i++)
		if (daemon->doing[i])
			daemon->status_line.doing = daemon->doing[i];
	line = status_line_format(&daemon->status_line);
	/* Under the lock, so that an older line does not come last. */
	notify_status(line);
	g_mutex_unlock(&daemon->stats_lock);
}

/* What waits and what comes next, by the store of the thread that asks. */
static void
note_status_line(struct daemon *daemon, struct store *store)
{
	int64_t next_at, waiting;

	/* What fails here fails elsewhere too, and is told there. */
	if (!status_line_load(store, &next_at, &waiting, NULL))
		return;
	g_mutex_lock(&daemon->stats_lock);
	daemon->status_line.next_digest_at = next_at;
	daemon->status_line.waiting = waiting;
	g_mutex_unlock(&daemon->stats_lock);
}

/* When to look at the sources again: sooner when one of them is in a pause. */
static int64_t
next_look(const struct daemon *daemon)
{
	int64_t next = daemon->collected_at +
	               daemon->collect.config_snapshot->settings->collect_interval_s;

	return daemon->retry_at > daemon->collected_at ? MIN(next, daemon->retry_at)
	                                               : next;
}

/* A source that failed and has a new address is asked at once. */
static int64_t
look_after_reload(struct daemon *daemon, int64_t now)
{
	bool is_moved = false;

	/* A store that fails is reported by the look itself. */
	if (!collect_is_moved(
	        daemon->collect.store, daemon->collect.sources, &is_moved, NULL) ||
	    is_moved)
		return now;
	return next_look(daemon);
}

/* It goes on while the machine sleeps, and when the clock is set. */
static int64_t
read_running_time(void)
{
	struct timespec time;

	return clock_gettime(CLOCK_BOOTTIME, &time) == 0 ? (int64_t)time.tv_sec : -1;
}

bool
daemon_watch_clock(
    struct daemon *daemon, struct store *store, int64_t now, GError **error)
{
	bool is_ok;

	g_mutex_lock(&daemon->clock_lock);
	is_ok = clock_watch_look(
	    &daemon->clock_watch, store, now, read_running_time(), error);
	g_mutex_unlock(&daemon->clock_lock);
	return is_ok;
}

/* Compare a source's Date header with the clock at the time of its answer. */
static bool
collect(
    struct daemon *daemon, int64_t now, struct collect_report *report, GError **error)
{
	struct collector *stage = &daemon->collect;
	bool is_ok;

	if (!daemon_watch_clock(daemon, stage->store, now, error) ||
	    !collector_run(stage, now, report, error))
		return false;
	g_mutex_lock(&daemon->clock_lock);
	is_ok = clock_watch_confirm(stage->store, clock_get_now(daemon->options->clock),
	    http_take_date(stage->http), error);
	g_mutex_unlock(&daemon->clock_lock);
	return is_ok;
}

int64_t
daemon_step_collect(void *data, int64_t now, const int *stop)
{
	struct daemon *daemon = data;
	struct collect_report report = {0};
	GError *problem = NULL;
	int64_t at;

	(void)stop;
	if (collector_renew(&daemon->collect) && daemon->collected_at >= 0)
		daemon->collect_at = look_after_reload(daemon, now);
	at = daemon->collect_at;
	/* Poked before it is time: the sources are not asked more often for that, but
	 * a clock that was set back must not silence them. */
	if (now < at &&
	    at - now <= daemon->collect.config_snapshot->settings->collect_interval_s)
		return at;
	tell_doing(daemon, JOB_COLLECT, "asking the sources");
	if (collect(daemon, now, &report, &problem)) {
		event_log(EVENT_COLLECTOR_DONE, EVENT_INT("answers", report.answers),
		    EVENT_INT("failed", report.failed),
		    EVENT_INT("fresh", report.fresh),
		    EVENT_INT("changed", report.changed));
		g_mutex_lock(&daemon->stats_lock);
		daemon->work.collects++;
		daemon->work.fresh_papers += report.fresh;
		daemon->work.failed_answers += report.failed;
		g_mutex_unlock(&daemon->stats_lock);
		daemon->collected_at = now;
		daemon->retry_at = report.retry_at;
		at = next_look(daemon);
	} else {
		at = note_trouble(EVENT_COLLECTOR_FAILED, now, problem);
	}
	daemon->collect_at = at;
	tell_doing(daemon, JOB_COLLECT, NULL);
	/* Whether or not there is something new: editions waited for the look. */
	worker_wake(daemon->presser);
	return at;
}

/* Papers do not wait for letters that cannot be read. @return when the next is due */
static int64_t
process_inbox(struct daemon *daemon, int64_t now, const int *stop)
{
	struct inbox_process_report report = {0};
	GError *problem = NULL;
	int64_t next = -1;
	bool is_ok = scheduler_process_inbox(
	    &daemon->scheduler, now, stop, &report, &next, &problem);

	if (report.handled)
		worker_wake(daemon->poster);
	g_mutex_lock(&daemon->stats_lock);
	daemon->work.messages += report.handled;
	g_mutex_unlock(&daemon->stats_lock);
	return is_ok ? next : note_trouble(EVENT_INBOX_ERROR, now, problem);
}

static int64_t
earlier(int64_t one, int64_t other)
{
	return one < 0 || (other >= 0 && other < one) ? other : one;
}

/* What wants a person is told even when it keeps us from anything else. @return when to
 * look again */
static int64_t
alert_owner(struct daemon *daemon, int64_t now)
{
	struct mailer_relay relay;
	g_autoptr(GError) problem = NULL;
	unsigned reported;

	g_mutex_lock(&daemon->stats_lock);
	relay = daemon->status_line.relay;
	relay.domain = g_strdup(relay.domain);
	g_mutex_unlock(&daemon->stats_lock);
	if (!digest_cache_stage_alert(
	        &daemon->scheduler, now, &relay, &reported, &problem))
		event_log(EVENT_SCHEDULER_FAILED,
		    EVENT_SECONDS("next_in", daemon->scheduler.alerts_at - now),
		    EVENT_TEXT(problem->message));
	if (reported)
		worker_wake(daemon->poster);
	mailer_relay_clear(&relay);
	return daemon->scheduler.alerts_at;
}

/*
 * After a start or a long sleep the sources are asked before editions are made:
 * what a slot is due to bring would otherwise come a day, or a week, later.
 */
int64_t
daemon_step_schedule(void *data, int64_t now, const int *stop)
{
	struct daemon *daemon = data;
	struct digest_build_report report = {0};
	GError *problem = NULL;
	int64_t next = -1, inbox_due;
	bool is_ok;

	digest_cache_stage_renew(&daemon->scheduler);
	store_set_stop(daemon->scheduler.store, stop);
	inbox_due = process_inbox(daemon, now, stop);
	if (now >= daemon->collect_at)
		return inbox_due;
	tell_doing(daemon, JOB_SCHEDULE, "making digests");
	is_ok =
	    daemon_watch_clock(daemon, daemon->scheduler.store, now, &problem) &&
	    digest_cache_stage_run(&daemon->scheduler, now, &report, &next, &problem);
	/* Some pages may be committed although a later one failed. */
	g_mutex_lock(&daemon->stats_lock);
	daemon->work.digests += report.digests;
	daemon->work.quiet += report.quiet;
	g_mutex_unlock(&daemon->stats_lock);
	if (report.digests)
		worker_wake(daemon->poster);
	note_status_line(daemon, daemon->scheduler.store);
	tell_doing(daemon, JOB_SCHEDULE, NULL);
	if (!is_ok)
		next = note_trouble(EVENT_SCHEDULER_FAILED, now, problem);
	return earlier(earlier(next, inbox_due), alert_owner(daemon, now));
}

int64_t
daemon_step_deliver(void *data, int64_t now, const int *stop)
{
	struct daemon *daemon = data;
	struct mailer_report report = {0};
	GError *problem = NULL;
	char *relay;
	int64_t next;
	bool is_ok;

	if (!mailer_stage_renew(&daemon->mailer, &problem))
		return note_trouble(EVENT_MAILER_FAILED, now, problem);
	if (daemon->is_retry_wanted) {
		daemon->is_retry_wanted = false;
		mailer_reset_breakers(daemon->mailer.mailer);
	}
	tell_doing(daemon, JOB_DELIVER, "sending");
	is_ok = mailer_stage_run(&daemon->mailer, stop, &report, &next, &problem);
	note_status_line(daemon, daemon->mailer.store);
	if (is_ok)
		daemon->posted_at = clock_get_now(daemon->options->clock);
	relay = mailer_format_relay(daemon->mailer.mailer);
	g_mutex_lock(&daemon->stats_lock);
	g_free(daemon->relay);
	daemon->relay = relay;
	mailer_relay_clear(&daemon->status_line.relay);
	mailer_describe_relay(daemon->mailer.mailer, &daemon->status_line.relay);
	daemon->work.sent += report.sent;
	daemon->work.deferred += report.deferred;
	daemon->work.failed += report.failed;
	g_mutex_unlock(&daemon->stats_lock);
	tell_doing(daemon, JOB_DELIVER, NULL);
	return is_ok ? next : note_trouble(EVENT_MAILER_FAILED, now, problem);
}
