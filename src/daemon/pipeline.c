/*
 * pipeline.c - the stages of the daemon: collector, scheduler, mailer.
 */
#include "daemon/pipeline.h"

#include <string.h>

#include "base/error.h"
#include "base/fnv1a.h"
#include "config/provider.h"
#include "service/bounce/bounce.h"
#include "service/health/owner_report.h"
#include "service/health/self_test.h"
#include "service/health/status.h"
#include "service/inbound/handler.h"
#include "service/jobs/checkup.h"
#include "service/jobs/maintenance.h"
#include "service/jobs/retraction_mail.h"
#include "service/jobs/share_news.h"
#include "service/log/event.h"
#include "service/people/erase.h"
#include "service/state/clock_watch.h"
#include "store/core/instances.h"
#include "store/mail/inbox.h"
#include "store/paper/filter_progress.h"
#include "store/paper/matches.h"
#include "store/paper/papers.h"
#include "store/subscriber/erasure.h"
#include "store/subscriber/subscribers.h"

/* Interval of checks while the clock is not trusted. */
#define CLOCK_CHECK_S 600

/* Maximum size and time of one inbox batch, so that digests are not delayed. */
#define INBOX_BATCH    200
#define INBOX_BATCH_MS 5000

/* Interval of decisions about bounces. */
#define BOUNCES_S CLOCK_HOUR_S

static bool
switch_snapshot(struct config_snapshot **config_snapshot,
    struct config_snapshot_slot *next, const char *stage)
{
	if (!config_snapshot_switch(config_snapshot, next))
		return false;
	event_log(EVENT_CONFIG_APPLIED, EVENT_WORD("stage", stage));
	return true;
}

static void
collector_build(struct collector *stage)
{
	const struct settings *settings = stage->config_snapshot->settings;

	g_clear_pointer(&stage->sources, g_ptr_array_unref);
	g_clear_pointer(&stage->http, http_free);
	stage->http = factory_new_http(settings, &stage->stop);
	stage->sources = factory_new_sources(settings);
}

void
collector_init(struct collector *stage, struct config_snapshot *config_snapshot,
    struct store *store)
{
	*stage = (struct collector){
	    .config_snapshot = config_snapshot_ref(config_snapshot), .store = store};
	collector_build(stage);
}

bool
collector_reload(struct collector *stage)
{
	if (!switch_snapshot(&stage->config_snapshot, &stage->next, "collector"))
		return false;
	collector_build(stage);
	return true;
}

void
collector_clear(struct collector *stage)
{
	g_clear_pointer(&stage->sources, g_ptr_array_unref);
	g_clear_pointer(&stage->http, http_free);
	g_clear_pointer(&stage->store, store_free);
	config_snapshot_unref(config_snapshot_take(&stage->next));
	g_clear_pointer(&stage->config_snapshot, config_snapshot_unref);
}

bool
collector_run(
    struct collector *stage, int64_t now, struct collect_report *report, GError **error)
{
	struct collect collect = {
	    .store = stage->store,
	    .http = stage->http,
	    .wait_s = stage->config_snapshot->settings->collect_wait_min * 60,
	    .sources = (struct source **)stage->sources->pdata,
	    .source_count = stage->sources->len,
	    .stop = &stage->stop,
	};
	bool is_held, is_ok;

	factory_get_lookups(stage->config_snapshot->settings, collect.lookups);
	if (!lease_take_job(
	        stage->lease, stage->store, JOB_COLLECTOR, now, &is_held, error))
		return false;
	stage->is_idle = !is_held;
	is_ok = !is_held || collect_run(&collect, false, now, report, error);
	jobs_set(stage->store, JOB_NONE);
	return is_ok;
}

