/*
 * ctl_source.c - the commands source fetch, replay, try and list.
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/error.h"
#include "ctl/ctl.h"
#include "ctl/print.h"
#include "ctl/table.h"
#include "service/collect/collect.h"
#include "service/collect/source_status.h"
#include "service/match/match.h"
#include "service/setup/factory.h"
#include "service/state/lease.h"
#include "store/paper/source_lists.h"

/* ---- jobs on a store that other machines use ---- */

/* Become an instance. @param lease  set; NULL if no other machine uses the store */
static bool
begin_lease(struct ctl *ctl, struct lease **lease, GError **error)
{
	/* paperboyd of this state directory goes on. */
	g_autofree char *name = g_strdup_printf(
	    "%s (paperboyctl %d)", ctl->settings->state_dir, (int)getpid());

	if (!store_is_shared(ctl->store))
		return true;
	*lease = lease_new(ctl->store, name, clock_get_now(&ctl->clock), error);
	return *lease != NULL;
}

static void
end_lease(struct ctl *ctl, struct lease *lease)
{
	jobs_set(ctl->store, JOB_NONE);
	if (lease)
		lease_end(lease, ctl->store, NULL);
	lease_free(lease);
}

static bool
take_job(struct ctl *ctl, struct lease *lease, enum job job, GError **error)
{
	bool is_held;

	if (!lease_take_job(
	        lease, ctl->store, job, clock_get_now(&ctl->clock), &is_held, error))
		return false;
	return is_held || pb_fail(error, PB_ERROR_TEMPORARY,
	                      "a paperboyd does this now (the job %s, see paperboyctl "
	                      "status): stop "
	                      "it, or let it work",
	                      jobs_get_name(job));
}

/* ---- fetch, replay ---- */

struct progress {
	struct ctl *ctl;
	struct lease *lease; /* or NULL */
};

static void
show_progress(void *data, const char *source, const char *day)
{
	struct progress *progress = data;
	struct ctl *ctl = progress->ctl;

	/* Without it the next transaction fails. */
	if (progress->lease)
		lease_renew(
		    progress->lease, ctl->store, clock_get_now(&ctl->clock), NULL);
	print_progress("polling %s for %s ... ", source, day);
}

/* @return borrowed; NULL with PB_ERROR_NOT_FOUND and the names of all sources */
static struct source *
find_source(const GPtrArray *sources, const char *name, GError **error)
{
	GString *names = g_string_new(NULL);
	struct source *found = NULL;

	for (unsigned i = 0; i < sources->len; i++) {
		struct source *source = sources->pdata[i];

		if (strcmp(source->name, name) == 0)
			found = source;
		g_string_append_printf(names, "%s%s", i ? ", " : "", source->name);
	}
	if (!found)
		pb_fail(error, PB_ERROR_NOT_FOUND,
		    "no enabled source '%s' (enabled: %s)", name,
		    names->len ? names->str : "none");
	g_string_free(names, TRUE);
	return found;
}

static bool
fetch(
    struct ctl *ctl, struct lease *lease, struct collect_report *report, GError **error)
{
	const char *name = ctl->argc > 1 ? ctl->argv[1] : NULL;
	pb_auto(http) http = factory_new_http(ctl->settings, NULL);
	g_autoptr(GPtrArray) sources = factory_new_sources(ctl->settings);
	struct progress progress = {ctl, lease};
	struct source *one = name ? find_source(sources, name, error) : NULL;
	struct collect collect = {
	    .store = ctl->store,
	    .http = http,
	    .wait_s = ctl->settings->collect_wait_min * 60,
	    .sources = one ? &one : (struct source **)sources->pdata,
	    .source_count = one ? 1 : sources->len,
	    .is_part = one && sources->len > 1,
	    .progress = show_progress,
	    .progress_data = &progress,
	};
	bool is_ok;

	if (name && !one)
		return false;
	factory_get_lookups(ctl->settings, collect.lookups);
	is_ok = collect_run(&collect, true, clock_get_now(&ctl->clock), report, error);
	print_progress_end();
	return is_ok;
}

static void
print_fetched(
    const struct ctl *ctl, const struct collect_report *report, unsigned matches)
{
	print_result(ctl,
	    json_pack("{s:i, s:i, s:i, s:i, s:i}", "fetched", (int)report->answers,
	        "failed", (int)report->failed, "new", (int)report->fresh, "changed",
	        (int)report->changed, "matches", (int)matches),
	    "%u new paper%s, %u updated, %u new match%s; %u day%s fetched, %u failed\n",
	    report->fresh, report->fresh == 1 ? "" : "s", report->changed, matches,
	    matches == 1 ? "" : "es", report->answers, report->answers == 1 ? "" : "s",
	    report->failed);
}

