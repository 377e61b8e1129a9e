/*
 * ctl_source.c - the commands on the sources of papers.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "ctl/ctl.h"
#include "ctl/print.h"
#include "service/collect/collect.h"
#include "service/collect/source_status.h"
#include "service/match/match.h"
#include "service/setup/factory.h"

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
	fprintf(stderr, "\r\033[Kasking %s for %s ... ", source, day);
	progress->is_shown = true;
}

/* @return borrowed; NULL with PB_ERROR_NOT_FOUND and the names that there are */
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
		g_set_error(error, PB_ERROR, PB_ERROR_NOT_FOUND,
		    "'%s' is no source that is switched on: %s", name,
		    names->len ? names->str : "there is none");
	g_string_free(names, TRUE);
	return found;
}

/* @param name  of one source, or NULL for all */
static bool
fetch(struct ctl *ctl, const char *name, struct collect_report *report, GError **error)
{
	pb_auto(http) http = factory_new_http(ctl->settings, NULL);
	g_autoptr(GPtrArray) sources = factory_new_sources(ctl->settings);
	struct progress progress = {.since_us = g_get_monotonic_time()};
	struct source *one = name ? find_source(sources, name, error) : NULL;
	struct arxiv_options arxiv;
	const struct collect collect = {
	    .arxiv = factory_get_arxiv(ctl->settings, &arxiv),
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
	is_ok = collect_run(&collect, true, clock_get_now(&ctl->clock), report, error);
	if (progress.is_shown)
		fputs("\r\033[K", stderr);
	return is_ok;
}

static void
print_fetched(
    const struct ctl *ctl, const struct collect_report *report, unsigned matches)
{
	if (ctl->is_json)
		print_json(json_pack("{s:i, s:i, s:i, s:i, s:i}", "answers",
		    (int)report->answers, "failed", (int)report->failed, "fresh",
		    (int)report->fresh, "changed", (int)report->changed, "matches",
		    (int)matches));
	else
		printf("%u new paper%s, %u with news, %u new match%s; "
		       "asked for %u day%s, %u failed\n",
		    report->fresh, report->fresh == 1 ? "" : "s", report->changed,
		    matches, matches == 1 ? "" : "es", report->answers,
		    report->answers == 1 ? "" : "s", report->failed);
}

bool
ctl_run_source_fetch(struct ctl *ctl, int argc, char **argv, GError **error)
{
	struct collect_report report = {0};
	struct match_report matched = {0};

	if (!ctl_parse_some(NULL, 0, 1, &argc, &argv, error) ||
	    !fetch(ctl, argc > 1 ? argv[1] : NULL, &report, error) ||
	    !match_run(ctl->store, clock_get_now(&ctl->clock), &matched, error))
		return false;
	ctl_poke_daemon(ctl);
	print_fetched(ctl, &report, matched.found);
	if (!report.failed)
		return true;
	g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY,
	    "a source failed: paperboyctl source list tells why");
	return false;
}

bool
ctl_run_source_replay(struct ctl *ctl, int argc, char **argv, GError **error)
{
	g_autofree char *path = NULL;
	const GOptionEntry entries[] = {
	    {"from", 0, 0, G_OPTION_ARG_FILENAME, &path, NULL, NULL}, {0}};
	g_autoptr(GPtrArray) sources = factory_new_sources(ctl->settings);
	pb_auto(http) http = factory_new_http(ctl->settings, NULL);
	const struct collect collect = {.store = ctl->store, .http = http};
	struct collect_report report = {0};
	struct match_report matched = {0};
	int64_t now = clock_get_now(&ctl->clock);
	struct source *source;

	if (!ctl_parse(entries, 2, &argc, &argv, error))
		return false;
	source = find_source(sources, argv[1], error);
	if (!source ||
	    !collect_replay(&collect, source, argv[2], path, now, &report, error))
		return false;
	if (!report.answers) {
		g_set_error(error, PB_ERROR, PB_ERROR_NOT_FOUND,
		    "the source %s does not know the day %s", source->name, argv[2]);
		return false;
	}
	if (!match_run(ctl->store, now, &matched, error))
		return false;
	ctl_poke_daemon(ctl);
	print_fetched(ctl, &report, matched.found);
	return true;
}

static json_t *
json_of_source(const struct source_status_source *source)
{
	return json_pack("{s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I,"
	                 " s:b}",
	    "source", source->name, "on", (int)source->is_on, "day",
	    print_json_text(source->day), "status", print_json_text(source->status),
	    "error", print_json_text(source->error), "asked_at",
	    print_json_number(source->fetched_at), "good_at",
	    print_json_number(source->good_at), "etag_at",
	    print_json_number(source->etag_at), "paused_until",
	    print_json_number(source->pause_s > 0 ? source->paused_until : -1),
	    "next_at", print_json_number(source->next_at), "papers_day",
	    print_json_text(source->papers_day), "papers", (json_int_t)source->papers,
	    "late", (int)(source->is_late || *source->missing_day));
}

static void
print_source(const struct ctl *ctl, const struct source_status_source *source)
{
	int64_t now = clock_get_now(&ctl->clock);
	g_autofree char *asked = ctl_format_time(source->fetched_at);
	g_autofree char *good = ctl_format_time(source->good_at);
	g_autofree char *etag = ctl_format_time(source->etag_at);
	g_autofree char *next = ctl_format_time(source->next_at);
	g_autofree char *error = source->error ? print_dup_line(source->error) : NULL;
	bool is_late = source->is_late || *source->missing_day;

	printf("%s\n  state        %s\n", source->name,
	    !source->is_on           ? "off"
	    : error                  ? "on, FAILS"
	    : source->fetched_at < 0 ? "on, never asked"
	    : is_late                ? "on, LATE"
	                             : "on, well");
	if (error)
		printf("  why          %s\n", error);
	printf("  last asked   %s\n  last good    %s\n  last ETag    %s\n", asked, good,
	    etag);
	if (*source->missing_day)
		printf("  missing      the list of %s\n", source->missing_day);
	if (source->papers_day)
		printf("  newest day   %s, with %" G_GINT64_FORMAT " papers\n",
		    source->papers_day, source->papers);
	if (source->is_on && source->pause_s > 0 && source->paused_until > now)
		printf(
		    "  left alone   until %s, for failing; source fetch asks it now\n",
		    next);
	else if (source->is_on)
		printf("  next look    %s%s\n", next,
		    ctl_is_daemon_running(ctl) ? "" : ", when paperboyd runs");
}

bool
ctl_run_source_list(struct ctl *ctl, int argc, char **argv, GError **error)
{
	g_autoptr(GPtrArray) enabled = factory_new_sources(ctl->settings);
	g_autoptr(GPtrArray) sources = NULL;
	json_t *list;

	if (!ctl_parse(NULL, 0, &argc, &argv, error))
		return false;
	sources = source_status_load(ctl->store, enabled,
	    ctl->settings->collect_interval_s, clock_get_now(&ctl->clock), error);
	if (!sources)
		return false;
	list = json_array();
	for (unsigned i = 0; i < sources->len; i++)
		if (ctl->is_json)
			json_array_append_new(list, json_of_source(sources->pdata[i]));
		else
			print_source(ctl, sources->pdata[i]);
	if (!ctl->is_json && !sources->len)
		puts("No source is switched on: see paperboy.conf(5).");
	if (ctl->is_json)
		print_json(list);
	else
		json_decref(list);
	return true;
}
