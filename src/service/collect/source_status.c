/*
 * source_status.c - state of each source.
 */
#include "service/collect/source_status.h"

#include <string.h>

#include "base/clock.h"
#include "service/collect/coverage.h"
#include "service/collect/source_backoff.h"
#include "sources/source.h"
#include "store/paper/papers.h"

/* A source is late without success for this many polls, and at least this time. */
#define LATE_POLLS 3
#define LATE_S     (6 * CLOCK_HOUR_S)

void
source_status_source_free(struct source_status_source *source)
{
	if (!source)
		return;
	g_free(source->name);
	g_free(source->day);
	g_free(source->status);
	g_free(source->error);
	g_free(source->papers_day);
	g_free(source);
}

static struct source_status_source *
new_source(const char *name, bool is_on)
{
	struct source_status_source *source = g_new0(struct source_status_source, 1);

	source->name = g_strdup(name);
	source->is_on = is_on;
	source->fetched_at = source->good_at = source->missing_since = -1;
	return source;
}

static struct source_status_source *
find(const GPtrArray *sources, const char *name)
{
	for (unsigned i = 0; i < sources->len; i++) {
		struct source_status_source *source = sources->pdata[i];

		if (strcmp(source->name, name) == 0)
			return source;
	}
	return NULL;
}

static void
set_report(struct source_status_source *source, const struct source_report *report)
{
	source->day = g_strdup(report->day);
	source->status = g_strdup(report->status);
	source->error = g_strdup(report->error);
	source->papers_day = g_strdup(report->papers_day);
	source->papers = report->papers;
	source->fetched_at = report->fetched_at;
	source->good_at = report->good_at;
}

static bool
load_times(struct store *store, int64_t interval_s, const char *url,
    struct source_status_source *source, int64_t now, GError **error)
{
	int64_t late_s = MAX(LATE_POLLS * interval_s, LATE_S);

	if (!papers_load_etag_time(store, source->name, &source->etag_at, error) ||
	    !source_backoff_load_pause(store, source->name, url, &source->pause_s,
	        &source->paused_until, error))
		return false;
	source->is_late = source->is_on && now - source->good_at > late_s;
	if (!source->is_on)
		source->next_at = -1;
	else if (source->paused_until > now)
		source->next_at = source->paused_until;
	else
		source->next_at = source->fetched_at < 0
		                      ? now
		                      : MAX(now, source->fetched_at + interval_s);
	return true;
}

static void
set_coverage(struct source_status_source *source, const struct coverage *coverage)
{
	for (unsigned i = 0; source && i < coverage->lists->len; i++) {
		const struct coverage_list *list = coverage->lists->pdata[i];

		if (strcmp(list->name, source->name) != 0 || list->expected_at < 0 ||
		    (list->state != COVERAGE_LATE && list->state != COVERAGE_STALE))
			continue;
		g_strlcpy(
		    source->missing_day, list->since_day, sizeof(source->missing_day));
		/* An earlier day was expected by its end. */
		source->missing_since =
		    strcmp(list->since_day, list->day) < 0
		        ? MIN(day_start(list->since_day) + CLOCK_DAY_S,
		              list->expected_at)
		        : list->expected_at;
	}
}

/* Enabled sources come first.  @return NULL for a disabled one */
static const char *
find_url(const GPtrArray *enabled, unsigned i)
{
	return i < enabled->len ? ((const struct source *)enabled->pdata[i])->url
	                        : NULL;
}

GPtrArray *
source_status_load(struct store *store, const GPtrArray *enabled, int64_t interval_s,
    int64_t now, GError **error)
{
	g_autoptr(GPtrArray) reports = papers_load_reports(store, error);
	g_autoptr(GPtrArray) sources =
	    g_ptr_array_new_with_free_func((GDestroyNotify)source_status_source_free);
	pb_auto(coverage) coverage = coverage_load(store, now, error);

	if (!reports || !coverage)
		return NULL;
	for (unsigned i = 0; i < enabled->len; i++) {
		const struct source *source = enabled->pdata[i];

		g_ptr_array_add(sources, new_source(source->name, true));
		set_coverage(sources->pdata[i], coverage);
	}
	for (unsigned i = 0; i < reports->len; i++) {
		const struct source_report *report = reports->pdata[i];
		struct source_status_source *source = find(sources, report->source);

		if (!source) {
			source = new_source(report->source, false);
			g_ptr_array_add(sources, source);
		}
		set_report(source, report);
	}
	for (unsigned i = 0; i < sources->len; i++)
		if (!load_times(store, interval_s, find_url(enabled, i),
		        sources->pdata[i], now, error))
			return NULL;
	return g_steal_pointer(&sources);
}
