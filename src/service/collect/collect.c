/*
 * collect.c - fetches the lists of the sources and stores them.
 */
#include "service/collect/collect.h"

#include <string.h>

#include "base/clock.h"
#include "base/day.h"
#include "base/error.h"
#include "base/fnv1a.h"
#include "service/collect/enrich.h"
#include "service/collect/source_status.h"
#include "service/log/event.h"
#include "store/admin/backup.h"
#include "store/paper/papers.h"
#include "store/paper/source_lists.h"

/*
 * Lists stay open: 40 % of a day's papers come after the morning, votes change hourly,
 * code links and organisations are added days later.
 */
#define RECENT_DAYS 3  /* days before today that are fetched at every poll */
#define OLDEST_DAYS 14 /* days before today that are fetched once a day */

/* Length of the pause of a source, s, from which on its fallback is polled: it has
 * failed for about an hour. */
#define FALLBACK_PAUSE_S (30 * 60)

/* Maximum number of duplicates that are merged after a poll. */
#define DUPLICATES_MAX 100

static enum source_fetch_status
get_fetch_status(enum source_status status)
{
	switch (status) {
	case SOURCE_OK:
		return SOURCE_FETCH_OK;
	case SOURCE_NOT_MODIFIED:
		return SOURCE_FETCH_SAME;
	case SOURCE_EMPTY:
		return SOURCE_FETCH_EMPTY;
	case SOURCE_NOT_YET:
		return SOURCE_FETCH_NOT_YET;
	}
	return SOURCE_FETCH_OK;
}

/*
 * Whether a list repeats an earlier day under a new date.  Dated lists are repeated
 * unchanged; lists fetched by day may have grown.
 */
static bool
find_stale(const struct collect *collect, const struct source *source,
    const struct source_answer *answer, bool *is_stale, GError **error)
{
	*is_stale = false;
	if (answer->status != SOURCE_OK || source->kind == SOURCE_ROLLING)
		return true;
	if (source->kind == SOURCE_BY_DAY)
		return papers_is_copied(collect->store, source->name, answer->day,
		    answer->listings, is_stale, error);
	return papers_has_ids(collect->store, source->name, answer->ids_sha256,
	    answer->day, is_stale, error);
}

/*
 * An empty list of a day that had papers is an error of the source.
 *
 * @param fetch_error  set in that case
 */
static bool
check_empty(const struct collect *collect, const struct source *source,
    const struct source_answer *answer, GError **fetch_error, GError **error)
{
	struct source_list_day found;

	if (answer->status != SOURCE_EMPTY || source->kind == SOURCE_ROLLING)
		return true;
	if (!source_lists_load_day(
	        collect->store, source->name, answer->day, &found, error))
		return false;
	if (found.stored)
		g_set_error(fetch_error, PB_ERROR, PB_ERROR_INPUT,
		    "the list of %s is empty but had %" G_GINT64_FORMAT
		    " papers before",
		    answer->day, found.stored);
	return true;
}

/* An answer to be saved. */
struct fetched {
	const struct source_fetch *fetch;
	const GPtrArray *listings;  /* or NULL */
	struct papers_saved *saved; /* set */
};

static bool
save_fetched(struct store *store, void *data, GError **error)
{
	const struct fetched *fetched = data;

	return papers_save_fetch(
	    store, fetched->fetch, fetched->listings, fetched->saved, error);
}

static bool
save_fetch(const struct collect *collect, const struct source_fetch *fetch,
    const GPtrArray *listings, struct papers_saved *saved, GError **error)
{
	struct fetched fetched = {fetch, listings, saved};

	return store_transact(collect->store, save_fetched, &fetched, error);
}

