/*
 * work.c - the commands on the work that goes on: fetch, queue, status.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "ctl/ctl.h"
#include "ctl/print.h"
#include "service/assembly.h"
#include "service/collect.h"
#include "service/match.h"
#include "store/matches.h"
#include "store/outbox.h"
#include "store/papers.h"
#include "store/people.h"

#define PAGE 500

/* On a terminal, once a second has gone by: one line that says what goes on. */
struct progress {
	int64_t since_us;
	bool is_shown;
};

static void
show_progress(void *data, const char *source, const char *day)
{
	struct progress *progress = data;

	if (!isatty(STDERR_FILENO) ||
	    g_get_monotonic_time() - progress->since_us < G_USEC_PER_SEC)
		return;
	fprintf(stderr, "\rasking %s for %s ... ", source, day);
	progress->is_shown = true;
}

static bool
fetch(struct ctl *ctl, struct collect_report *report, GError **error)
{
	pb_auto(http) http = assembly_new_http(ctl->settings, NULL);
	g_autoptr(GPtrArray) sources = assembly_new_sources(ctl->settings);
	struct progress progress = {.since_us = g_get_monotonic_time()};
	const struct collect collect = {
	    .store = ctl->store,
	    .http = http,
	    .sources = (struct source **)sources->pdata,
	    .source_count = sources->len,
	    .progress = show_progress,
	    .progress_data = &progress,
	};
	bool is_ok =
	    collect_run(&collect, true, clock_get_now(&ctl->clock), report, error);

	if (progress.is_shown)
		fputs("\r\033[K", stderr);
	return is_ok;
}

bool
ctl_run_fetch(struct ctl *ctl, int argc, char **argv, GError **error)
{
	struct collect_report report = {0};
	struct match_report matched = {0};

	if (!ctl_parse(NULL, 0, &argc, &argv, error) || !fetch(ctl, &report, error) ||
	    !match_run(ctl->store, clock_get_now(&ctl->clock), &matched, error))
		return false;
	ctl_poke_daemon(ctl);
	if (ctl->is_json)
		print_json(json_pack("{s:i, s:i, s:i, s:i, s:i}", "answers",
		    (int)report.answers, "failed", (int)report.failed, "fresh",
		    (int)report.fresh, "changed", (int)report.changed, "matches",
		    (int)matched.found));
	else
		printf("%u new papers, %u with news, %u new matches; "
		       "asked for %u days, %u failed\n",
		    report.fresh, report.changed, matched.found, report.answers,
		    report.failed);
	if (!report.failed)
		return true;
	g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY,
	    "a source failed: paperboyctl status tells why");
	return false;
}

static json_t *
json_of_row(const struct outbox_row *row)
{
	return json_pack("{s:I, s:I, s:s, s:s, s:i, s:I, s:o, s:o, s:o, s:o}", "id",
	    (json_int_t)row->id, "digest", (json_int_t)row->digest_id, "recipient",
	    row->recipient, "state", row->state, "attempts", (int)row->attempt,
	    "queued_at", (json_int_t)row->queued_at, "next_try_at",
	    print_json_number(row->next_try_at), "ended_at",
	    print_json_number(row->ended_at), "code", print_json_number(row->code),
	    "reply", print_json_text(row->reply));
}

static char **
table_row(const struct outbox_row *row)
{
	g_autofree char *id = g_strdup_printf("%" G_GINT64_FORMAT, row->id);
	g_autofree char *digest = g_strdup_printf("%" G_GINT64_FORMAT, row->digest_id);
	g_autofree char *attempts = g_strdup_printf("%u", row->attempt);
	g_autofree char *next =
	    ctl_format_time(row->ended_at >= 0 ? row->ended_at : row->next_try_at);

	return print_row(id, digest, row->state, attempts, next, row->recipient,
	    row->reply ? row->reply : "-", NULL);
}

bool
ctl_run_queue(struct ctl *ctl, int argc, char **argv, GError **error)
{
	gboolean is_all = FALSE;
	const GOptionEntry entries[] = {
	    {"all", 0, 0, G_OPTION_ARG_NONE, &is_all, NULL, NULL}, {0}};
	g_autoptr(GPtrArray) table =
	    g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
	json_t *list;
	int64_t after = 0;

	if (!ctl_parse(entries, 0, &argc, &argv, error))
		return false;
	list = json_array();
	g_ptr_array_add(table, print_row("ID", "DIGEST", "STATE", "TRIES",
	                           is_all ? "NEXT TRY OR END" : "NEXT TRY", "RECIPIENT",
	                           "LAST ANSWER", NULL));
	for (;;) {
		g_autoptr(GPtrArray) rows =
		    outbox_load_rows(ctl->store, is_all, after, PAGE, error);

		if (!rows) {
			json_decref(list);
			return false;
		}
		if (!rows->len)
			break;
		for (unsigned i = 0; i < rows->len; i++) {
			const struct outbox_row *row = rows->pdata[i];

			after = row->id;
			if (ctl->is_json)
				json_array_append_new(list, json_of_row(row));
			else
				g_ptr_array_add(table, table_row(row));
		}
	}
	if (ctl->is_json)
		print_json(list);
	else
		json_decref(list);
	if (!ctl->is_json && table->len > 1)
		print_table(table);
	else if (!ctl->is_json)
		puts("The queue is empty.");
	return true;
}

