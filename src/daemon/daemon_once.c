/*
 * daemon_once.c - paperboyd --once: each stage runs once.
 */
#include "base/error.h"
#include "daemon/daemon.h"
#include "daemon/receivers.h"
#include "daemon/stages.h"
#include "daemon/worker.h"
#include "service/log/event.h"
#include "service/state/clock_watch.h"

struct once {
	const struct daemon_options *options;
	struct stages stages;
	int shutdown_fd; /* -1 */
	struct clock_watch clock_watch;
	struct worker *worker; /* of the mailer; or NULL */
	const struct digest_build_report *building;
	struct mailer_report mailed;
	int64_t retry_at;   /* of mail that is left, s; -1: all is sent */
	GError *mail_error; /* what ended the mailer */
};

static void
ignore_event(void *data)
{
	(void)data;
}

static const struct lease_worker_calls no_calls = {
    .changed = ignore_event, .outdated = ignore_event};

/* @param is_clean  cleared when messages are left */
static bool
receive_once(struct once *once, int64_t now, bool *is_clean, GError **error)
{
	const struct receivers_options options = {
	    .clock = once->options->clock,
	    .credentials = once->options->credentials,
	    .arrived = ignore_event,
	    .lease = once->stages.lease,
	};
	struct inbox_process_report report = {0};
	g_autoptr(GError) problem = NULL;
	int64_t next = -1;

	if (!receivers_poll(&options, once->stages.config_snapshot, is_clean, error))
		return false;
	if (!scheduler_process_inbox(
	        &once->stages.scheduler, now, NULL, &report, &next, &problem))
		event_log(EVENT_INBOX_ERROR, EVENT_TEXT(problem->message));
	*is_clean = *is_clean && !problem && next < 0;
	return true;
}

static int64_t
run_mailer_once(void *data, int64_t now, const int *stop)
{
	struct once *once = data;

	(void)now;
	if (!once->mail_error)
		mailer_stage_run(&once->stages.mailer, stop, &once->mailed,
		    &once->retry_at, &once->mail_error);
	return -1;
}

/* Without a thread all is sent afterwards. */
static void
wake_mailer_once(struct once *once)
{
	const struct worker_options options = {
	    .name = "mailer",
	    .clock = once->options->clock,
	    .step = run_mailer_once,
	    .data = once,
	    .step_s = STAGES_STEP_S,
	};

	if (once->worker)
		worker_wake(once->worker);
	else
		once->worker = worker_new(&options, NULL);
}

/* Send while digests are built, if there are more than a page of them. */
static void
handle_commit_once(void *data)
{
	struct once *once = data;

	if (once->building->digests)
		wake_mailer_once(once);
}

/* The maintenance and monthly reports do not delay digests. */
static void
end_building_once(void *data)
{
	struct once *once = data;

	store_set_commit_hook(once->stages.scheduler.store, NULL, NULL);
	wake_mailer_once(once);
}

static bool
build_and_send_once(
    struct once *once, int64_t now, struct digest_build_report *built, GError **error)
{
	struct scheduler *scheduler = &once->stages.scheduler;
	int64_t next;
	bool is_ok;

	once->building = built;
	scheduler->built = end_building_once;
	scheduler->data = once;
	store_set_commit_hook(scheduler->store, handle_commit_once, once);
	is_ok = scheduler_run(scheduler, now, built, &next, error);
	store_set_commit_hook(scheduler->store, NULL, NULL);
	if (is_ok && once->worker)
		worker_finish(once->worker);
	else if (is_ok)
		run_mailer_once(once, now, NULL);
	worker_free(once->worker);
	if (is_ok && once->mail_error)
		is_ok = pb_error_forward(error, &once->mail_error);
	g_clear_error(&once->mail_error);
	if (is_ok)
		mailer_stage_log(&once->mailed);
	return is_ok;
}

bool
daemon_run_once(const struct daemon_options *options, bool *is_clean, GError **error)
{
	struct once once = {.options = options, .shutdown_fd = -1};
	struct collect_report collected = {0};
	struct digest_build_report built = {0};
	const struct mailer_report *mailed = &once.mailed;
	int64_t now = clock_get_now(options->clock);
	int lock = stages_lock(options, error);
	bool is_ok, is_inbox_clean = true;

	if (lock < 0)
		return false;
	is_ok = stages_init(&once.stages, options, NULL, &once.shutdown_fd, error) &&
	        stages_start_lease_worker(
	            &once.stages, options->clock, NULL, &no_calls, error) &&
	        clock_watch_check(
	            &once.clock_watch, once.stages.scheduler.store, now, -1, error) &&
	        receive_once(&once, now, &is_inbox_clean, error) &&
	        collector_run(&once.stages.collector, now, &collected, error) &&
	        clock_watch_confirm(once.stages.collector.store,
	            clock_get_now(options->clock),
	            http_take_date(once.stages.collector.http), error) &&
	        build_and_send_once(&once, now, &built, error);
	if (is_ok) {
		store_checkpoint(once.stages.scheduler.store);
		*is_clean =
		    is_inbox_clean && !collected.failed && once.retry_at < 0 &&
		    !settings_is_default(once.stages.config_snapshot->settings) &&
		    (!mailed->failed || mailed->sent);
		event_log(EVENT_RUN_DONE, EVENT_INT("answers", collected.answers),
		    EVENT_INT("failed", collected.failed),
		    EVENT_INT("new", collected.fresh),
		    EVENT_INT("digests", built.digests),
		    EVENT_INT("sent", mailed->sent));
	}
	stages_clear(&once.stages);
	close(lock);
	return is_ok;
}
