/*
 * export.h - all people as a table, to be read elsewhere.
 */
#ifndef PAPERBOY_SERVICE_PEOPLE_EXPORT_H
#define PAPERBOY_SERVICE_PEOPLE_EXPORT_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "store/core/store.h"

/** Write a part of the table. @return false with an error to end the export */
typedef bool (*export_write)(void *data, const char *text, size_t size, GError **error);

/**
 * Export all subscribers but those who have left, oldest first (subscriber_csv.h).
 *
 * An import into an empty store and an export from there give the same bytes.  Changes
 * during the export may be in it or not.
 *
 * @param count  set to the number of subscribers
 */
bool export_people(struct store *store, bool has_filters, export_write write,
    void *data, unsigned *count, GError **error);

#endif
