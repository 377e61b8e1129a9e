/*
 * ctl_status.c - paperboyctl status and metrics.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "ctl/ctl.h"
#include "ctl/print.h"
#include "ctl/table.h"
#include "service/collect/source_status.h"
#include "service/health/health.h"
#include "service/health/metrics.h"
#include "service/health/status.h"
#include "store/core/instances.h"
#include "store/core/jobs.h"

/* ---- the instances of a shared store, in paperboyctl status ---- */

static bool
holds(const struct instance *instance, const struct job_holder *job)
{
	return job->holder == instance->id;
}

static json_t *
json_of_jobs(const struct status *status, const struct instance *instance)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < status->jobs->len; i++) {
		const struct job_holder *job = status->jobs->pdata[i];

		if (holds(instance, job))
			json_array_append_new(list, json_string(job->name));
	}
	return list;
}

/* @param status  of a shared store @return a new list */
static json_t *
ctl_json_of_instances(const struct status *status)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < status->instances->len; i++) {
		const struct instance *instance = status->instances->pdata[i];

		json_array_append_new(
		    list, json_pack("{s:I, s:s, s:s, s:I, s:I, s:o}", "id",
		              (json_int_t)instance->id, "name", instance->name,
		              "version", instance->program, "started_at",
		              (json_int_t)instance->started_at, "lease_left_s",
		              (json_int_t)(instance->expires_at - status->store_now),
		              "jobs", json_of_jobs(status, instance)));
	}
	return list;
}

static void
print_instance(const struct status *status, const struct instance *instance)
{
	g_autofree char *name = print_dup_line(instance->name);
	g_autofree char *since = day_format_minute(instance->started_at);
	int64_t left_s = instance->expires_at - status->store_now;
	const char *before = "             holds ";

	printf("instance %-3" G_GINT64_FORMAT " %s, %s, since %s; ", instance->id, name,
	    instance->program, since);
	if (left_s > 0)
		printf("lease for %" G_GINT64_FORMAT " s\n", left_s);
	else
		puts("lease EXPIRED");
	for (unsigned i = 0; i < status->jobs->len; i++) {
		const struct job_holder *job = status->jobs->pdata[i];

		if (!holds(instance, job))
			continue;
		printf("%s%s", before, job->name);
		before = ", ";
	}
	if (*before == ',')
		putchar('\n');
}

/* Print a line for each, and the jobs that it holds; nothing for a local store. */
static void
ctl_print_instances(const struct status *status)
{
	if (!status->instances)
		return;
	if (!status->instances->len)
		puts("instances    none");
	for (unsigned i = 0; i < status->instances->len; i++)
		print_instance(status, status->instances->pdata[i]);
}

/* ---- ctl status ---- */

/* Maximum length of the problem in the first line, characters. */
#define SUMMARY_CHARS 140

void
ctl_load_daemon(const struct ctl *ctl, struct status_daemon *daemon)
{
	g_autofree char *line = ctl_ask_daemon(ctl, "status");

	if (!line) {
		*daemon = STATUS_DAEMON_NONE;
		return;
	}
	status_daemon_parse(line, daemon);
	if (daemon->relay_text) {
		char *text = print_dup_line(daemon->relay_text);

		g_free(daemon->relay_text);
		daemon->relay_text = text;
	}
}

/* ---- the summary ---- */

/* The most severe of the problems; NULL if there are none. */
static const struct health_finding *
find_worst(const GPtrArray *problems)
{
	for (unsigned i = 0; i < problems->len; i++) {
		const struct health_finding *problem = problems->pdata[i];

		if (problem->is_failure)
			return problem;
	}
	return problems->len ? problems->pdata[0] : NULL;
}

static int
get_exit_status(const GPtrArray *problems)
{
	const struct health_finding *worst = find_worst(problems);

	return !worst ? 0 : worst->is_failure ? CTL_EXIT_FAILING : CTL_EXIT_WARNING;
}

static const char *
get_state_name(int exit_status)
{
	static const char *const names[] = {"ok", "warning", "failing"};

	return names[exit_status];
}