int64_t
collector_check_web(struct collector *stage, const struct clock *clock,
    const int *stop_fd, bool *is_changed)
{
	const struct config_snapshot *config_snapshot = stage->config_snapshot;
	const struct self_test test = {
	    .settings = config_snapshot->settings,
	    .store = stage->store,
	    .key = config_snapshot->key,
	    .clock = clock,
	    .random = &random_system,
	    .transport = config_snapshot->transport,
	    .is_daemon = true,
	    .mail_s = SELF_TEST_MAIL_S,
	    .response_s = SELF_TEST_RESPONSE_S,
	    .stop = &stage->stop,
	    .stop_fd = stop_fd,
	};
	int64_t now = clock_get_now(clock);
	int64_t due = self_test_get_due(config_snapshot->settings, now);
	pb_local(self_test_result) result = {0};
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;
	bool is_offered;

	*is_changed = false;
	if (due < 0 || due > now)
		return due;
	if (!self_test_run(&test, &result, &is_offered, &error)) {
		if (!g_atomic_int_get(&stage->stop))
			event_log(EVENT_WEB_CHECK_FAILED, EVENT_TEXT(error->message));
		return now + SELF_TEST_RETRY_S;
	}
	*is_changed = is_offered != config_snapshot->is_one_click_offered;
	text = self_test_format(result.fault, result.detail);
	if (result.fault)
		event_log(EVENT_WEB_CHECK_FAILED,
		    EVENT_WORD("fault", self_test_rows[result.fault].name),
		    EVENT_TEXT(text));
	else
		event_log(EVENT_WEB_CHECK_PASSED);
	return self_test_get_due(config_snapshot->settings, clock_get_now(clock));
}

bool
scheduler_init(
    struct scheduler *stage, struct config_snapshot *config_snapshot, GError **error)
{
	*stage =
	    (struct scheduler){.config_snapshot = config_snapshot_ref(config_snapshot)};
	stage->store = factory_open_store(config_snapshot->settings, error);
	return stage->store &&
	       inbox_load_newest(stage->store, &stage->waited_id, error);
}

void
scheduler_clear(struct scheduler *stage)
{
	g_clear_pointer(&stage->store, store_free);
	config_snapshot_unref(config_snapshot_take(&stage->next));
	g_clear_pointer(&stage->config_snapshot, config_snapshot_unref);
}

void
scheduler_reload(struct scheduler *stage)
{
	switch_snapshot(&stage->config_snapshot, &stage->next, "scheduler");
}

/* @param is_held  set: false while another instance has the job */
static bool
take_job(
    struct scheduler *stage, enum job job, int64_t now, bool *is_held, GError **error)
{
	return lease_take_job(stage->lease, stage->store, job, now, is_held, error);
}

/* The handler of the inbox: messages are commands. */
static bool
handle_mail(void *data, struct store *store, const struct inmail *mail,
    const struct receive_mail *envelope, char **verdict, GError **error)
{
	const struct scheduler *stage = data;
	const struct config_snapshot *config_snapshot = stage->config_snapshot;
	const struct handler_options options = {
	    .settings = config_snapshot->settings,
	    .own_addresses = config_snapshot->own_addresses,
	    .sources = config_snapshot->sources,
	    .phrases = renderer_get_catalog(config_snapshot->renderer),
	    .renderer = config_snapshot->renderer,
	    .key = config_snapshot->key,
	    .random = &random_system,
	    .now = stage->inbox_at,
	};
	struct handler_report report;

	if (!handler_run(store, &options, mail, envelope, &report, error))
		return false;
	*verdict = handler_format_verdict(&report);
	return true;
}

/* The job inbox is the instance's. */
static bool
process_inbox(struct scheduler *stage, int64_t now, const int *stop,
    struct inbox_process_report *report, GError **error)
{
	const char *program = stage->config_snapshot->settings->parser_program;
	const struct inbox_process_options options = {
	    .parser = {.program = *program ? program : NULL},
	    .backlog_id = stage->waited_id,
	    .handle = stage->config_snapshot->own_addresses->has_commands
	                  ? handle_mail
	                  : inbox_process_noop_handler,
	    .data = stage,
	    .limit = stop ? INBOX_BATCH : 0,
	    .time_ms = stop ? INBOX_BATCH_MS : 0,
	    .stop = stop,
	};
	bool is_ok;

