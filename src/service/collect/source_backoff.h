/*
 * source_backoff.h - what is remembered of a source from one look to the next.
 *
 * Named numbers, and the pause in which a source that fails is left alone.  A pause is
 * of the address that failed: under another one the source is asked at once.
 */
#ifndef PAPERBOY_SERVICE_COLLECT_SOURCE_BACKOFF_H
#define PAPERBOY_SERVICE_COLLECT_SOURCE_BACKOFF_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/* When days 4 to 14 were asked for last, s. */
#define SOURCE_BACKOFF_OLD_DAYS "old days"

/** @param value  set on success: -1 when nothing was saved yet */
bool source_backoff_load(struct store *store, const char *source, const char *what,
    int64_t *value, GError **error);
bool source_backoff_save(struct store *store, const char *source, const char *what,
    int64_t value, GError **error);

/** How long a source is left alone. @param until -1 or the past: it is not */
bool source_backoff_load_pause(struct store *store, const char *source, const char *url,
    int64_t *pause_s, int64_t *until, GError **error);

/** Whether it failed, and has another address now. */
bool source_backoff_is_moved(struct store *store, const char *source, const char *url,
    bool *is_moved, GError **error);

/** Whether it is left alone now. @param until  set to when that ends, or -1 */
bool source_backoff_find_pause(struct store *store, const char *source, const char *url,
    int64_t now, int64_t *until, GError **error);

/**
 * Leave a source that fails alone: for 1, 2, 4 ... up to 60 minutes.
 *
 * @param asked_s  how long it asked for, s; the longer one counts
 */
bool source_backoff_save_pause(struct store *store, const char *source, const char *url,
    int64_t asked_s, int64_t now, GError **error);

/** It works again. */
bool
source_backoff_clear_pause(struct store *store, const char *source, GError **error);

#endif
