/*
 * source_backoff.h - backoff state of the sources.
 *
 * Named numbers, and the pause of a source that fails.  A pause applies to the address
 * that failed: with another one the source is fetched at once.
 */
#ifndef PAPERBOY_SERVICE_COLLECT_SOURCE_BACKOFF_H
#define PAPERBOY_SERVICE_COLLECT_SOURCE_BACKOFF_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/* When days 4 to 14 were last fetched, s. */
#define SOURCE_BACKOFF_OLD_DAYS "old days"

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

#endif