	stage->inbox_at = now;
	is_ok = inbox_process_run(stage->store, &options, now, report, error);
	if (report->handled || report->failed)
		event_log(EVENT_INBOX_DONE, EVENT_INT("handled", report->handled),
		    EVENT_INT("failed", report->failed),
		    EVENT_INT("quarantined", report->quarantined));
	return is_ok;
}

bool
scheduler_process_inbox(struct scheduler *stage, int64_t now, const int *stop,
    struct inbox_process_report *report, int64_t *next_due, GError **error)
{
	/* It is called between two commits of another job. */
	enum job other = jobs_set(stage->store, JOB_NONE);
	bool is_held, is_ok;

	is_ok = take_job(stage, JOB_INBOX, now, &is_held, error) &&
	        (!is_held || process_inbox(stage, now, stop, report, error)) &&
	        inbox_load_next_due(stage->store, next_due, error);
	jobs_set(stage->store, other);
	if (!is_ok)
		return false;
	if (!is_held)
		*next_due = now + INSTANCES_RENEW_S;
	else if (report->is_more)
		*next_due = now;
	return true;
}

/* Interval of checks whether the last reply of a pending erasure was sent. */
#define FINAL_REPLY_S 10

/* Erase subscribers whose last reply was sent.  @param due  advanced if any is left */
static bool
erase_pending(struct scheduler *stage, int64_t now, int64_t *due, GError **error)
{
	g_autoptr(GError) problem = NULL;
	unsigned erased = 0;
	bool is_waiting = true;

	/* Readers delay the clean-up of the file: retry. */
	if (!erase_clean(stage->store, &problem) ||
	    !erase_finish(
	        stage->store, stage->config_snapshot->key, now, &erased, &problem)) {
		if (!g_error_matches(problem, PB_ERROR, PB_ERROR_TEMPORARY))
			return pb_error_forward(error, &problem);
	} else if (!erasure_has_pending(stage->store, &is_waiting, error)) {
		return false;
	}
	if (is_waiting && (*due < 0 || *due > now + FINAL_REPLY_S))
		*due = now + FINAL_REPLY_S;
	return true;
}

/* Classify failed messages, and decide about subscribers whose mail is returned. */
static bool
process_bounces(struct scheduler *stage, int64_t now, int64_t *due, GError **error)
{
	const struct config_snapshot *config_snapshot = stage->config_snapshot;
	struct bounce_context context = {
	    .mailer = {stage->store, config_snapshot->settings,
	        config_snapshot->own_addresses, &random_system, now},
	    .key = config_snapshot->key,
	    .catalog = renderer_get_catalog(config_snapshot->renderer),
	};
	struct bounce_run_report report;

	*due = stage->bounces_at;
	/* A later time than the interval allows: the clock was set back. */
	if (now < stage->bounces_at && stage->bounces_at <= now + BOUNCES_S)
		return true;
	*due = stage->bounces_at = now + BOUNCES_S;
	if (!bounce_run(&context, &report, error))
		return false;
	if (report.classified || report.probes || report.suspended || report.cleared)
		event_log(EVENT_BOUNCES_DONE, EVENT_INT("failures", report.classified),
		    EVENT_INT("probes", report.probes),
		    EVENT_INT("suspended", report.suspended),
		    EVENT_INT("cleared", report.cleared));
	return true;
}

/* Send monthly reports, and mails about retractions. @param due  set to when to run
 * again, s; -1: never */
static bool
send_checkups(struct scheduler *stage, int64_t now, int64_t *due, GError **error)
{
	const struct config_snapshot *config_snapshot = stage->config_snapshot;
	const struct checkup checkup = {
	    .mailer = {stage->store, config_snapshot->settings,
	        config_snapshot->own_addresses, &random_system, now},
	    .key = config_snapshot->key,
	    .catalog = renderer_get_catalog(config_snapshot->renderer),
	};
	struct checkup_report report;

	if (!retraction_mail_run(&checkup, error) ||
	    !checkup_run(&checkup, stage->checkups_ms, &report, due, error))
		return false;
	if (report.due)
		event_log(EVENT_CHECKUPS_DONE, EVENT_INT("due", report.due),
		    EVENT_INT("sent", report.sent));
	return true;
}