static bool
save_answer(const struct collect *collect, const struct source *source, const char *day,
    const struct source_answer *answer, int64_t now, struct collect_report *report,
    GError **error)
{
	struct source_fetch fetch = {
	    .source = source->name,
	    .day = day,
	    .fetched_at = now,
	    .status = get_fetch_status(answer->status),
	    .etag = answer->etag,
	    .ids_hash = *answer->ids_sha256 ? answer->ids_sha256 : NULL,
	    .is_rolling = source->kind == SOURCE_ROLLING,
	};
	struct papers_saved saved;
	bool is_stale;

	if (!find_stale(collect, source, answer, &is_stale, error))
		return false;
	if (is_stale) {
		/* Do not send an ETag next time. */
		fetch.status = SOURCE_FETCH_STALE;
		fetch.etag = NULL;
	}
	if (!save_fetch(
	        collect, &fetch, is_stale ? NULL : answer->listings, &saved, error))
		return false;
	report->fresh += saved.fresh;
	report->changed += saved.changed;
	if (is_stale)
		event_log(EVENT_FETCH_STALE, EVENT_WORD("source", source->name),
		    EVENT_WORD("day", day));
	else if (fetch.status == SOURCE_FETCH_NOT_YET)
		event_log(EVENT_FETCH_NOT_YET, EVENT_WORD("source", source->name),
		    EVENT_WORD("day", day));
	else
		event_log(EVENT_FETCH_STORED, EVENT_WORD("source", source->name),
		    EVENT_WORD("day", day),
		    EVENT_WORD("status", source_fetch_status_name(fetch.status)),
		    EVENT_INT("papers", saved.listed), EVENT_INT("new", saved.fresh),
		    EVENT_INT("changed", saved.changed));
	return true;
}

/* A malformed list does not affect other days; other errors do. */
static bool
is_about_day(const GError *fetch_error)
{
	return g_error_matches(fetch_error, PB_ERROR, PB_ERROR_INPUT) ||
	       g_error_matches(fetch_error, PB_ERROR, PB_ERROR_LIMIT);
}

/* Poll the fallback of a source that has failed for about an hour, if it has one. */
static bool
poll_fallback(const struct collect *collect, const struct source *source, int64_t now,
    struct source_answer *answer, GError **error)
{
	int64_t pause_s, until;
	g_autoptr(GError) failure = NULL;
	char today[DAY_BYTES];

	source_answer_init(answer);
	if (!source->fallback)
		return true;
	if (!source_backoff_load_pause(
	        collect->store, source->name, source->url, &pause_s, &until, error))
		return false;
	day_format(now, today);
	if (pause_s >= FALLBACK_PAUSE_S && !source_poll(source->fallback, collect->http,
	                                       today, NULL, answer, &failure))
		event_log(EVENT_FETCH_FAILED, EVENT_WORD("source", source->name),
		    EVENT_WORD("day", today), EVENT_TEXT(failure->message));
	return true;
}

/* Record a failure, with the papers that the fallback has. */
static bool
save_failure(const struct collect *collect, const struct source *source,
    const char *day, const GError *fetch_error, int64_t now,
    struct collect_report *report, GError **error)
{
	pb_local(source_answer) instead = {0};
	g_autofree char *message = NULL;
	struct source_fetch fetch = {
	    .source = source->name,
	    .day = day,
	    .fetched_at = now,
	    .status = SOURCE_FETCH_FAILED,
	    .is_of_day = source->kind == SOURCE_BY_DAY && is_about_day(fetch_error),
	};
	struct papers_saved saved;

	if (!poll_fallback(collect, source, now, &instead, error))
		return false;
	message =
	    instead.listings
	        ? g_strdup_printf("%s (read meanwhile: the newest %zu papers, %s)",
	              fetch_error->message, instead.count, source->fallback->url)
	        : g_strdup(fetch_error->message);
	fetch.error = message;
	event_log(EVENT_FETCH_FAILED, EVENT_WORD("source", source->name),
	    EVENT_WORD("day", day), EVENT_TEXT(message));
	if (!save_fetch(collect, &fetch, instead.listings, &saved, error))
		return false;
	report->fresh += saved.fresh;
	report->changed += saved.changed;
	return true;
}

/* Store an answer or an error. @param is_failed  set if the source is to be paused */
static bool
record_answer(const struct collect *collect, struct source *source, const char *day,
    const struct source_answer *answer, const GError *fetch_error, int64_t now,
    struct collect_report *report, bool *is_failed, GError **error)
{
	g_autoptr(GError) empty_error = NULL;

	if (!fetch_error && !check_empty(collect, source, answer, &empty_error, error))
		return false;
	if (!fetch_error && !empty_error)
		return save_answer(collect, source, day, answer, now, report, error);
	if (!fetch_error)
		fetch_error = empty_error;
	/* Cancelled by us: not an error of the source. */
	*is_failed = true;
	if (collect->stop && g_atomic_int_get(collect->stop))
		return true;
	report->failed++;
	*is_failed = !is_about_day(fetch_error);
	return save_failure(collect, source, day, fetch_error, now, report, error) &&
	       (!*is_failed || source_backoff_save_pause(collect->store, source->name,
	                           source->url, answer->retry_after_s, now, error));
}

