/*
 * subscriber_print.h - subscribers and their filters as several commands print them.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "ctl/ctl.h"
#include "ctl/table.h"
#include "model/subscriber.h"

/** Columns of a list of struct subscriber. */
extern const struct table_column subscriber_columns[];

/*
 * Cells of a table of struct subscriber: "weekly on mon,thu at 06:05 Europe/Berlin",
 * and "active" or "paused until 2026-12-01".
 */
char *subscriber_format_schedule(const void *row);
char *subscriber_format_state(const void *row);

/** @param filters  of struct subscription *, or NULL to leave them out */
json_t *
subscriber_to_json(const struct subscriber *subscriber, const GPtrArray *filters);

/** Print all properties, without the filters. */
void subscriber_print(const struct subscriber *subscriber);

/** Print filters as a table or as JSON. @param filters  of struct subscription * */
void subscriber_print_filters(const struct ctl *ctl, const GPtrArray *filters);
