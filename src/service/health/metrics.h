/*
 * metrics.h - metrics for a monitoring system.
 *
 * Text exposition format 0.0.4 of Prometheus: times are s since the epoch, sizes are
 * bytes.  No metric contains personal data.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/settings.h"
#include "service/health/status.h"
#include "store/core/store.h"

/* Counters of the daemon since its start, and the state of its threads. */
struct metrics_work {
	int64_t collects, new_papers, failed_fetches;
	int64_t digests, empty_digests;
	int64_t sent, failed, deferred;
	int64_t inbox;           /* received messages that were processed */
	int64_t overdue_threads; /* service/log/heartbeat.h */
};

/**
 * Format all metrics.
 *
 * @param work  NULL if no daemon runs: its metrics are omitted
 * @return complete lines; NULL if the store fails
 */
char *metrics_format(struct store *store, const struct settings *settings,
    const struct status_daemon *daemon, const struct metrics_work *work, int64_t now,
    GError **error);
