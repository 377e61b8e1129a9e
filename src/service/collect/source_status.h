/*
 * source_status.h - how each source is doing.
 */
#ifndef PAPERBOY_SERVICE_COLLECT_SOURCE_STATUS_H
#define PAPERBOY_SERVICE_COLLECT_SOURCE_STATUS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/day.h"
#include "store/core/store.h"

/* One that is switched on, or was when it was last asked.  Times are s, -1 for never.
 */
struct source_status_source {
	char *name;
	bool is_on;
	char *day;          /* of the last answer, or NULL */
	char *status;       /* of the last answer, or NULL */
	char *error;        /* what is wrong, or NULL */
	int64_t fetched_at; /* the last answer */
	int64_t good_at;    /* the last that did not fail */
	int64_t etag_at;    /* the last that gave an ETag */
	int64_t pause_s;    /* how long it is left alone for failing; 0 or less: not */
	int64_t paused_until;
	int64_t next_at; /* when a running paperboyd asks it again; -1 when it is off */
	bool is_late;    /* no good answer for long */
	/* It answers, but its list of the day has not come, or is that of an earlier
	 * day; missing_day is the first such day, else "". */
	char missing_day[DAY_BYTES];
	int64_t missing_since; /* when that list was expected, or -1 */
	char *papers_day;      /* the newest day with papers, or NULL */
	int64_t papers;        /* on that day */
};

void source_status_source_free(struct source_status_source *source);

/**
 * @param enabled     of struct source *
 * @param interval_s  between two polls of the collector
 * @return of struct source_status_source *: the enabled ones, then those polled earlier
 */
GPtrArray *source_status_load(struct store *store, const GPtrArray *enabled,
    int64_t interval_s, int64_t now, GError **error);

#endif
