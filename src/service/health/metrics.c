/*
 * metrics.c - how paperboy is doing, in numbers for a monitoring system.
 */
#include "service/health/metrics.h"

#include <string.h>

#include "service/collect/source_status.h"

#define GAUGE   "gauge"
#define COUNTER "counter"

static void
add_family(GString *text, const char *name, const char *type, const char *help)
{
	g_string_append_printf(text, "# HELP paperboy_%s %s\n# TYPE paperboy_%s %s\n",
	    name, help, name, type);
}

/* @param value  -1 is what is not known: no line */
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
	add_family(text, "subscribers", GAUGE, "People by state.");
	for (int state = 0; state <= SUBSCRIBER_GONE; state++)
		add_value(text, "subscribers", "state",
		    subscriber_state_name((enum subscriber_state)state),
		    status->people[state]);
	add_one(text, "filters", GAUGE, "Distinct filters.", status->filters);
	add_one(text, "papers", GAUGE, "Papers in the archive.", status->papers);
	add_one(text, "matches", GAUGE, "Papers that filters found.", status->matches);
	add_one(text, "matches_waiting", GAUGE,
	    "Matches that wait for votes or categories.", status->waiting);
	add_one(text, "next_edition_time_seconds", GAUGE,
	    "When the next edition is due.", status->next_due);
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
	    "When the message that waits longest was queued.",
	    status->oldest ? status->oldest->queued_at : -1);
	add_one(text, "messages_failed_last_day", GAUGE,
	    "Messages given up in the last day.", status->failed_lately);
}

static void
add_source_family(GString *text, const GPtrArray *sources, const char *name,
    const char *help, int64_t (*get)(const struct source_status_source *source))
{
	add_family(text, name, GAUGE, help);
	for (unsigned i = 0; i < sources->len; i++) {
		const struct source_status_source *source = sources->pdata[i];

		if (source->is_on)
			add_value(text, name, "source", source->name, get(source));
	}
}

static int64_t
get_asked(const struct source_status_source *source)
{
	return source->fetched_at;
}

static int64_t
get_good(const struct source_status_source *source)
{
	return source->good_at;
}

static int64_t
get_is_late(const struct source_status_source *source)
{
	return source->is_late || *source->missing_day;
}

static int64_t
get_is_failing(const struct source_status_source *source)
{
	return source->error != NULL;
}

static int64_t
get_papers(const struct source_status_source *source)
{
	return source->papers;
}

static void
add_sources(GString *text, const GPtrArray *sources)
{
	add_source_family(text, sources, "source_answer_time_seconds",
	    "When a source last answered.", get_asked);
	add_source_family(text, sources, "source_success_time_seconds",
	    "When a source last answered well.", get_good);
	add_source_family(text, sources, "source_late",
	    "1: no good answer of the source for long, or its list of the day is "
	    "missing.",
	    get_is_late);
	add_source_family(text, sources, "source_failing",
	    "1: the last answer of the source was no good one.", get_is_failing);
	add_source_family(text, sources, "source_papers",
	    "Papers on the newest day that has some.", get_papers);
}

static void
add_requests(GString *text, const struct status *status)
{
	add_one(text, "confirmations_last_hour", GAUGE,
	    "Unknown senders who were asked to confirm in the last hour.",
	    status->asked_hour);
	add_one(text, "requests_dropped_total", COUNTER,
	    "Requests dropped since the limits on confirmations were reached.",
	    status->dropped.total);
}

static void
add_machine(GString *text, const struct status *status)
{
	add_one(text, "disk_free_bytes", GAUGE, "Room on the disk of the state folder.",
	    status->disk_free_bytes);
	add_one(text, "store_bytes", GAUGE, "The store's file.", status->store_bytes);
	add_one(
	    text, "store_log_bytes", GAUGE, "Its write-ahead log.", status->log_bytes);
	add_one(text, "backup_time_seconds", GAUGE, "When the last backup was made.",
	    status->past.last_made_at);
	add_one(text, "problems", GAUGE,
	    "Things that want a person: paperboyctl status tells them.",
	    status->problems->len);
}

static void
add_daemon(GString *text, const struct status_daemon *daemon)
{
	add_family(text, "build_info", GAUGE, "The version.");
	add_value(text, "build_info", "version", PACKAGE_VERSION, 1);
	add_one(text, "up", GAUGE, "1: paperboyd runs.", daemon->is_running);
	if (!daemon->is_running)
		return;
	add_one(text, "start_time_seconds", GAUGE, "When paperboyd started.",
	    daemon->started_at);
	add_one(text, "collect_time_seconds", GAUGE,
	    "When the sources were last looked at.", daemon->collected_at);
	add_one(text, "post_time_seconds", GAUGE,
	    "When all mail that was due had last been sent.", daemon->delivered_at);
	add_one(text, "relay_up", GAUGE, "0: the relay is left alone for failing.",
	    !daemon->relay || !g_str_has_prefix(daemon->relay, "open"));
}

static void
add_work(GString *text, const struct metrics_work *work)
{
	const struct {
		const char *name, *help;
		int64_t count;
	} rows[] = {
	    {"collects_total", "Looks at the sources.", work->collects},
	    {"new_papers_total", "Papers never seen before.", work->new_papers},
	    {"failed_fetches_total", "Answers of sources that failed.",
	        work->failed_fetches},
	    {"digests_total", "Digests made.", work->digests},
	    {"quiet_editions_total", "Editions without a paper.", work->empty_digests},
	    {"sent_total", "Messages sent.", work->sent},
	    {"deferred_total", "Messages put off.", work->deferred},
	    {"failed_total", "Messages given up.", work->failed},
	    {"letters_total", "Letters handled.", work->inbox},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		add_one(text, rows[i].name, COUNTER, rows[i].help, rows[i].count);
	add_one(text, "threads_late", GAUGE, "Threads that are not back in time.",
	    work->overdue_threads);
}

char *
metrics_format(struct store *store, const struct settings *settings,
    const struct status_daemon *daemon, const struct metrics_work *work, int64_t now,
    GError **error)
{
	struct status status;
	GString *text;

	if (!status_load(store, settings, daemon, now, &status, error))
		return NULL;
	text = g_string_new(NULL);
	add_daemon(text, daemon);
	add_sources(text, status.sources);
	add_people(text, &status);
	add_queue(text, &status);
	add_requests(text, &status);
	add_machine(text, &status);
	if (work)
		add_work(text, work);
	status_clear(&status);
	return g_string_free(text, FALSE);
}