/* Time between two audits of a source, s, and after one that failed. */
#define AUDIT_S       (7 * CLOCK_DAY_S)
#define AUDIT_RETRY_S CLOCK_HOUR_S

/* Time of the next audit. */
#define AUDIT_NEXT "audit next"

/* Choose one of the stored days that are not polled any more. @param day  or "" */
static bool
choose_audit_day(const struct collect *collect, const struct source *source,
    int64_t now, char day[DAY_BYTES], GError **error)
{
	struct source_list_history history;
	struct backup_restored_from restored;
	int64_t days;

	if (!source_lists_load_history(collect->store, source->name, &history, error) ||
	    !backup_load_restored_from(collect->store, &restored, error))
		return false;
	days = (now - MAX(history.fetched_at, restored.restored_at)) / CLOCK_DAY_S -
	       OLDEST_DAYS;
	*day = '\0';
	if (history.fetched_at >= 0 && days > 0)
		day_format(
		    now - (OLDEST_DAYS + 1 + fnv1a_hash(&now, sizeof(now)) % days) *
		              CLOCK_DAY_S,
		    day);
	return true;
}

/* Fetch a past day again, and count the papers that were missed. */
static bool
audit_source(const struct collect *collect, struct source *source, int64_t now,
    struct collect_report *report, GError **error)
{
	g_autoptr(GError) fetch_error = NULL;
	pb_local(source_answer) answer = {0};
	unsigned fresh = report->fresh;
	char day[DAY_BYTES];
	int64_t next_at;

	if (!source_backoff_load(
	        collect->store, source->name, AUDIT_NEXT, &next_at, error))
		return false;
	if (next_at > now && next_at <= now + AUDIT_S)
		return true;
	if (!choose_audit_day(collect, source, now, day, error))
		return false;
	if (!*day)
		return true;
	source_answer_init(&answer);
	report->answers++;
	source_fetch_day(source, collect->http, day, NULL, &answer, &fetch_error);
	if (!fetch_error && !check_empty(collect, source, &answer, &fetch_error, error))
		return false;
	if (fetch_error) {
		event_log(EVENT_FETCH_FAILED, EVENT_WORD("source", source->name),
		    EVENT_WORD("day", day), EVENT_TEXT(fetch_error->message));
		return source_backoff_save(collect->store, source->name, AUDIT_NEXT,
		    now + AUDIT_RETRY_S, error);
	}
	return save_answer(collect, source, day, &answer, now, report, error) &&
	       source_backoff_save(collect->store, source->name,
	           SOURCE_BACKOFF_AUDIT_DAY, day_start(day), error) &&
	       source_backoff_save(collect->store, source->name, SOURCE_BACKOFF_MISSED,
	           report->fresh - fresh, error) &&
	       source_backoff_save(
	           collect->store, source->name, AUDIT_NEXT, now + AUDIT_S, error);
}

/* Fetch the current list. */
static bool
poll_current(const struct collect *collect, struct source *source, int64_t now,
    struct collect_report *report, bool *is_failed, GError **error)
{
	g_autofree char *etag = NULL;
	g_autoptr(GError) fetch_error = NULL;
	pb_local(source_answer) answer = {0};
	char today[DAY_BYTES], etag_day[DAY_BYTES];

	if (!papers_load_last_etag(
	        collect->store, source->name, &etag, etag_day, error))
		return false;
	day_format(now, today);
	source_answer_init(&answer);
	report->answers++;
	source_poll(source, collect->http, today, etag, &answer, &fetch_error);
	/* Not modified: still the list of the day for which the ETag was stored. */
	if (!fetch_error && answer.status == SOURCE_NOT_MODIFIED &&
	    source->kind == SOURCE_DATED)
		g_strlcpy(answer.day, etag_day, sizeof(answer.day));
	return record_answer(collect, source, fetch_error ? today : answer.day, &answer,
	    fetch_error, now, report, is_failed, error);
}

