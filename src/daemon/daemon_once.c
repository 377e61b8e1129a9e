/*
 * daemon_once.c - one round of all that is due, and back.
 */
#include <unistd.h>

#include "daemon/daemon_private.h"
#include "service/log/event.h"

/* In one round nobody has to be told. */
static void
note_nothing(void *data)
{
	(void)data;
}

/* @param is_clean  cleared when letters have to wait */
static bool
poll_receivers_once(struct daemon *daemon, int64_t now, bool *is_clean, GError **error)
{
	const struct receivers_options options = {
	    .clock = daemon->options->clock,
	    .credentials = daemon->options->credentials,
	    .arrived = note_nothing,
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

bool
daemon_run_once(const struct daemon_options *options, bool *is_clean, GError **error)
{
	struct daemon daemon = {.options = options, .shutdown_fd = -1};
	struct collect_report collected = {0};
	struct digest_build_report made = {0};
	struct mailer_report posted = {0};
	int64_t now = clock_get_now(options->clock), next;
	int lock = daemon_lock_state(options, error);
	bool is_ok, is_mail_received = true;

	if (lock < 0)
		return false;
	is_ok = daemon_init_stages(&daemon, error) &&
	        clock_watch_look(
	            &daemon.clock_watch, daemon.scheduler.store, now, -1, error) &&
	        poll_receivers_once(&daemon, now, &is_mail_received, error) &&
	        collector_run(&daemon.collect, now, &collected, error) &&
	        clock_watch_confirm(daemon.collect.store, clock_get_now(options->clock),
	            http_take_date(daemon.collect.http), error) &&
	        digest_cache_stage_run(&daemon.scheduler, now, &made, &next, error) &&
	        mailer_stage_run(&daemon.mailer, NULL, &posted, &next, error);
	if (is_ok) {
		store_checkpoint(daemon.scheduler.store);
		/* Set by the post: when to try what still waits. */
		*is_clean = is_mail_received && !collected.failed && next < 0 &&
		            (!posted.failed || posted.sent);
		event_log(EVENT_RUN_DONE, EVENT_INT("answers", collected.answers),
		    EVENT_INT("failed", collected.failed),
		    EVENT_INT("fresh", collected.fresh),
		    EVENT_INT("digests", made.digests), EVENT_INT("sent", posted.sent));
	}
	daemon_clear_stages(&daemon);
	close(lock);
	return is_ok;
}
