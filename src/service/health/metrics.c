/*
 * metrics.c - metrics for a monitoring system.
 */
#include "service/health/metrics.h"

#include <string.h>

#include "service/collect/source_status.h"
#include "service/health/health.h"

#define GAUGE   "gauge"
#define COUNTER "counter"

static void
add_family(GString *text, const char *name, const char *type, const char *help)
{
	g_string_append_printf(text, "# HELP paperboy_%s %s\n# TYPE paperboy_%s %s\n",
	    name, help, name, type);
}

/* @param value  -1: unknown, no line */
static void
add_value(GString *text, const char *name, const char *label, const char *member,
    int64_t value)
{
	if (value < 0)
		return;
	g_string_append_printf(text, "paperboy_%s", name);
	if (label)
		g_string_append_printf(text, "{%s=\"%s\"}", label, member);
	g_string_append_printf(text, " %" G_GINT64_FORMAT "\n", value);
}

static void
add_one(
    GString *text, const char *name, const char *type, const char *help, int64_t value)
{
	add_family(text, name, type, help);
	add_value(text, name, NULL, NULL, value);
}

static void
add_people(GString *text, const struct status *status)
{
	add_family(text, "subscribers", GAUGE, "Subscribers by state.");
	for (int state = 0; state <= SUBSCRIBER_GONE; state++)
		add_value(text, "subscribers", "state",
		    subscriber_state_name((enum subscriber_state)state),
		    status->people[state]);
	add_one(text, "filters", GAUGE, "Distinct filters.", status->filters);
	add_one(text, "papers", GAUGE, "Papers in the store.", status->papers);
	add_one(
	    text, "matches", GAUGE, "Matches of papers and filters.", status->matches);
	add_one(text, "matches_waiting", GAUGE,
	    "Matches that wait for votes or categories.", status->waiting);
	add_one(text, "next_digest_time_seconds", GAUGE,
	    "Time when the next digest is due.", status->next_due);
}

static void
add_queue(GString *text, const struct status *status)
{
	const struct {
		const char *state;
		int64_t count;
	} rows[] = {
	    {"new", status->fresh},
	    {"sending", status->sending},
	    {"deferred", status->deferred},
	    {"unknown", status->unknown},
	    {"held", status->held},
	    {"failed", status->failed},
	};

	add_family(text, "messages", GAUGE, "Messages in the outbox by state.");
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		add_value(text, "messages", "state", rows[i].state, rows[i].count);
	add_one(text, "oldest_message_time_seconds", GAUGE,
	    "Time when the oldest unsent message was queued.",
	    status->oldest ? status->oldest->queued_at : -1);
	add_one(text, "messages_failed_last_day", GAUGE,
	    "Messages that failed in the last day.", status->failed_lately);
}

static void
add_bounces(GString *text, const struct status *status)
{
	const struct {
		const char *class;
		int64_t count;
	} rows[] = {
	    {"dead", status->bounces.dead},
	    {"full", status->bounces.full},
	    {"temporary", status->bounces.temporary},
	    {"sender", status->bounces.sender},
	    {"complaint", status->bounces.complaint},
	};

	add_family(text, "bounces_last_week", GAUGE,
	    "Messages returned in the last 7 days by class.");
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		add_value(
		    text, "bounces_last_week", "class", rows[i].class, rows[i].count);
	add_family(text, "bounced_subscribers", GAUGE,
	    "Subscribers whose mail was returned in the last 7 days, of domains with "
	    "many.");
	for (unsigned i = 0; i < status->bounce_domains->len; i++) {
		const struct bounce_domain *counts = status->bounce_domains->pdata[i];

		add_value(text, "bounced_subscribers", "domain", counts->domain,
		    counts->bounced);
	}
	add_one(text, "paused_domains", GAUGE, "Domains that refuse our mail.",
	    status->pauses->len);
}

static void
add_sources(GString *text, const GPtrArray *sources)
{
	static const struct {
		const char *name, *help;
	} families[] = {
	    {"source_poll_time_seconds", "Time of the last answer of a source."},
	    {"source_success_time_seconds",
	        "Time of the last successful poll of a source."},
	    {"source_late",
	        "1 when a source was not polled successfully for hours, or its list of "
	        "the day is missing."},
	    {"source_failing", "1 when the last poll of a source failed."},
	    {"source_papers", "Papers of the newest day with papers."},
	    {"source_missed_papers",
	        "Papers that had been missed of the past day that was last fetched "
	        "again."},
	};

	for (size_t f = 0; f < G_N_ELEMENTS(families); f++) {
		add_family(text, families[f].name, GAUGE, families[f].help);
		for (unsigned i = 0; i < sources->len; i++) {
			const struct source_status_source *source = sources->pdata[i];
			const int64_t values[] = {source->fetched_at, source->good_at,
			    source->is_late || *source->missing_day,
			    source->error != NULL, source->papers, source->missed};

			G_STATIC_ASSERT(G_N_ELEMENTS(values) == G_N_ELEMENTS(families));
			if (source->is_on)
				add_value(text, families[f].name, "source",
				    source->name, values[f]);
		}
	}
}

