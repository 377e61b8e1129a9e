/*
 * source_status.c - state of each source.
 */
#include "service/collect/source_status.h"

#include <string.h>

#include "base/clock.h"
#include "base/fnv1a.h"
#include "service/collect/coverage.h"
#include "service/log/event.h"
#include "sources/source.h"
#include "store/paper/papers.h"

/* Number of intervals between polls without success after which a source is late. */
#define LATE_POLLS 3

/* Minimum time without success after which a source is late, s. */
#define LATE_S (6 * CLOCK_HOUR_S)

static void
source_status_source_free(struct source_status_source *source)
{
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
	int64_t late_s = MAX(LATE_POLLS * interval_s, LATE_S), audit_at;

	if (!papers_load_etag_time(store, source->name, &source->etag_at, error) ||
	    !source_backoff_load_pause(store, source->name, url, &source->pause_s,
	        &source->paused_until, error) ||
	    !source_backoff_load(
	        store, source->name, SOURCE_BACKOFF_AUDIT_DAY, &audit_at, error) ||
	    !source_backoff_load(
	        store, source->name, SOURCE_BACKOFF_MISSED, &source->missed, error))
		return false;
	if (audit_at >= 0)
		day_format(audit_at, source->audit_day);
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
		/* The list of an earlier day counts as expected by the end of
		 * that day, UTC. */
		source->missing_since =
		    strcmp(list->since_day, list->day) < 0
		        ? MIN(day_start(list->since_day) + CLOCK_DAY_S,
		              list->expected_at)
		        : list->expected_at;
	}
}

/* Get source i of the list, which begins with the enabled ones. @return one without
 * URL for a disabled one */
static const struct source *
get_enabled(const GPtrArray *enabled, unsigned i)
{
	static const struct source disabled;

	return i < enabled->len ? enabled->pdata[i] : &disabled;
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
	for (unsigned i = 0; i < sources->len; i++) {
		const struct source *source = get_enabled(enabled, i);

		if (!load_times(store, MAX(interval_s, source->interval_s), source->url,
		        sources->pdata[i], now, error))
			return NULL;
	}
	return g_steal_pointer(&sources);
}

/* ---- pauses ---- */

/* Time without requests after the first failure of a source, s; it doubles. */
#define PAUSE_FIRST_S 60

/* Maximum time without requests after a failure, s, unless the source asks for more. */
#define PAUSE_MAX_S 3600

/* Keys of the numbers of a pause, after the name of the source: its length, s; its end,
 * s; and the hash of the address that failed. */
#define PAUSE        "pause"
#define PAUSED_UNTIL "paused until"
#define PAUSED_URL   "paused url"

static char *
format_name(const char *source, const char *key)
{
	return g_strdup_printf("%s %s", source, key);
}

bool
source_backoff_load(struct store *store, const char *source, const char *key,
    int64_t *value, GError **error)
{
	g_autofree char *name = format_name(source, key);

	/* One of them is a hash. */
	return store_load_int64(store, name, -1, value, error);
}

bool
source_backoff_save(struct store *store, const char *source, const char *key,
    int64_t value, GError **error)
{
	g_autofree char *name = format_name(source, key);

	return store_save_cursor(store, name, value, error);
}

static int64_t
hash_url(const char *url)
{
	g_autoptr(GBytes) bytes = g_bytes_new(url, url ? strlen(url) : 0);

	return fnv1a_hash_bytes(bytes);
}

bool
source_backoff_is_moved(struct store *store, const char *source, const char *url,
    bool *is_moved, GError **error)
{
	int64_t pause_s, paused_url;

	if (!source_backoff_load(store, source, PAUSE, &pause_s, error) ||
	    !source_backoff_load(store, source, PAUSED_URL, &paused_url, error))
		return false;
	*is_moved = pause_s > 0 && paused_url != hash_url(url);
	return true;
}

bool
source_backoff_load_pause(struct store *store, const char *source, const char *url,
    int64_t *pause_s, int64_t *until, GError **error)
{
	bool is_moved;

	if (!source_backoff_is_moved(store, source, url, &is_moved, error))
		return false;
	if (is_moved) {
		*pause_s = *until = -1;
		return true;
	}
	return source_backoff_load(store, source, PAUSE, pause_s, error) &&
	       source_backoff_load(store, source, PAUSED_UNTIL, until, error);
}

bool
source_backoff_find_pause(struct store *store, const char *source, const char *url,
    int64_t now, int64_t *until, GError **error)
{
	int64_t pause_s, paused_until;

	if (!source_backoff_load_pause(
	        store, source, url, &pause_s, &paused_until, error))
		return false;
	/* A pause has a maximum length, even if the clock was wrong when it began. */
	*until =
	    paused_until > now && paused_until <= now + CLOCK_DAY_S ? paused_until : -1;
	return true;
}

/* A pause being saved. */
struct pause {
	const char *source, *url;
	int64_t retry_after_s;
	int64_t now;
	int64_t wait_s; /* set */
};

static bool
save_pause(struct store *store, void *data, GError **error)
{
	struct pause *pause = data;
	const char *source = pause->source;
	int64_t last_s, until, pause_s;

	if (!source_backoff_load_pause(
	        store, source, pause->url, &last_s, &until, error))
		return false;
	pause_s = last_s > 0 ? MIN(last_s * 2, PAUSE_MAX_S) : PAUSE_FIRST_S;
	pause->wait_s = MAX(pause_s, pause->retry_after_s);
	return source_backoff_save(store, source, PAUSE, pause_s, error) &&
	       source_backoff_save(
	           store, source, PAUSED_UNTIL, pause->now + pause->wait_s, error) &&
	       source_backoff_save(
	           store, source, PAUSED_URL, hash_url(pause->url), error);
}

bool
source_backoff_save_pause(struct store *store, const char *source, const char *url,
    int64_t retry_after_s, int64_t now, GError **error)
{
	struct pause pause = {source, url, retry_after_s, now, 0};

	if (!store_transact(store, save_pause, &pause, error))
		return false;
	event_log(EVENT_SOURCE_PAUSED, EVENT_WORD("source", source),
	    EVENT_SECONDS("next_in", pause.wait_s));
	return true;
}

static bool
clear_pause(struct store *store, void *data, GError **error)
{
	return source_backoff_save(store, data, PAUSE, 0, error) &&
	       source_backoff_save(store, data, PAUSED_UNTIL, 0, error);
}

bool
source_backoff_clear_pause(struct store *store, const char *source, GError **error)
{
	int64_t last_s;

	if (!source_backoff_load(store, source, PAUSE, &last_s, error))
		return false;
	if (last_s <= 0)
		return true;
	if (!store_transact(store, clear_pause, (void *)source, error))
		return false;
	event_log(EVENT_SOURCE_RECOVERED, EVENT_WORD("source", source));
	return true;
}