/* The first line, which a monitor shows alone; for Nagios "|" begins other data. */
static void
print_summary(const char *state, const char *message)
{
	g_autofree char *title = g_ascii_strup(state, -1);
	g_autofree char *line = print_dup_line(message);

	printf("%s: %s", title, g_strdelimit(line, "|", '/'));
}

void
ctl_print_failure(const char *message)
{
	print_summary(get_state_name(CTL_EXIT_FAILING), message);
	putchar('\n');
}

static char *
format_counts(const struct status *status)
{
	int64_t people = status->people[SUBSCRIBER_ACTIVE];

	return g_strdup_printf("%" G_GINT64_FORMAT " active subscriber%s, "
	                       "%" G_GINT64_FORMAT " messages queued",
	    people, people == 1 ? "" : "s",
	    status->fresh + status->sending + status->deferred + status->unknown);
}

/* With the worst problem, which is shown in full below. */
static void
print_head(const struct status *status, const GPtrArray *problems)
{
	const struct health_finding *worst = find_worst(problems);
	g_autofree char *text =
	    worst ? print_dup_line(worst->text) : format_counts(status);
	g_autofree char *cut =
	    g_utf8_substring(text, 0, MIN(g_utf8_strlen(text, -1), SUMMARY_CHARS));

	print_summary(get_state_name(get_exit_status(problems)), cut);
	if (strlen(cut) < strlen(text))
		fputs(" ...", stdout);
	if (problems->len > 1)
		printf("; %u more below", problems->len - 1);
	putchar('\n');
}

/* ---- JSON ---- */

static json_t *
json_of_sources(const GPtrArray *sources)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < sources->len; i++) {
		const struct source_status_source *source = sources->pdata[i];

		if (source->fetched_at < 0)
			continue;
		json_array_append_new(list,
		    json_pack("{s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:I, s:o, s:o}",
		        "source", source->name, "day", source->day, "status",
		        source->status, "fetched_at", (json_int_t)source->fetched_at,
		        "good_at", print_json_number(source->good_at), "error",
		        print_json_text(source->error), "papers_day",
		        print_json_text(source->papers_day), "papers",
		        (json_int_t)source->papers, "audit_day",
		        print_json_text(*source->audit_day ? source->audit_day : NULL),
		        "missed", print_json_number(source->missed)));
	}
	return list;
}

static json_t *
json_of_people(const struct status *status)
{
	json_t *people = json_object();

	for (unsigned i = 0; i <= SUBSCRIBER_GONE; i++)
		json_object_set_new(people, subscriber_state_name(i),
		    json_integer((json_int_t)status->people[i]));
	return people;
}

static json_t *
json_of_oldest(const struct outbox_message *message)
{
	if (!message)
		return json_null();
	return json_pack("{s:I, s:s, s:I, s:o, s:o}", "id", (json_int_t)message->id,
	    "state", message->state, "queued_at", (json_int_t)message->queued_at,
	    "next_try_at", print_json_number(message->next_try_at), "reply",
	    print_json_text(message->reply));
}

static json_t *
json_of_restore(const struct status *status)
{
	if (status->restore.restored_at < 0)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:I}", "restored_at",
	    (json_int_t)status->restore.restored_at, "made_at",
	    (json_int_t)status->restore.made_at, "held",
	    (json_int_t)status->held_by_restore, "people",
	    (json_int_t)status->restore.people);
}

static const struct table_column problem_columns[] = {
    TABLE_COLUMN(NULL, "check", TABLE_TEXT, health_finding, name),
    TABLE_COLUMN(NULL, "text", TABLE_TEXT, health_finding, text),
    TABLE_COLUMN(NULL, "action", TABLE_TEXT, health_finding, action),
    TABLE_COLUMN(NULL, "failing", TABLE_BOOL, health_finding, is_failure),
    {0},
};

static json_t *
json_of_queue(const struct status *status)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "new",
	    (json_int_t)status->fresh, "sending", (json_int_t)status->sending,
	    "deferred", (json_int_t)status->deferred, "unknown",
	    (json_int_t)status->unknown, "held", (json_int_t)status->held, "failed",
	    (json_int_t)status->failed);
}