bool
scheduler_send_alerts(struct scheduler *stage, int64_t now,
    const struct mailer_relay *relay, unsigned *reported, GError **error)
{
	const struct alerts alerts = {
	    .store = stage->store,
	    .settings = stage->config_snapshot->settings,
	    .own_addresses = stage->config_snapshot->own_addresses,
	    .relay = relay,
	    .random = &random_system,
	    .retries = &stage->alerts_retries,
	};

	*reported = 0;
	/* A later time than the interval allows: the clock was set back. */
	if (now < stage->alerts_at && stage->alerts_at <= now + ALERTS_INTERVAL_S)
		return true;
	stage->alerts_at = now + ALERTS_INTERVAL_S;
	if (!alerts_run(&alerts, now, reported, error) ||
	    !owner_report_run(&alerts, now, error))
		return false;
	if (*reported)
		event_log(
		    relay && relay->is_away ? EVENT_ALERT_WAITING : EVENT_ALERT_SENT,
		    EVENT_INT("problems", *reported));
	return true;
}

static bool
match(struct scheduler *stage, int64_t now, GError **error)
{
	struct match_report matched = {0};
	unsigned changes;

	if (!match_run(stage->store, now, &matched, error) ||
	    !share_news_run(stage->store, now, &changes, error))
		return false;
	if (matched.papers || matched.decided)
		event_log(EVENT_MATCH_DONE, EVENT_INT("compared", matched.papers),
		    EVENT_INT("found", matched.found),
		    EVENT_INT("waiting", matched.waiting),
		    EVENT_INT("decided", matched.decided));
	if (matched.broken)
		event_log(EVENT_MATCH_SKIPPED, EVENT_INT("filters", matched.broken));
	return true;
}

/* @param is_matched  set: the papers up to a revision are, by any instance */
static bool
match_or_wait(struct scheduler *stage, int64_t now, int64_t newest, bool *is_matched,
    GError **error)
{
	struct filter_progress progress;

	if (!take_job(stage, JOB_MATCHING, now, &stage->is_matcher, error))
		return false;
	*is_matched = stage->is_matcher;
	if (stage->is_matcher)
		return match(stage, now, error);
	if (!filter_progress_load(stage->store, &progress, error))
		return false;
	*is_matched = progress.matched >= newest;
	return true;
}

/* @param due  set */
static bool
build_digests(struct scheduler *stage, int64_t now, struct digest_build_report *report,
    int64_t *due, GError **error)
{
	int64_t newest;
	bool is_matched;

	*due = -1;
	/*
	 * No digests before the first paper: they would all be empty, and a new
	 * subscriber's first one, with the papers of the last days, would be lost.
	 * Read before matching, so that papers which come meanwhile are matched first.
	 */
	if (!papers_load_newest_revision(stage->store, &newest, error) ||
	    !match_or_wait(stage, now, newest, &is_matched, error))
		return false;
	jobs_set(stage->store, JOB_NONE);
	if (newest && is_matched &&
	    !digest_build_run(stage->store, stage->config_snapshot->key,
	        renderer_get_catalog(stage->config_snapshot->renderer), now, report,
	        error))
		return false;
	if (stage->built)
		stage->built(stage->data);
	if (report->due)
		event_log(EVENT_DIGESTS_BUILT, EVENT_INT("due", report->due),
		    EVENT_INT("digests", report->digests),
		    EVENT_INT("empty", report->quiet),
		    EVENT_INT("papers", report->papers));
	if (newest && !subscribers_load_next_due(stage->store, due, error))
		return false;
	/* Digests held for a late list are built then, or when the list arrives. */
	if (*due >= 0 && report->held_until > now)
		*due = MAX(*due, report->held_until);
	if (*due >= 0 && store_is_shared(stage->store))
		*due = MAX(*due, now + INSTANCES_LOCKED_S);
	if (*due >= 0 && (!is_matched || report->is_paused))
		*due = MAX(*due, now + INSTANCES_RENEW_S);
	return true;
}

