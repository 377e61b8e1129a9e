/*
 * daemon_once.c - one round of all that is due, and back.
 */
#include <unistd.h>

#include "daemon/daemon_private.h"
#include "service/event.h"

/* In one round nobody has to be told. */
static void
note_nothing(void *data)
{
	(void)data;
}

/* @param is_clean  cleared when letters have to wait */
static bool
take_letters_once(struct daemon *daemon, int64_t now, bool *is_clean, GError **error)
{
	const struct inlet_options options = {
	    .clock = daemon->options->clock,
	    .credentials = daemon->options->credentials,
	    .arrived = note_nothing,
	};
	struct intake_report report = {0};
	g_autoptr(GError) problem = NULL;
	int64_t next = -1;

	if (!inlets_sweep(&options, daemon->snapshot, is_clean, error))
		return false;
	if (!press_stage_read_letters(
	        &daemon->press, now, NULL, &report, &next, &problem))
		event_log(EVENT_INTAKE_FAILED, EVENT_TEXT(problem->message));
	*is_clean = *is_clean && !problem && next < 0;
	return true;
}

bool
daemon_run_once(const struct daemon_options *options, bool *is_clean, GError **error)
{
	struct daemon daemon = {.options = options, .hurry_fd = -1};
	struct collect_report collected = {0};
	struct edition_report made = {0};
	struct post_report posted = {0};
	int64_t now = clock_get_now(options->clock), next;
	int lock = daemon_lock_state(options, error);
	bool is_ok, are_letters_in = true;

	if (lock < 0)
		return false;
	is_ok =
	    daemon_init_stages(&daemon, error) &&
	    clock_watch_look(&daemon.clock_watch, daemon.press.store, now, -1, error) &&
	    take_letters_once(&daemon, now, &are_letters_in, error) &&
	    collect_stage_run(&daemon.collect, now, &collected, error) &&
	    clock_watch_confirm(daemon.collect.store, clock_get_now(options->clock),
	        http_take_date(daemon.collect.http), error) &&
	    press_stage_run(&daemon.press, now, &made, &next, error) &&
	    post_stage_run(&daemon.post, NULL, &posted, &next, error);
	if (is_ok) {
		store_checkpoint(daemon.press.store);
		/* Set by the post: when to try what still waits. */
		*is_clean = are_letters_in && !collected.failed && next < 0 &&
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