static json_t *
json_of_limits(const struct status *status)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:o}", "per_hour",
	    (json_int_t)status->per_hour, "sent_in_hour",
	    (json_int_t)status->sent_in_hour, "per_day", (json_int_t)status->per_day,
	    "sent_in_day", (json_int_t)status->sent_in_day, "next_in_day",
	    print_json_number(status->next_in_day));
}

static json_t *
json_of_inbox(const struct status *status)
{
	return json_pack("{s:I, s:I, s:I, s:o}", "new", (json_int_t)status->messages,
	    "quarantined", (json_int_t)status->quarantined, "skipped",
	    (json_int_t)status->skipped, "unanswered",
	    print_json_texts(status->unanswered));
}

static json_t *
json_of_confirmations(const struct status *status)
{
	const int64_t *sent = status->requested_in_hour;

	return json_pack("{s:I, s:{s:I, s:I, s:I}, s:I, s:I}", "pending",
	    (json_int_t)status->pending, "last_hour", "mail",
	    (json_int_t)sent[RATE_BUDGET_MAIL], "verified",
	    (json_int_t)sent[RATE_BUDGET_VERIFIED], "page",
	    (json_int_t)sent[RATE_BUDGET_PAGE], "limit",
	    (json_int_t)status->request_limit, "dropped",
	    (json_int_t)status->dropped.total);
}

static const struct table_column pause_columns[] = {
    TABLE_COLUMN(NULL, "domain", TABLE_TEXT, domain_pause, domain),
    TABLE_COLUMN(NULL, "since", TABLE_TIME, domain_pause, since),
    TABLE_COLUMN(NULL, "until", TABLE_TIME, domain_pause, until),
    TABLE_COLUMN(NULL, "rule", TABLE_TEXT, domain_pause, rule),
    TABLE_COLUMN(NULL, "reply", TABLE_TEXT, domain_pause, reply),
    {0},
};

static const struct table_column domain_columns[] = {
    TABLE_COLUMN(NULL, "domain", TABLE_TEXT, bounce_domain, domain),
    TABLE_COLUMN(NULL, "bounced", TABLE_INT64, bounce_domain, bounced),
    TABLE_COLUMN(NULL, "subscribers", TABLE_INT64, bounce_domain, subscribers),
    {0},
};

static json_t *
json_of_bounces(const struct status *status)
{
	json_t *object = print_json_bounces(&status->bounces);

	json_object_set_new(object, "domains",
	    table_rows_to_json(domain_columns, status->bounce_domains));
	json_object_set_new(
	    object, "paused", table_rows_to_json(pause_columns, status->pauses));
	return object;
}

static json_t *
json_of_daemon(const struct status_daemon *daemon)
{
	return json_pack("{s:b, s:o, s:o, s:o, s:o, s:o}", "running",
	    (int)daemon->is_running, "started_at",
	    print_json_number(daemon->started_at), "collected_at",
	    print_json_number(daemon->collected_at), "delivered_at",
	    print_json_number(daemon->delivered_at), "relay",
	    print_json_text(daemon->relay_text), "receivers",
	    print_json_text(daemon->receivers));
}

static json_t *
json_of_status(const struct status *status, const struct status_daemon *daemon,
    const GPtrArray *problems)
{
	json_t *object = json_of_daemon(daemon);
	json_t *more = json_pack(
	    "{s:o, s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o,"
	    " s:o, s:o, s:o, s:I, s:I, s:I, s:o}",
	    "sources", json_of_sources(status->sources), "coverage", status->coverage,
	    "papers", (json_int_t)status->papers, "subscribers",
	    (json_int_t)status->people[SUBSCRIBER_ACTIVE], "filters",
	    (json_int_t)status->filters, "matches", (json_int_t)status->matches,
	    "waiting", (json_int_t)status->waiting, "next_digest_at",
	    print_json_number(status->next_due), "queue", json_of_queue(status),
	    "limits", json_of_limits(status), "people", json_of_people(status),
	    "oldest", json_of_oldest(status->oldest), "restore",
	    json_of_restore(status), "inbox", json_of_inbox(status), "bounces",
	    json_of_bounces(status), "confirmations", json_of_confirmations(status),
	    "disk_free_bytes", (json_int_t)status->disk_free_bytes, "store_bytes",
	    (json_int_t)status->store_bytes, "wal_bytes", (json_int_t)status->wal_bytes,
	    "problems", table_rows_to_json(problem_columns, problems));

	json_object_set_new(
	    object, "state", json_string(get_state_name(get_exit_status(problems))));
	json_object_set_new(
	    object, "paused_since", print_json_number(status->paused_since));
	json_object_set_new(
	    object, "backup_at", print_json_number(status->restore.last_made_at));
	if (status->instances)
		json_object_set_new(object, "instances", ctl_json_of_instances(status));
	json_object_update(object, more);
	json_decref(more);
	return object;
}