/* Fetch one day. @param is_failed  set if the source is to be paused */
static bool
fetch_day(const struct collect *collect, struct source *source, const char *day,
    int64_t now, struct collect_report *report, bool *is_failed, GError **error)
{
	g_autofree char *etag = NULL;
	g_autoptr(GError) fetch_error = NULL;
	pb_local(source_answer) answer = {0};

	if (!papers_load_etag(collect->store, source->name, day, &etag, error))
		return false;
	source_answer_init(&answer);
	report->answers++;
	source_fetch_day(source, collect->http, day, etag, &answer, &fetch_error);
	return record_answer(
	    collect, source, day, &answer, fetch_error, now, report, is_failed, error);
}

static void
update_retry_time(struct collect_report *report, int64_t until)
{
	if (until > 0 && (!report->retry_at || until < report->retry_at))
		report->retry_at = until;
}

/*
 * List the days to fetch, today (UTC) first, then backwards.
 *
 * @param old_poll_at  when the old days were last fetched; -1: never
 * @return whether they are included: the first time on each UTC day, or after the clock
 *         was set to another day
 */
static bool
list_due_days(
    const struct source *source, int64_t now, int64_t old_poll_at, GPtrArray *days)
{
	int64_t recent_days = source->days > 0 ? source->days : RECENT_DAYS;
	bool has_old =
	    old_poll_at < 0 || old_poll_at / CLOCK_DAY_S != now / CLOCK_DAY_S;

	for (int64_t i = 0; i <= (has_old ? OLDEST_DAYS : recent_days); i++) {
		char day[DAY_BYTES];

		day_format(now - i * CLOCK_DAY_S, day);
		g_ptr_array_add(days, g_strdup(day));
	}
	return has_old;
}

/* Name of the time of the last successful poll of a source with an interval. */
#define POLLED "polled"

static bool
collect_source(const struct collect *collect, struct source *source, bool is_all,
    int64_t now, struct collect_report *report, GError **error)
{
	g_autoptr(GPtrArray) days = g_ptr_array_new_with_free_func(g_free);
	int64_t old_poll_at, polled_at, pause_s, paused_until;
	bool has_old, is_failed = false;

	if (!source_backoff_load(collect->store, source->name, SOURCE_BACKOFF_OLD_DAYS,
	        &old_poll_at, error) ||
	    !source_backoff_load(
	        collect->store, source->name, POLLED, &polled_at, error) ||
	    !source_backoff_find_pause(
	        collect->store, source->name, source->url, now, &paused_until, error))
		return false;
	if (!is_all && paused_until >= 0) {
		update_retry_time(report, paused_until);
		return true;
	}
	if (!is_all && polled_at >= 0 && polled_at <= now &&
	    now - polled_at < source->interval_s)
		return true;
	/* Current lists are always complete. */
	has_old = source->kind != SOURCE_BY_DAY ||
	          list_due_days(source, now, is_all ? -1 : old_poll_at, days);
	if (source->kind != SOURCE_BY_DAY) {
		if (collect->progress)
			collect->progress(
			    collect->progress_data, source->label, "new papers");
		if (!poll_current(collect, source, now, report, &is_failed, error))
			return false;
	}
	for (unsigned i = 0; i < days->len && !is_failed; i++) {
		if (collect->stop && g_atomic_int_get(collect->stop))
			return true;
		if (collect->progress)
			collect->progress(
			    collect->progress_data, source->name, days->pdata[i]);
		if (!fetch_day(collect, source, days->pdata[i], now, report, &is_failed,
		        error))
			return false;
	}
	if (is_failed) {
		if (!source_backoff_load_pause(collect->store, source->name,
		        source->url, &pause_s, &paused_until, error))
			return false;
		update_retry_time(report, paused_until);
		return true;
	}
	return source_backoff_clear_pause(collect->store, source->name, error) &&
	       (source->kind != SOURCE_BY_DAY ||
	           audit_source(collect, source, now, report, error)) &&
	       (!source->interval_s || source_backoff_save(collect->store, source->name,
	                                   POLLED, now, error)) &&
	       (!has_old || source_backoff_save(collect->store, source->name,
	                        SOURCE_BACKOFF_OLD_DAYS, now, error));
}

/*
 * After a restore, record when all available days have been fetched again: before that,
 * digests cannot tell which papers may have been mailed already.
 */