/* The List-Id follows mail.from.  The store has a hash of the last one. */
static bool
check_list_id(struct scheduler *stage, GError **error)
{
	static const char cursor[] = "list id";
	const struct settings *settings = stage->config_snapshot->settings;
	g_autofree char *list_id = factory_format_list_id(settings);
	int64_t hash = (int64_t)fnv1a_hash(list_id, strlen(list_id));
	int64_t before;

	if (hash == stage->list_id_hash || settings_is_default(settings))
		return true;
	if (!store_load_int64(stage->store, cursor, 0, &before, error) ||
	    !store_save_cursor(stage->store, cursor, hash, error))
		return false;
	stage->list_id_hash = hash;
	if (before && before != hash)
		event_log(EVENT_LIST_ID_CHANGED, EVENT_TEXT(list_id));
	return true;
}

/* @param due  set, at the latest in a day */
static bool
maintain(struct scheduler *stage, int64_t now, int64_t *due, GError **error)
{
	int64_t newest, checkup_due = -1;

	if (!check_list_id(stage, error) ||
	    !maintenance_load_due(stage->store, now, due, error))
		return false;
	/* It may take long, and can be done at the next start. */
	if (*due <= now && !store_is_stopped(stage->store)) {
		if (!maintenance_run(stage->store, now, error) ||
		    !maintenance_load_due(stage->store, now, due, error))
			return false;
		event_log(EVENT_MAINTENANCE_DONE);
	}
	if (!papers_load_newest_revision(stage->store, &newest, error) ||
	    !erase_pending(stage, now, due, error) ||
	    (newest && !send_checkups(stage, now, &checkup_due, error)))
		return false;
	if (checkup_due >= 0)
		*due = MIN(*due, checkup_due);
	return true;
}

static bool
run_jobs(struct scheduler *stage, int64_t now, struct digest_build_report *report,
    int64_t *next_due, GError **error)
{
	int64_t idle_until = now + INSTANCES_RENEW_S; /* another may lose its jobs */
	int64_t digest_due, match_due = idle_until;
	int64_t due = idle_until, bounces_due = idle_until;
	struct clock_jump jump;
	bool is_held;

	if (!clock_watch_load(stage->store, &jump, error))
		return false;
	if (jump.is_held) {
		*next_due = now + CLOCK_CHECK_S;
		return true;
	}
	if (!take_job(stage, JOB_MAINTENANCE, now, &is_held, error) ||
	    (is_held && !process_bounces(stage, now, &bounces_due, error)) ||
	    !build_digests(stage, now, report, &digest_due, error) ||
	    !take_job(stage, JOB_MAINTENANCE, now, &is_held, error) ||
	    (is_held && !maintain(stage, now, &due, error)) ||
	    (stage->is_matcher &&
	        !matches_load_next_due(stage->store, &match_due, error)))
		return false;
	*next_due = MIN(due, bounces_due);
	if (digest_due >= 0)
		*next_due = MIN(*next_due, digest_due);
	if (match_due >= 0)
		*next_due = MIN(*next_due, match_due);
	return true;
}

bool
scheduler_run(struct scheduler *stage, int64_t now, struct digest_build_report *report,
    int64_t *next_due, GError **error)
{
	bool is_ok = run_jobs(stage, now, report, next_due, error);

	jobs_set(stage->store, JOB_NONE);
	return is_ok;
}

static struct transport *
new_transport(void *data)
{
	return factory_new_transport(data);
}

static struct mailer_options
mailer_options_of(
    struct mailer_stage *stage, const struct config_snapshot *config_snapshot)
{
	const struct settings *settings = config_snapshot->settings;
	const struct provider_limits limits = provider_get_limits(settings);
	bool is_maildir = settings->delivery == SETTINGS_DELIVERY_MAILDIR;