/* ---- text ---- */

static void
print_daemon(const struct status *status, const struct status_daemon *daemon)
{
	g_autofree char *started = day_format_minute(daemon->started_at);
	g_autofree char *collected = day_format_minute(daemon->collected_at);

	if (!daemon->is_running) {
		puts(status_count_live(status) > 0
		         ? "paperboyd    not running on this machine"
		         : "paperboyd    not running: nothing is collected or sent");
		return;
	}
	fputs("paperboyd    running", stdout);
	if (daemon->started_at >= 0)
		printf(" since %s", started);
	/* Of several machines one polls. */
	if (daemon->started_at >= 0 &&
	    (daemon->collected_at >= 0 || !status->instances))
		printf("; last poll of the sources %s",
		    daemon->collected_at < 0 ? "in progress" : collected);
	putchar('\n');
	if (daemon->relay_text)
		printf("relay        %s\n", daemon->relay_text);
}

static void
print_source(const struct source_status_source *source)
{
	g_autofree char *asked = day_format_minute(source->fetched_at);
	g_autofree char *good = day_format_minute(source->good_at);
	g_autofree char *error = source->error ? print_dup_line(source->error) : NULL;

	if (!source->is_on)
		return;
	if (source->fetched_at < 0)
		printf("source %-5s never polled yet\n", source->name);
	else if (error)
		printf("source %-5s FAILED at %s: %s\n"
		       "             last success at %s; retried automatically\n",
		    source->name, asked, error, good);
	else
		printf("source %-5s %s at %s; newest day %s with %" G_GINT64_FORMAT
		       " papers\n",
		    source->name,
		    source->is_late || *source->missing_day ? "LATE: last polled"
		                                            : "ok",
		    asked, source->papers_day ? source->papers_day : "none",
		    source->papers);
	if (source->missed > 0)
		printf("             %" G_GINT64_FORMAT
		       " papers of %s had been missed, as an audit found\n",
		    source->missed, source->audit_day);
}

static void
print_people(const struct status *status)
{
	g_autofree char *due = day_format_minute(status->next_due);

	printf("subscribers  %" G_GINT64_FORMAT " active",
	    status->people[SUBSCRIBER_ACTIVE]);
	for (unsigned i = 0; i < SUBSCRIBER_GONE; i++)
		if (i != SUBSCRIBER_ACTIVE && status->people[i])
			printf(", %" G_GINT64_FORMAT " %s", status->people[i],
			    subscriber_state_name(i));
	printf("; next digest due %s\n", due);
	printf("filters      %" G_GINT64_FORMAT " distinct, %" G_GINT64_FORMAT
	       " matches, %" G_GINT64_FORMAT " waiting for data\n",
	    status->filters, status->matches, status->waiting);
}

