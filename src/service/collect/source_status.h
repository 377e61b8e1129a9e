/*
 * source_status.h - state of each source.
 */
#pragma once

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
	/* The past day that was last fetched again, or "", and the papers that had been
	 * missed. */
	char audit_day[DAY_BYTES];
	int64_t missed; /* or -1 */
};

/**
 * @param enabled     of struct source *
 * @param interval_s  between two polls of the collector
 * @return of struct source_status_source *: the enabled ones, then those polled earlier
 */
GPtrArray *source_status_load(struct store *store, const GPtrArray *enabled,
    int64_t interval_s, int64_t now, GError **error);

/* ---- pauses ----
 *
 * Named numbers, and the pause of a source that fails.  A pause applies to the address
 * that failed: with another one the source is fetched at once. */

/* When days 4 to 14 were last fetched, s. */
#define SOURCE_BACKOFF_OLD_DAYS "old days"

/* The past day that was last fetched again, s, and the papers that had been missed. */
#define SOURCE_BACKOFF_AUDIT_DAY "audit day"
#define SOURCE_BACKOFF_MISSED    "missed"

/** @param value  set on success; -1 if none was saved */
bool source_backoff_load(struct store *store, const char *source, const char *key,
    int64_t *value, GError **error);
bool source_backoff_save(struct store *store, const char *source, const char *key,
    int64_t value, GError **error);

/** Load the pause of a source. @param until  its end; -1 or past: none */
bool source_backoff_load_pause(struct store *store, const char *source, const char *url,
    int64_t *pause_s, int64_t *until, GError **error);

/** Whether a paused source has another address now. */
bool source_backoff_is_moved(struct store *store, const char *source, const char *url,
    bool *is_moved, GError **error);

/** Find the current pause. @param until  set to its end, or -1 */
bool source_backoff_find_pause(struct store *store, const char *source, const char *url,
    int64_t now, int64_t *until, GError **error);

/**
 * Pause a source for 1, 2, 4 ... up to 60 minutes.
 *
 * @param retry_after_s  requested by the source; the longer one counts
 */
bool source_backoff_save_pause(struct store *store, const char *source, const char *url,
    int64_t retry_after_s, int64_t now, GError **error);

/** End the backoff after a success. */
bool
source_backoff_clear_pause(struct store *store, const char *source, GError **error);