/* Counts that status shows: what, and where it comes from. */
struct counts {
	int64_t papers, filters, matches, waiting, active, next_due;
	int64_t fresh, sending, deferred, unknown, held, failed;
};

static bool
load_counts(struct store *store, struct counts *counts, GError **error)
{
	return papers_count(store, &counts->papers, error) &&
	       people_count_filters(store, &counts->filters, error) &&
	       matches_count(store, true, &counts->matches, error) &&
	       matches_count(store, false, &counts->waiting, error) &&
	       people_count(store, SUBSCRIBER_ACTIVE, &counts->active, error) &&
	       people_load_next_due(store, &counts->next_due, error) &&
	       outbox_count(store, "NEW", &counts->fresh, error) &&
	       outbox_count(store, "SENDING", &counts->sending, error) &&
	       outbox_count(store, "DEFERRED", &counts->deferred, error) &&
	       outbox_count(store, "UNKNOWN", &counts->unknown, error) &&
	       outbox_count(store, "HELD", &counts->held, error) &&
	       outbox_count_failed(store, &counts->failed, error);
}

static json_t *
json_of_status(bool is_running, const struct counts *counts, const GPtrArray *reports)
{
	json_t *sources = json_array();

	for (unsigned i = 0; i < reports->len; i++) {
		const struct source_report *report = reports->pdata[i];

		json_array_append_new(sources,
		    json_pack("{s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:I}", "source",
		        report->source, "day", report->day, "status", report->status,
		        "asked_at", (json_int_t)report->asked_at, "good_at",
		        print_json_number(report->good_at), "error",
		        print_json_text(report->error), "papers_day",
		        print_json_text(report->papers_day), "papers",
		        (json_int_t)report->papers));
	}
	return json_pack("{s:b, s:o, s:I, s:I, s:I, s:I, s:I, s:o,"
	                 " s:{s:I, s:I, s:I, s:I, s:I, s:I}}",
	    "running", (int)is_running, "sources", sources, "papers",
	    (json_int_t)counts->papers, "subscribers", (json_int_t)counts->active,
	    "filters", (json_int_t)counts->filters, "matches",
	    (json_int_t)counts->matches, "waiting", (json_int_t)counts->waiting,
	    "next_digest_at", print_json_number(counts->next_due), "queue", "new",
	    (json_int_t)counts->fresh, "sending", (json_int_t)counts->sending,
	    "deferred", (json_int_t)counts->deferred, "unknown",
	    (json_int_t)counts->unknown, "held", (json_int_t)counts->held, "failed",
	    (json_int_t)counts->failed);
}

static void
print_sources(const GPtrArray *reports)
{
	if (!reports->len)
		puts("sources      none has been asked yet: start "
		     "paperboyd, or paperboyctl "
		     "fetch");
	for (unsigned i = 0; i < reports->len; i++) {
		const struct source_report *report = reports->pdata[i];
		g_autofree char *asked = ctl_format_time(report->asked_at);
		g_autofree char *good = ctl_format_time(report->good_at);

		if (report->error)
			printf("source %-5s FAILED at %s: %s\n       "
			       "      last good answer "
			       "at %s; it is asked again by itself\n",
			    report->source, asked, report->error, good);
		else
			printf(
			    "source %-5s ok at %s; newest day %s with %" G_GINT64_FORMAT
			    " papers\n",
			    report->source, asked,
			    report->papers_day ? report->papers_day : "none",
			    report->papers);
	}
}

static void
print_status(bool is_running, const struct counts *counts, const GPtrArray *reports)
{
	g_autofree char *due = ctl_format_time(counts->next_due);

	puts(is_running ? "paperboyd    running"
	                : "paperboyd    not running: nothing is collected or sent");
	print_sources(reports);
	printf("papers       %" G_GINT64_FORMAT "\n", counts->papers);
	printf("subscribers  %" G_GINT64_FORMAT " active; next digest due %s\n",
	    counts->active, due);
	printf("filters      %" G_GINT64_FORMAT " distinct, %" G_GINT64_FORMAT
	       " matches, %" G_GINT64_FORMAT " waiting for news\n",
	    counts->filters, counts->matches, counts->waiting);
	printf("queue        %" G_GINT64_FORMAT " new, %" G_GINT64_FORMAT
	       " being sent, %" G_GINT64_FORMAT " deferred, %" G_GINT64_FORMAT
	       " in doubt, %" G_GINT64_FORMAT " held\n",
	    counts->fresh, counts->sending, counts->deferred, counts->unknown,
	    counts->held);
	if (counts->deferred + counts->unknown + counts->held)
		puts("             paperboyctl queue tells why");
	if (counts->failed)
		printf("FAILED       %" G_GINT64_FORMAT
		       " in the last two weeks: paperboyctl queue --all tells why\n",
		    counts->failed);
}

bool
ctl_run_status(struct ctl *ctl, int argc, char **argv, GError **error)
{
	struct counts counts;
	g_autoptr(GPtrArray) reports = NULL;
	bool is_running = ctl_is_daemon_running(ctl);

	if (!ctl_parse(NULL, 0, &argc, &argv, error) ||
	    !load_counts(ctl->store, &counts, error))
		return false;
	reports = papers_load_reports(ctl->store, error);
	if (!reports)
		return false;
	if (ctl->is_json)
		print_json(json_of_status(is_running, &counts, reports));
	else
		print_status(is_running, &counts, reports);
	return true;
}