	return (struct mailer_options){
	    .store = stage->store,
	    .renderer = config_snapshot->renderer,
	    .lease = stage->parts.lease,
	    .clock = stage->parts.clock,
	    .key = config_snapshot->key,
	    .envelope_from = factory_get_envelope_from(settings),
	    .bounces = config_snapshot->own_addresses->has_commands
	                   ? &config_snapshot->own_addresses->bounces
	                   : NULL,
	    /* A Maildir is not faster with several writers. */
	    .connections = is_maildir ? 1 : (unsigned)settings->smtp_connections,
	    .expire_s = settings->expire_h * (int64_t)CLOCK_HOUR_S,
	    .per_second = (unsigned)settings->per_second,
	    .per_hour = limits.per_hour,
	    .per_day = limits.per_day,
	    .domain_per_hour = (unsigned)settings->domain_per_hour,
	    .new_transport = new_transport,
	    .data = (void *)config_snapshot->transport,
	    .heartbeats = stage->parts.heartbeats,
	    .state_dir = settings->state_dir,
	    .min_free_bytes = STATUS_DISK_MIN_BYTES,
	    .pause = &stage->pause,
	    .stop_fd = stage->parts.stop_fd,
	};
}

bool
mailer_stage_init(struct mailer_stage *stage, struct config_snapshot *config_snapshot,
    const struct process_parts *parts, GError **error)
{
	*stage = (struct mailer_stage){
	    .parts = *parts,
	    .config_snapshot = config_snapshot_ref(config_snapshot),
	};
	stage->store = factory_open_store(config_snapshot->settings, error);
	if (stage->store) {
		struct mailer_options options =
		    mailer_options_of(stage, config_snapshot);

		stage->mailer = mailer_new(&options, error);
	}
	return stage->mailer != NULL;
}

void
mailer_stage_clear(struct mailer_stage *stage)
{
	g_clear_pointer(&stage->mailer, mailer_free);
	g_clear_pointer(&stage->store, store_free);
	config_snapshot_unref(config_snapshot_take(&stage->next));
	g_clear_pointer(&stage->config_snapshot, config_snapshot_unref);
}

void
mailer_stage_publish(
    struct mailer_stage *stage, struct config_snapshot *config_snapshot)
{
	config_snapshot_publish(&stage->next, config_snapshot);
	g_atomic_int_set(&stage->pause, 1);
}

bool
mailer_stage_reload(struct mailer_stage *stage, GError **error)
{
	struct config_snapshot *next;
	struct mailer_options options;

	/* Cleared first: publishing a snapshot after this line sets it again, so that
	 * the next run of the mailer ends at once. */
	g_atomic_int_set(&stage->pause, 0);
	next = config_snapshot_take(&stage->next);
	if (!next)
		return true;
	options = mailer_options_of(stage, next);
	if (!mailer_reload(stage->mailer, &options,
	        !factory_is_same_transport(
	            stage->config_snapshot->transport, next->transport),
	        error)) {
		config_snapshot_reject(&stage->next, next);
		return false;
	}
	config_snapshot_unref(stage->config_snapshot);
	stage->config_snapshot = next;
	event_log(EVENT_CONFIG_APPLIED, EVENT_WORD("stage", "mailer"));
	return true;
}

bool
mailer_stage_run(struct mailer_stage *stage, const int *stop,
    struct mailer_report *report, int64_t *next, GError **error)
{
	/* An installation that is not configured sends nothing. */
	if (settings_is_default(stage->config_snapshot->settings)) {
		*next = -1;
		return true;
	}
	return mailer_run(stage->mailer, stop, report, next, error);
}

void
mailer_stage_log(const struct mailer_report *report)
{
	if (report->sent || report->deferred || report->failed || report->unknown ||
	    report->cancelled)
		event_log(EVENT_MAILER_DONE, EVENT_INT("sent", report->sent),
		    EVENT_INT("deferred", report->deferred),
		    EVENT_INT("failed", report->failed),
		    EVENT_INT("unknown", report->unknown),
		    EVENT_INT("cancelled", report->cancelled));
}