static void
print_queue(const struct status *status)
{
	const struct outbox_message *oldest = status->oldest;
	const struct outbox_message *deferred = status->oldest_deferred;

	printf("queue        %" G_GINT64_FORMAT " new, %" G_GINT64_FORMAT
	       " being sent, %" G_GINT64_FORMAT " deferred, %" G_GINT64_FORMAT
	       " in doubt, %" G_GINT64_FORMAT " held\n",
	    status->fresh, status->sending, status->deferred, status->unknown,
	    status->held);
	if (oldest) {
		g_autofree char *since = day_format_minute(oldest->queued_at);
		g_autofree char *next = day_format_minute(oldest->next_try_at);

		printf("             the oldest, message %" G_GINT64_FORMAT
		       ", waits since %s; next attempt %s\n",
		    oldest->id, since, next);
	}
	if (deferred) {
		g_autofree char *reply =
		    print_dup_line(deferred->reply ? deferred->reply : "no reply");

		printf("             message %" G_GINT64_FORMAT " is deferred: %s\n",
		    deferred->id, reply);
	}
	if (status->deferred + status->unknown + status->held)
		puts("             see paperboyctl queue");
	if (status->failed)
		printf("FAILED       %" G_GINT64_FORMAT
		       " in the last two weeks: see paperboyctl queue --all\n",
		    status->failed);
}

static void
print_limits(const struct status *status)
{
	g_autofree char *next = day_format_minute(status->next_in_day);
	int64_t spread_min =
	    status->per_hour ? status->fresh * 60 / status->per_hour : 0;

	if (!status->per_hour && !status->per_day)
		return;
	fputs("limits      ", stdout);
	if (status->per_day)
		printf(" %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
		       " messages in 24 hours%s",
		    status->sent_in_day, status->per_day, status->per_hour ? "," : "");
	if (status->per_hour)
		printf(" %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
		       " messages in an hour",
		    status->sent_in_hour, status->per_hour);
	putchar('\n');
	if (status->next_in_day >= 0)
		printf("             delivery.per_day is reached: mail waits until %s, "
		       "the oldest first\n",
		    next);
	else if (spread_min > 0)
		printf("             delivery.per_hour spreads new messages over "
		       "%" G_GINT64_FORMAT " minutes, the oldest first\n",
		    spread_min);
}

static void
print_inbox(const struct status *status, const struct status_daemon *daemon)
{
	g_autofree char *since = day_format_minute(status->inbox_oldest_at);

	printf("inbox        %" G_GINT64_FORMAT " waiting, %" G_GINT64_FORMAT
	       " quarantined",
	    status->messages, status->quarantined);
	if (status->skipped)
		printf(", %" G_GINT64_FORMAT " skipped", status->skipped);
	if (status->messages)
		printf("; the oldest was received at %s", since);
	if (daemon->receivers)
		printf("; receivers: %s", daemon->receivers);
	putchar('\n');
	for (guint i = 0; i < status->unanswered->len; i++)
		printf("             %s%s\n", (char *)status->unanswered->pdata[i],
		    i ? "" : " (without a reply, in 7 days)");
}

static void
print_bounces(const struct status *status)
{
	g_autofree char *counts = print_format_bounces(&status->bounces);

	printf("bounces      %s in the last 7 days", counts);
	if (status->bounces.last_at >= 0)
		fputs(": see paperboyctl bounce list", stdout);
	putchar('\n');
	for (unsigned i = 0; i < status->bounce_domains->len; i++) {
		const struct bounce_domain *domain = status->bounce_domains->pdata[i];

		printf("             %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
		       " subscribers at %s\n",
		    domain->bounced, domain->subscribers, domain->domain);
	}
	for (unsigned i = 0; i < status->pauses->len; i++) {
		const struct domain_pause *pause = status->pauses->pdata[i];
		g_autofree char *until = day_format_minute(pause->until);

		printf("PAUSED       %s until %s\n", pause->domain, until);
	}
}

static void
print_restore(const struct status *status)
{
	g_autofree char *at = day_format_minute(status->restore.restored_at);
	g_autofree char *made = day_format_minute(status->restore.made_at);
	bool is_stale = status->restore.made_at < 0;

	if (status->restore.restored_at < 0 ||
	    (!status->held_by_restore && !status->restore.people))
		return;
	if (is_stale)
		printf("OLD DATABASE found at %s", at);
	else
		printf("RESTORED     at %s, from the backup of %s", at, made);
	printf(": %" G_GINT64_FORMAT " %s held%s", status->held_by_restore,
	    status->held_by_restore == 1 ? "message is" : "messages are",
	    status->restore.people ? "," : ".\n");
	if (status->restore.people)
		printf("\n             and the next digests of %" G_GINT64_FORMAT
		       " %s will be.\n",
		    status->restore.people,
		    status->restore.people == 1 ? "subscriber" : "subscribers");
	puts(
	    "             They may have been sent already. See paperboyctl queue list\n"
	    "             --state HELD; queue release sends them, queue drop\n"
	    "             --delivered counts them as read, queue drop leaves their\n"
	    "             papers to the next digest.");
}

