/*
 * daemon_step.c - what each thread does when it is woken, and when it wants to be
 * again.
 */
#include <time.h>

#include "daemon/daemon_private.h"
#include "daemon/notify.h"
#include "service/event.h"

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

	g_mutex_lock(&daemon->told_lock);
	daemon->doing[job] = doing;
	daemon->standing.doing = NULL;
	for (int i = 0; i < N_JOBS; i++)
		if (daemon->doing[i])
			daemon->standing.doing = daemon->doing[i];
	line = standing_format(&daemon->standing);
	/* Under the lock, so that an older line does not come last. */
	notify_status(line);
	g_mutex_unlock(&daemon->told_lock);
}

/* What waits and what comes next, by the store of the thread that asks. */
static void
note_standing(struct daemon *daemon, struct store *store)
{
	int64_t next_at, waiting;

	/* What fails here fails elsewhere too, and is told there. */
	if (!standing_load(store, &next_at, &waiting, NULL))
		return;
	g_mutex_lock(&daemon->told_lock);
	daemon->standing.next_digest_at = next_at;
	daemon->standing.waiting = waiting;
	g_mutex_unlock(&daemon->told_lock);
}

/* When to look at the sources again: sooner when one of them is in a pause. */
static int64_t
next_look(const struct daemon *daemon)
{
	int64_t next =
	    daemon->looked_at + daemon->collect.snapshot->settings->collect_interval_s;

	return daemon->retry_at > daemon->looked_at ? MIN(next, daemon->retry_at)
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
	struct collect_stage *stage = &daemon->collect;
	bool is_ok;

	if (!daemon_watch_clock(daemon, stage->store, now, error) ||
	    !collect_stage_run(stage, now, report, error))
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
	if (collect_stage_renew(&daemon->collect) && daemon->looked_at >= 0)
		daemon->collect_at = look_after_reload(daemon, now);
	at = daemon->collect_at;
	/* Poked before it is time: the sources are not asked more often for that, but
	 * a clock that was set back must not silence them. */
	if (now < at &&
	    at - now <= daemon->collect.snapshot->settings->collect_interval_s)
		return at;
	tell_doing(daemon, JOB_COLLECT, "asking the sources");
	if (collect(daemon, now, &report, &problem)) {
		event_log(EVENT_COLLECT_DONE, EVENT_INT("answers", report.answers),
		    EVENT_INT("failed", report.failed),
		    EVENT_INT("fresh", report.fresh),
		    EVENT_INT("changed", report.changed));
		g_mutex_lock(&daemon->told_lock);
		daemon->work.collects++;
		daemon->work.fresh_papers += report.fresh;
		daemon->work.failed_answers += report.failed;
		g_mutex_unlock(&daemon->told_lock);
		daemon->looked_at = now;
		daemon->retry_at = report.retry_at;
		at = next_look(daemon);
	} else {
		at = note_trouble(EVENT_COLLECT_FAILED, now, problem);
	}
	daemon->collect_at = at;
	tell_doing(daemon, JOB_COLLECT, NULL);
	/* Whether or not there is something new: editions waited for the look. */
	worker_poke(daemon->presser);
	return at;
}

/* Papers do not wait for letters that cannot be read. @return when the next is due */
static int64_t
read_letters(struct daemon *daemon, int64_t now, const int *stop)
{
	struct intake_report report = {0};
	GError *problem = NULL;
	int64_t next = -1;
	bool is_ok = press_stage_read_letters(
	    &daemon->press, now, stop, &report, &next, &problem);

	if (report.handled)
		worker_poke(daemon->poster);
	g_mutex_lock(&daemon->told_lock);
	daemon->work.letters += report.handled;
	g_mutex_unlock(&daemon->told_lock);
	return is_ok ? next : note_trouble(EVENT_INTAKE_FAILED, now, problem);
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
	struct post_relay relay;
	g_autoptr(GError) problem = NULL;
	unsigned told;

	g_mutex_lock(&daemon->told_lock);
	relay = daemon->standing.relay;
	relay.domain = g_strdup(relay.domain);
	g_mutex_unlock(&daemon->told_lock);
	if (!press_stage_alert(&daemon->press, now, &relay, &told, &problem))
		event_log(EVENT_PRESS_FAILED,
		    EVENT_SECONDS("next_in", daemon->press.alerts_at - now),
		    EVENT_TEXT(problem->message));
	if (told)
		worker_poke(daemon->poster);
	post_relay_clear(&relay);
	return daemon->press.alerts_at;
}

/*
 * After a start or a long sleep the sources are asked before editions are made:
 * what a slot is due to bring would otherwise come a day, or a week, later.
 */
int64_t
daemon_step_press(void *data, int64_t now, const int *stop)
{
	struct daemon *daemon = data;
	struct edition_report report = {0};
	GError *problem = NULL;
	int64_t next = -1, letters_due;
	bool is_ok;

	press_stage_renew(&daemon->press);
	store_set_stop(daemon->press.store, stop);
	letters_due = read_letters(daemon, now, stop);
	if (now >= daemon->collect_at)
		return letters_due;
	tell_doing(daemon, JOB_PRESS, "making digests");
	is_ok = daemon_watch_clock(daemon, daemon->press.store, now, &problem) &&
	        press_stage_run(&daemon->press, now, &report, &next, &problem);
	/* Some pages may be committed although a later one failed. */
	g_mutex_lock(&daemon->told_lock);
	daemon->work.digests += report.digests;
	daemon->work.quiet += report.quiet;
	g_mutex_unlock(&daemon->told_lock);
	if (report.digests)
		worker_poke(daemon->poster);
	note_standing(daemon, daemon->press.store);
	tell_doing(daemon, JOB_PRESS, NULL);
	if (!is_ok)
		next = note_trouble(EVENT_PRESS_FAILED, now, problem);
	return earlier(earlier(next, letters_due), alert_owner(daemon, now));
}

int64_t
daemon_step_post(void *data, int64_t now, const int *stop)
{
	struct daemon *daemon = data;
	struct post_report report = {0};
	GError *problem = NULL;
	char *relay;
	int64_t next;
	bool is_ok;

	if (!post_stage_renew(&daemon->post, &problem))
		return note_trouble(EVENT_POST_FAILED, now, problem);
	if (daemon->is_retry_wanted) {
		daemon->is_retry_wanted = false;
		post_try_now(daemon->post.post);
	}
	tell_doing(daemon, JOB_POST, "sending");
	is_ok = post_stage_run(&daemon->post, stop, &report, &next, &problem);
	note_standing(daemon, daemon->post.store);
	if (is_ok)
		daemon->posted_at = clock_get_now(daemon->options->clock);
	relay = post_format_relay(daemon->post.post);
	g_mutex_lock(&daemon->told_lock);
	g_free(daemon->relay);
	daemon->relay = relay;
	post_relay_clear(&daemon->standing.relay);
	post_describe_relay(daemon->post.post, &daemon->standing.relay);
	daemon->work.sent += report.sent;
	daemon->work.deferred += report.deferred;
	daemon->work.failed += report.failed;
	g_mutex_unlock(&daemon->told_lock);
	tell_doing(daemon, JOB_POST, NULL);
	return is_ok ? next : note_trouble(EVENT_POST_FAILED, now, problem);
}
