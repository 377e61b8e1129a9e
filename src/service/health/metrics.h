/*
 * metrics.h - how paperboy is doing, in numbers for a monitoring system.
 *
 * Text exposition format 0.0.4 of Prometheus: HELP and TYPE before each family, times
 * as seconds since the epoch, octets as bytes.  Nothing in it tells who anybody is.
 */
#ifndef PAPERBOY_SERVICE_HEALTH_METRICS_H
#define PAPERBOY_SERVICE_HEALTH_METRICS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/settings.h"
#include "service/health/status.h"
#include "store/core/store.h"

/* What the daemon has done since it started, and what its threads do. */
struct metrics_work {
	int64_t collects, new_papers, failed_fetches;
	int64_t digests, empty_digests;
	int64_t sent, failed, deferred;
	int64_t inbox;
	int64_t
	    overdue_threads; /* that broke their promise (service/log/heartbeat.h) */
};

/**
 * Format all of them.
 *
 * @param work  NULL when no daemon runs: what only it knows is left out
 * @return lines, each with its end; NULL when the store fails
 */
char *metrics_format(struct store *store, const struct settings *settings,
    const struct status_daemon *daemon, const struct metrics_work *work, int64_t now,
    GError **error);

#endif
