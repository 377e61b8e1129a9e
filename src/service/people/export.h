/*
 * export.h - all people as a table, to be read elsewhere.
 */
#ifndef PAPERBOY_SERVICE_PEOPLE_EXPORT_H
#define PAPERBOY_SERVICE_PEOPLE_EXPORT_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "store/core/store.h"

/** Take a piece of the table. @return false with an error ends the export */
typedef bool (*export_write)(void *data, const char *text, size_t size, GError **error);

/**
 * Write everybody who has not left, in the order in which they came (subscriber_csv.h).
 *
 * What it writes gives the same bytes again when it is imported into an empty store
 * and exported from there.  People who come or change meanwhile may be in it or not.
 *
 * @param count  set to how many people there are
 */
bool export_people(struct store *store, bool has_filters, export_write write,
    void *data, unsigned *count, GError **error);

#endif
