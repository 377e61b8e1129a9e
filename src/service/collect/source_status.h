/*
 * source_status.h - state of each source.
 */
#ifndef PAPERBOY_SERVICE_COLLECT_SOURCE_STATUS_H
#define PAPERBOY_SERVICE_COLLECT_SOURCE_STATUS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/day.h"
#include "store/core/store.h"

/* A source that is or was enabled.  Times are s, -1 for never. */
struct source_status_source {
	char *name;
	bool is_on;
	char *day;          /* of the last answer, or NULL */
	char *status;       /* of the last answer, or NULL */
	char *error;        /* of the last answer, or NULL */
	int64_t fetched_at; /* the last answer */
	int64_t good_at;    /* the last success */
	int64_t etag_at;    /* the last answer with an ETag */
	int64_t pause_s;    /* length of the pause; 0 or less: none */
	int64_t paused_until;
	int64_t next_at; /* next poll by a running paperboyd; -1 if disabled */
	bool is_late;    /* no success for long */
	/* First day whose list is overdue or stale although the source answers, or "".
	 */
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