static void
print_disk(const struct status *status)
{
	g_autofree char *store = g_format_size((guint64)status->store_bytes);
	g_autofree char *log = g_format_size((guint64)status->wal_bytes);
	g_autofree char *room = g_format_size((guint64)MAX(status->disk_free_bytes, 0));
	g_autofree char *backup = day_format_minute(status->restore.last_made_at);

	if (status->instances) {
		printf(
		    "store        on a database server; %s free on the disk\n", room);
		return;
	}
	printf("store        %s, write-ahead log %s; %s free on the disk\n", store, log,
	    room);
	printf("last backup  %s\n", status->restore.last_made_at < 0
	                                ? "never: paperboyctl backup FILE"
	                                : backup);
}

static void
print_status(const struct settings *settings, const struct status *status,
    const struct status_daemon *daemon, const GPtrArray *problems)
{
	print_head(status, problems);
	print_restore(status);
	print_daemon(status, daemon);
	ctl_print_instances(status);
	for (unsigned i = 0; i < status->sources->len; i++)
		print_source(status->sources->pdata[i]);
	if (*status->coverage)
		printf("lists        %s\n", status->coverage);
	printf("papers       %" G_GINT64_FORMAT "\n", status->papers);
	print_people(status);
	print_queue(status);
	print_limits(status);
	print_inbox(status, daemon);
	print_bounces(status);
	printf("confirmations %" G_GINT64_FORMAT
	       " pending; sent in the last hour, of %" G_GINT64_FORMAT
	       " each: by mail %" G_GINT64_FORMAT ", verified %" G_GINT64_FORMAT
	       ", page %" G_GINT64_FORMAT "\n",
	    status->pending, status->request_limit,
	    status->requested_in_hour[RATE_BUDGET_MAIL],
	    status->requested_in_hour[RATE_BUDGET_VERIFIED],
	    status->requested_in_hour[RATE_BUDGET_PAGE]);
	print_disk(status);
	for (unsigned i = 0; i < problems->len; i++) {
		g_autofree char *text = health_finding_format(problems->pdata[i]);

		if (!i)
			putchar('\n');
		print_verdict(i ? "" : "TO DO", 12, false);
		printf(" %s\n", text);
	}
	if (daemon->relay.is_away && settings->mail_alerts)
		puts("             alerts to mail.owner wait, too, since they are sent "
		     "through the relay");
}

bool
ctl_run_status(struct ctl *ctl, GError **error)
{
	pb_local(status_daemon) daemon = {0};
	const struct health_options options = {
	    .settings = ctl->settings,
	    .daemon = &daemon,
	    .config_errors = ctl->config_errors,
	    .now = clock_get_now(&ctl->clock),
	};
	pb_local(status) status = {0};
	bool is_ok;

	ctl_load_daemon(ctl, &daemon);
	is_ok = status_load(ctl->store, ctl->settings, options.now, &status, error);
	if (is_ok) {
		g_autoptr(GPtrArray) problems = health_find_problems(&options, &status);

		if (ctl->is_json)
			print_json(json_of_status(&status, &daemon, problems));
		else
			print_status(ctl->settings, &status, &daemon, problems);
		ctl->status = get_exit_status(problems);
	}
	return is_ok;
}

/* ---- paperboyctl metrics ---- */

bool
ctl_run_metrics(struct ctl *ctl, GError **error)
{
	const struct status_daemon none = STATUS_DAEMON_NONE;
	g_autofree char *text = NULL;

	text = ctl_ask_daemon(ctl, "metrics");
	if (text) {
		puts(text);
		return true;
	}
	text = metrics_format(
	    ctl->store, ctl->settings, &none, NULL, clock_get_now(&ctl->clock), error);
	if (text)
		fputs(text, stdout);
	return text != NULL;
}