/* Collect papers and match them, as jobs that no other machine does meanwhile. */
static bool
collect_and_match(struct ctl *ctl,
    bool (*collect)(struct ctl *ctl, struct lease *lease, struct collect_report *report,
        GError **error),
    struct collect_report *report, GError **error)
{
	struct match_report matched = {0};
	struct lease *lease = NULL;
	bool is_ok;

	if (!begin_lease(ctl, &lease, error))
		return false;
	is_ok = take_job(ctl, lease, JOB_COLLECTOR, error) &&
	        collect(ctl, lease, report, error) &&
	        take_job(ctl, lease, JOB_MATCHING, error) &&
	        match_run(ctl->store, clock_get_now(&ctl->clock), &matched, error);
	end_lease(ctl, lease);
	if (!is_ok)
		return false;
	ctl_wake_daemon(ctl);
	print_fetched(ctl, report, matched.found);
	return true;
}

bool
ctl_run_source_fetch(struct ctl *ctl, GError **error)
{
	struct collect_report report = {0};

	if (!collect_and_match(ctl, fetch, &report, error))
		return false;
	return !report.failed || pb_fail(error, PB_ERROR_TEMPORARY,
	                             "a source failed: see paperboyctl source list");
}

static bool
replay(
    struct ctl *ctl, struct lease *lease, struct collect_report *report, GError **error)
{
	g_autoptr(GPtrArray) sources = factory_new_sources(ctl->settings);
	pb_auto(http) http = factory_new_http(ctl->settings, NULL);
	const struct collect collect = {.store = ctl->store, .http = http};
	struct source *source = find_source(sources, ctl->argv[1], error);

	(void)lease;
	if (!source ||
	    !collect_replay(&collect, source, ctl->argv[2], ctl->options.from_path,
	        clock_get_now(&ctl->clock), report, error))
		return false;
	return report->answers ||
	       pb_fail(error, PB_ERROR_NOT_FOUND, "source %s has no day %s",
	           source->name, ctl->argv[2]);
}

bool
ctl_run_source_replay(struct ctl *ctl, GError **error)
{
	struct collect_report report = {0};

	return collect_and_match(ctl, replay, &report, error);
}

/* ---- try ---- */

/* Maximum number of papers that are shown. */
#define TRIED_PAPERS 10

struct trial {
	json_t *papers; /* the first ones */
	unsigned count, no_abstract, no_categories, no_authors;
};

/* Make settings with one source, that of the arguments. */
static struct settings *
make_trial(const struct ctl *ctl, GError **error)
{
	pb_auto(settings) settings = settings_new();
	struct settings_source *source = settings->sources->pdata[0];
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
	const char *kind = ctl->argv[1];

	/* Its name is "hf". */
	if (strcmp(kind, "huggingface") != 0)
		settings_set_option(source, "name", kind);
	settings_set_option(source, "kind", kind);
	for (char **at = ctl->argv + 2; *at; at++) {
		g_auto(GStrv) pair = g_strsplit(*at, "=", 2);

		if (!**pair || !pair[1] || !*pair[1]) {
			pb_fail(error, PB_ERROR_INPUT, "expected NAME=VALUE, not '%s'",
			    *at);
			return NULL;
		}
		if (strcmp(*pair, "categories") == 0)
			g_strdelimit(pair[1], ",", '\n');
		settings_set_option(source, *pair, pair[1]);
	}
	/* A contact is in the requests. */
	g_free(settings->mail_owner);
	g_free(settings->collect_contact);
	settings->mail_owner = g_strdup(ctl->settings->mail_owner);
	settings->collect_contact = g_strdup(ctl->settings->collect_contact);
	factory_check_sources(settings, problems);
	if (!problems->len)
		return g_steal_pointer(&settings);
	pb_fail(error, PB_ERROR_INPUT, "%s", (char *)problems->pdata[0]);
	return NULL;
}

static void
add_listings(struct trial *trial, const GPtrArray *listings)
{
	for (unsigned i = 0; listings && i < listings->len; i++) {
		const struct paper *paper =
		    ((struct listing *)listings->pdata[i])->paper;

		trial->no_abstract += !*paper->abstract;
		trial->no_categories += !paper->categories || !paper->categories->len;
		trial->no_authors += !paper->authors->len;
		if (trial->count++ < TRIED_PAPERS)
			json_array_append_new(trial->papers,
			    json_pack("{s:o, s:o}", "id", print_json_text(paper->id),
			        "title", print_json_text(paper->title)));
	}
}

