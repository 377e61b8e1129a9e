/*
 * subscriber_csv_filters.h - the filters of one person, as the lines of a cell
 * (subscriber_csv.h).
 */
#ifndef PAPERBOY_SERVICE_PEOPLE_SUBSCRIBER_CSV_FILTERS_H
#define PAPERBOY_SERVICE_PEOPLE_SUBSCRIBER_CSV_FILTERS_H

#include <glib.h>
#include <stdbool.h>

#include "store/core/store.h"

/* What the reading of many cells shares; borrowed. */
struct subscriber_csv_filters {
	struct store *store; /* for its tokenizer only */
	GHashTable *queries; /* of char *: text -> canonical form, of the good ones */
};

/**
 * Read one line, and add its filter.
 *
 * @param line     without its end
 * @param filters  of struct subscription *: those that the person has so far
 * @return false with PB_ERROR_INPUT, also when that filter or number is there already
 */
bool subscriber_csv_filters_add(const struct subscriber_csv_filters *context,
    const char *line, GPtrArray *filters, GError **error);

/** Number those that have no number by the smallest that are free. */
void subscriber_csv_filters_number(GPtrArray *filters);

#endif
