/*
 * row_count.h - numbers of rows, maintained by triggers.
 *
 * To count the rows of a large table takes seconds; status, metrics and the line for
 * systemd read these instead.
 */
#ifndef PAPERBOY_STORE_CORE_ROW_COUNT_H
#define PAPERBOY_STORE_CORE_ROW_COUNT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/** @param name  of the table row_count, such as "match" or "outbox NEW" */
bool
row_count_load(struct store *store, const char *name, int64_t *count, GError **error);

#endif