static bool
record_refetch(const struct collect *collect, int64_t now, GError **error)
{
	struct backup_restored_from restored;

	if (!backup_load_restored_from(collect->store, &restored, error))
		return false;
	if (restored.restored_at < 0 || restored.fetched_at >= restored.restored_at)
		return true;
	for (unsigned i = 0; i < collect->source_count; i++) {
		int64_t old_poll_at;

		if (!source_backoff_load(collect->store, collect->sources[i]->name,
		        SOURCE_BACKOFF_OLD_DAYS, &old_poll_at, error))
			return false;
		if (old_poll_at < restored.restored_at)
			return true;
	}
	return backup_save_requested(collect->store, now, error);
}

/* Save the lists that are being collected. */
static bool
save_lists(struct store *store, void *data, GError **error)
{
	const struct collect *collect = data;
	g_autoptr(GPtrArray) lists = g_ptr_array_new_with_free_func(g_free);

	for (unsigned i = 0; i < collect->source_count; i++) {
		const struct source *source = collect->sources[i];
		struct source_list *list = g_new0(struct source_list, 1);

		list->name = source->name;
		list->label = source->label ? source->label : source->name;
		list->expected_by = source->expected_by;
		list->wait_s = collect->wait_s;
		g_ptr_array_add(lists, list);
	}
	return source_lists_save(store, lists, error);
}

static bool
merge_duplicates(struct store *store, void *data, GError **error)
{
	const int64_t *now = data;

	return papers_merge_duplicates(store, *now, DUPLICATES_MAX, error);
}

bool
collect_run(const struct collect *collect, bool is_all, int64_t now,
    struct collect_report *report, GError **error)
{
	unsigned failed = report->failed;

	if (!collect->is_part &&
	    !store_transact(collect->store, save_lists, (void *)collect, error))
		return false;

	for (unsigned i = 0; i < collect->source_count; i++)
		if (!collect_source(
		        collect, collect->sources[i], is_all, now, report, error))
			return false;
	if (!store_transact(collect->store, merge_duplicates, &now, error) ||
	    !enrich_run(collect, now, report, error))
		return false;
	if (report->failed > failed || report->retry_at || collect->is_part)
		return true;
	return record_refetch(collect, now, error);
}

bool
collect_is_moved(
    struct store *store, const GPtrArray *sources, bool *is_moved, GError **error)
{
	*is_moved = false;
	for (unsigned i = 0; i < sources->len && !*is_moved; i++) {
		const struct source *source = sources->pdata[i];

		if (!source_backoff_is_moved(
		        store, source->name, source->url, is_moved, error))
			return false;
	}
	return true;
}

/* Papers of days before a restore may have been mailed already. */
static bool
hold_after_restore(const struct collect *collect, const char *day, GError **error)
{
	struct backup_restored_from restored;
	char restored_day[DAY_BYTES];

	if (!backup_load_restored_from(collect->store, &restored, error))
		return false;
	if (restored.restored_at < 0)
		return true;
	day_format(restored.restored_at, restored_day);
	return strcmp(day, restored_day) > 0 ||
	       backup_hold_on_next_start(collect->store, error);
}

bool
collect_replay(const struct collect *collect, struct source *source, const char *day,
    const char *path, int64_t now, struct collect_report *report, GError **error)
{
	g_autoptr(GError) empty_error = NULL;
	pb_local(source_answer) answer = {0};
	char today[DAY_BYTES];
	bool is_ok;

	day_format(now, today);
	if (strcmp(day, today) > 0)
		return pb_fail(error, PB_ERROR_INPUT,
		    "'%s' is not a past day (expected YYYY-MM-DD up to %s)", day,
		    today);
	source_answer_init(&answer);
	is_ok =
	    path ? source_read_day(source, path, day, &answer, error)
	         : source_fetch_day(source, collect->http, day, NULL, &answer, error);
	is_ok = is_ok && check_empty(collect, source, &answer, &empty_error, error);
	is_ok = is_ok && pb_error_forward(error, &empty_error);
	if (is_ok && answer.status != SOURCE_NOT_YET) {
		report->answers++;
		is_ok = hold_after_restore(collect, day, error) &&
		        save_answer(collect, source, day, &answer, now, report, error);
	}
	return is_ok;
}