static bool
try_source(struct ctl *ctl, struct source *source, struct http *http,
    struct trial *trial, GError **error)
{
	int64_t now = clock_get_now(&ctl->clock);
	const char *asked = ctl->options.day;
	pb_local(source_answer) answer = {0};
	char day[DAY_BYTES];
	bool is_ok;

	/* Today's list of a service with days is seldom complete. */
	day_format(source->poll ? now : now - CLOCK_DAY_S, day);
	source_answer_init(&answer);
	print_progress("fetching %s ... ", source->name);
	is_ok = asked ? source_fetch_day(source, http, asked, NULL, &answer, error)
	              : source_fetch_current(source, http, day, &answer, error);
	print_progress_end();
	if (is_ok)
		add_listings(trial, answer.listings);
	return is_ok;
}

static void
print_trial(const struct ctl *ctl, struct trial *trial, const char *group)
{
	for (size_t i = 0; !ctl->is_json && i < json_array_size(trial->papers); i++) {
		const json_t *paper = json_array_get(trial->papers, i);

		printf("%s  %s\n", json_string_value(json_object_get(paper, "id")),
		    json_string_value(json_object_get(paper, "title")));
	}
	print_result(ctl,
	    json_pack("{s:o, s:i, s:i, s:i, s:i, s:s}", "papers", trial->papers,
	        "count", (int)trial->count, "without_abstract", (int)trial->no_abstract,
	        "without_categories", (int)trial->no_categories, "without_authors",
	        (int)trial->no_authors, "group", group),
	    "%u papers; without abstract: %u, categories: %u, authors: %u\n"
	    "To collect them, add this group to the list sources of "
	    "paperboy.conf:\n%s\n",
	    trial->count, trial->no_abstract, trial->no_categories, trial->no_authors,
	    group);
}

bool
ctl_run_source_try(struct ctl *ctl, GError **error)
{
	pb_auto(settings) settings = make_trial(ctl, error);
	g_autoptr(GPtrArray) sources = settings ? factory_new_sources(settings) : NULL;
	pb_auto(http) http = settings ? factory_new_http(settings, NULL) : NULL;
	struct trial trial = {.papers = json_array()};
	g_autofree char *group = NULL;
	bool is_ok = settings != NULL;

	for (unsigned i = 0; is_ok && i < sources->len; i++)
		is_ok = try_source(ctl, sources->pdata[i], http, &trial, error);
	if (!is_ok) {
		json_decref(trial.papers);
		return false;
	}
	group = settings_format_source(settings->sources->pdata[0]);
	print_trial(ctl, &trial, group);
	return true;
}

/* ---- rename ---- */

struct renaming {
	const char *from, *to;
	unsigned filters; /* set */
};

static bool
rename_source(struct store *store, void *data, GError **error)
{
	struct renaming *renaming = data;

	return source_lists_rename(
	    store, renaming->from, renaming->to, &renaming->filters, error);
}

bool
ctl_run_source_rename(struct ctl *ctl, GError **error)
{
	struct renaming renaming = {ctl->argv[1], ctl->argv[2], 0};
	bool is_configured = false;

	for (unsigned i = 0; i < ctl->settings->sources->len; i++)
		is_configured |= strcmp(settings_get_option(
		                            ctl->settings->sources->pdata[i], "name"),
		                     renaming.to) == 0;
	if (!is_configured)
		return pb_fail(error, PB_ERROR_INPUT,
		    "no source '%s' in %s: change its name there first", renaming.to,
		    "paperboy.conf");
	if (!store_transact(ctl->store, rename_source, &renaming, error))
		return false;
	print_result(ctl, json_pack("{s:i}", "filters", (int)renaming.filters),
	    "%s is now %s; %u filters changed\n", renaming.from, renaming.to,
	    renaming.filters);
	return true;
}

/* ---- list ---- */

static bool
is_late(const struct source_status_source *source)
{
	return source->is_late || *source->missing_day;
}

static char *
format_state(const void *data)
{
	const struct source_status_source *source = data;

	return g_strdup(!source->is_on           ? "off"
	                : source->error          ? "on, FAILING"
	                : source->fetched_at < 0 ? "on, not polled yet"
	                : is_late(source)        ? "on, LATE"
	                                         : "on, ok");
}

static char *
format_missing(const void *data)
{
	const struct source_status_source *source = data;

	return *source->missing_day
	           ? g_strdup_printf("the list of %s", source->missing_day)
	           : NULL;
}