static void
add_requests(GString *text, const struct status *status)
{
	const int64_t *sent = status->requested_in_hour;

	add_one(text, "confirmations_last_hour", GAUGE,
	    "Requests to confirm sent in the last hour.",
	    sent[RATE_BUDGET_MAIL] + sent[RATE_BUDGET_VERIFIED] +
	        sent[RATE_BUDGET_PAGE]);
	add_one(text, "requests_dropped_total", COUNTER,
	    "Requests dropped by the limits on confirmations.", status->dropped.total);
}

static void
add_machine(GString *text, const struct status *status)
{
	add_one(text, "disk_free_bytes", GAUGE,
	    "Free space on the disk of the state directory.", status->disk_free_bytes);
	add_one(
	    text, "store_bytes", GAUGE, "Size of the database.", status->store_bytes);
	add_one(text, "store_wal_bytes", GAUGE, "Size of its write-ahead log.",
	    status->wal_bytes);
	add_one(text, "backup_time_seconds", GAUGE, "Time of the last backup.",
	    status->restore.last_made_at);
	if (!status->instances)
		return;
	add_one(text, "instances", GAUGE, "Instances with a lease.",
	    status_count_live(status));
	add_one(text, "standbys_missing", GAUGE,
	    "Standbys of the database server that are not connected.",
	    status->standbys.gone);
	add_one(text, "standby_behind_bytes", GAUGE,
	    "What a standby of the database server lacks.", status->standbys.behind);
}

static void
add_problems(
    GString *text, const struct health_options *options, const struct status *status)
{
	g_autoptr(GPtrArray) problems = health_find_problems(options, status);

	add_family(text, "problems", GAUGE,
	    "Problems by health check; paperboyctl status shows them.");
	for (const struct health_check *check = health_checks; check->name; check++) {
		int64_t count = 0;

		for (unsigned i = 0; i < problems->len; i++) {
			const struct health_finding *problem = problems->pdata[i];

			count += problem->check == check;
		}
		if (check->severity != HEALTH_DAMAGE)
			add_value(text, "problems", "check", check->name, count);
	}
}

static void
add_daemon(GString *text, const struct status_daemon *daemon)
{
	add_family(text, "build_info", GAUGE, "Version of paperboy.");
	add_value(text, "build_info", "version", PACKAGE_VERSION, 1);
	add_one(text, "up", GAUGE, "1 when paperboyd runs.", daemon->is_running);
	if (!daemon->is_running)
		return;
	add_one(text, "start_time_seconds", GAUGE, "Time when paperboyd started.",
	    daemon->started_at);
	add_one(text, "collector_time_seconds", GAUGE,
	    "Time of the last poll of the sources.", daemon->collected_at);
	add_one(text, "mailer_time_seconds", GAUGE,
	    "Time when all due mail had last been sent.", daemon->delivered_at);
	add_one(text, "relay_up", GAUGE, "0 when the relay does not accept mail.",
	    !daemon->relay.is_away);
}

static void
add_work(GString *text, const struct metrics_work *work)
{
	const struct {
		const char *name, *help;
		int64_t count;
	} rows[] = {
	    {"collects_total", "Polls of the sources.", work->collects},
	    {"new_papers_total", "New papers.", work->new_papers},
	    {"failed_fetches_total", "Fetches that failed.", work->failed_fetches},
	    {"digests_total", "Digests built.", work->digests},
	    {"empty_digests_total", "Due digests without papers.", work->empty_digests},
	    {"sent_total", "Messages sent.", work->sent},
	    {"deferred_total", "Delivery attempts that were deferred.", work->deferred},
	    {"failed_total", "Messages that failed.", work->failed},
	    {"inbox_messages_total", "Received messages that were processed.",
	        work->inbox},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		add_one(text, rows[i].name, COUNTER, rows[i].help, rows[i].count);
	add_one(text, "threads_overdue", GAUGE, "Threads whose heartbeat is overdue.",
	    work->overdue_threads);
}

char *
metrics_format(struct store *store, const struct settings *settings,
    const struct status_daemon *daemon, const struct metrics_work *work, int64_t now,
    GError **error)
{
	const struct health_options options = {
	    .settings = settings, .daemon = daemon, .now = now};
	pb_local(status) status = {0};
	GString *text;

	if (!status_load(store, settings, now, &status, error))
		return NULL;
	text = g_string_new(NULL);
	add_daemon(text, daemon);
	add_sources(text, status.sources);
	add_people(text, &status);
	add_queue(text, &status);
	add_bounces(text, &status);
	add_requests(text, &status);
	add_machine(text, &status);
	add_problems(text, &options, &status);
	if (work)
		add_work(text, work);
	return g_string_free(text, FALSE);
}
