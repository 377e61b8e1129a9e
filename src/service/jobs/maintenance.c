/*
 * maintenance.c - daily deletion of expired data.
 */
#include "service/jobs/maintenance.h"

#include "base/clock.h"
#include "model/digest.h"
#include "service/log/event.h"
#include "service/people/erase.h"
#include "service/state/clock_watch.h"
#include "store/admin/retention.h"
#include "store/paper/archive.h"
#include "store/paper/archive_cache.h"
#include "store/paper/filter_index.h"
#include "store/paper/filter_progress.h"
#include "store/paper/matches.h"
#include "store/paper/paper_events.h"

#define LAST_RUN "upkeep"

/* Rows per transaction, so that other writers do not wait long. */
#define BATCH_ROWS 500

/* Filters per transaction of the index, which looks up each of their terms. */
#define BATCH_FILTERS 200

/* Messages are deleted before their digests. */
static const struct {
	enum retention which;
	int days;
} jobs[] = {
    {RETENTION_DELIVERED, DIGEST_DELIVERED_DAYS},
    {RETENTION_REJECTED, MAINTENANCE_REJECTED_DAYS},
    {RETENTION_OUTBOX, MAINTENANCE_OUTBOX_DAYS},
    {RETENTION_DIGEST, MAINTENANCE_DIGEST_DAYS},
    {RETENTION_BOUNCE, MAINTENANCE_BOUNCE_DAYS},
    {RETENTION_PAUSE, MAINTENANCE_PAUSE_DAYS},
    {RETENTION_CONFIRMATION, MAINTENANCE_CONFIRMATION_DAYS},
    {RETENTION_RATE_LOG, MAINTENANCE_RATE_LOG_DAYS},
    {RETENTION_FETCH, MAINTENANCE_FETCH_DAYS},
    {RETENTION_QUARANTINE, MAINTENANCE_QUARANTINE_DAYS},
    {RETENTION_INBOX, MAINTENANCE_INBOX_DAYS},
    {RETENTION_PROPOSAL, MAINTENANCE_PROPOSAL_DAYS},
    {RETENTION_EVENT, MAINTENANCE_DIGEST_DAYS},
    {RETENTION_WATCH_PAUSED, -PAPER_EVENTS_ENDING_DAYS},
    {RETENTION_WATCH, 0},
    {RETENTION_WATCH_CHECK, MAINTENANCE_FETCH_DAYS},
    {RETENTION_VERSION, MAINTENANCE_VERSION_DAYS},
};

/*
 * Delete old matches, and the filters of nobody, by ranges of filters: an index by time
 * would cost as much as matching, and other writers would wait for a scan of all.
 */
static bool
prune_filters(struct store *store, int64_t now, GError **error)
{
	int64_t before = now - MAINTENANCE_MATCH_DAYS * (int64_t)CLOCK_DAY_S;
	int64_t last;

	if (!filter_progress_load_last_id(store, &last, error))
		return false;
	for (int64_t after = 0; after < last; after += BATCH_ROWS)
		if (!matches_prune(store, before, after, after + BATCH_ROWS, error) ||
		    !filter_progress_prune(
		        store, now, after, after + BATCH_ROWS, error))
			return false;
	return true;
}

static bool
rebuild_archive(struct store *store, void *data, GError **error)
{
	(void)data;
	return archive_rebuild(store, error);
}

/* Rebuild the full-text index after damage or manual changes. */
static bool
repair_index(struct store *store, GError **error)
{
	g_autofree char *problem = NULL;

	store = archive_cache_refresh(store, error);
	if (!store || !archive_check_counts(store, &problem, error))
		return false;
	if (!problem)
		return true;
	event_log(EVENT_INDEX_REBUILT, EVENT_TEXT(problem));
	return store_transact(store, rebuild_archive, NULL, error);
}

/* @param data  bool *, set at the end of the index */
static bool
rebuild_batch(struct store *store, void *data, GError **error)
{
	return filter_index_rebuild(store, BATCH_FILTERS, data, error);
}

/* Terms that have become frequent are replaced by rarer ones. */
static bool
rebuild_filter_index(struct store *store, GError **error)
{
	bool is_done;

	if (!filter_index_repair(store, BATCH_FILTERS, error))
		return false;
	do {
		if (!store_transact(store, rebuild_batch, &is_done, error))
			return false;
	} while (!is_done);
	return true;
}

bool
maintenance_run(struct store *store, int64_t now, GError **error)
{
	struct clock_jump jump;

	if (!clock_watch_load(store, &jump, error))
		return false;
	/* With a wrong clock everything would expire. */
	if (jump.by_s)
		return true;
	if (!paper_events_limit_times(store, now, error) ||
	    !prune_filters(store, now, error))
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(jobs); i++) {
		int64_t before = now - jobs[i].days * (int64_t)CLOCK_DAY_S;
		unsigned count;

		do {
			/* Each statement is its own transaction. */
			if (!retention_prune(store, jobs[i].which, before, BATCH_ROWS,
			        &count, error))
				return false;
		} while (count == BATCH_ROWS);
	}
	/* Includes erasures whose file could not be cleaned at once. */
	return repair_index(store, error) && rebuild_filter_index(store, error) &&
	       erase_clean(store, error) &&
	       store_save_cursor(store, LAST_RUN, now, error);
}

bool
maintenance_load_due(struct store *store, int64_t now, int64_t *at, GError **error)
{
	struct clock_jump jump;
	int64_t last;

	if (!store_load_cursor(store, LAST_RUN, 0, &last, error) ||
	    !clock_watch_load(store, &jump, error))
		return false;
	/* The last run is in the future: the clock was wrong then. */
	*at = last > now ? now : last + CLOCK_DAY_S;
	if (jump.by_s)
		*at = MAX(*at, now + CLOCK_HOUR_S);
	return true;
}
