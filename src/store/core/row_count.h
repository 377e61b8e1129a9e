/*
 * row_count.h - row counts, maintained by triggers.
 *
 * Counting a large table takes seconds; status, metrics and the status line for systemd
 * read these instead.
 */
#ifndef PAPERBOY_STORE_CORE_ROW_COUNT_H
#define PAPERBOY_STORE_CORE_ROW_COUNT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/** @param name  as in the table row_count, such as "match" or "outbox NEW" */
bool
row_count_load(struct store *store, const char *name, int64_t *count, GError **error);

#endif