static char *
format_newest(const void *data)
{
	const struct source_status_source *source = data;

	return source->papers_day
	           ? g_strdup_printf("%s, with %" G_GINT64_FORMAT " papers",
	                 source->papers_day, source->papers)
	           : NULL;
}

static char *
format_audit(const void *data)
{
	const struct source_status_source *source = data;

	return *source->audit_day
	           ? g_strdup_printf("%s, %" G_GINT64_FORMAT " papers had been missed",
	                 source->audit_day, source->missed)
	           : NULL;
}

static json_t *
pack_paused_until(const void *data)
{
	const struct source_status_source *source = data;

	return print_json_number(source->pause_s > 0 ? source->paused_until : -1);
}

static json_t *
pack_late(const void *data)
{
	return json_boolean(is_late(data));
}

static const struct table_column source_columns[] = {
    TABLE_COLUMN_STRING("state", NULL, format_state),
    TABLE_COLUMN("error", "error", TABLE_TEXT, source_status_source, error),
    TABLE_COLUMN(
        "last fetch", "fetched_at", TABLE_TIME, source_status_source, fetched_at),
    TABLE_COLUMN("last good", "good_at", TABLE_TIME, source_status_source, good_at),
    TABLE_COLUMN("last ETag", "etag_at", TABLE_TIME, source_status_source, etag_at),
    TABLE_COLUMN_STRING("missing", NULL, format_missing),
    TABLE_COLUMN_STRING("newest day", NULL, format_newest),
    TABLE_COLUMN_STRING("last audit", NULL, format_audit),
    TABLE_COLUMN(NULL, "source", TABLE_TEXT, source_status_source, name),
    TABLE_COLUMN(NULL, "on", TABLE_BOOL, source_status_source, is_on),
    TABLE_COLUMN(NULL, "day", TABLE_TEXT, source_status_source, day),
    TABLE_COLUMN(NULL, "status", TABLE_TEXT, source_status_source, status),
    TABLE_COLUMN_JSON("paused_until", pack_paused_until),
    TABLE_COLUMN(NULL, "next_at", TABLE_TIME, source_status_source, next_at),
    TABLE_COLUMN(NULL, "papers_day", TABLE_TEXT, source_status_source, papers_day),
    TABLE_COLUMN(NULL, "papers", TABLE_INT64, source_status_source, papers),
    TABLE_COLUMN(NULL, "missed", TABLE_INT64, source_status_source, missed),
    TABLE_COLUMN_JSON("late", pack_late),
    {0},
};

static void
print_source(const struct ctl *ctl, const struct source_status_source *source)
{
	g_autofree char *next = day_format_minute(source->next_at);

	puts(source->name);
	table_print_record(source_columns, source, "  ");
	if (!source->is_on)
		return;
	if (source->pause_s > 0 && source->paused_until > clock_get_now(&ctl->clock))
		printf("  paused       until %s after failures; source fetch polls it "
		       "now\n",
		    next);
	else
		printf("  next fetch   %s%s\n", next,
		    ctl_is_daemon_running(ctl) ? "" : ", if paperboyd runs");
}

/* Report the errors of sources, which count as removed. */
static void
report_problems(struct ctl *ctl, const GPtrArray *problems)
{
	for (unsigned i = 0; i < problems->len; i++)
		fprintf(stderr, "paperboyctl: %s\n", (char *)problems->pdata[i]);
	if (!problems->len)
		return;
	fputs("paperboyctl: paperboyd neither starts with this configuration nor "
	      "reloads it: change that line (paperboy.conf(5), SOURCES), then run "
	      "paperboyd --check\n",
	    stderr);
	ctl->status = EX_CONFIG;
}

bool
ctl_run_source_list(struct ctl *ctl, GError **error)
{
	g_autoptr(GPtrArray) enabled = factory_new_sources(ctl->settings);
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) sources = NULL;

	sources = source_status_load(ctl->store, enabled,
	    ctl->settings->collect_interval_s, clock_get_now(&ctl->clock), error);
	if (!sources)
		return false;
	factory_check_sources(ctl->settings, problems);
	report_problems(ctl, problems);
	if (ctl->is_json) {
		print_json(table_rows_to_json(source_columns, sources));
		return true;
	}
	for (unsigned i = 0; i < sources->len; i++)
		print_source(ctl, sources->pdata[i]);
	if (!sources->len && !problems->len)
		puts("No sources are enabled: see paperboy.conf(5).");
	return true;
}
