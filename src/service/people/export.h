/*
 * export.h - export subscribers as CSV.
 */
#ifndef PAPERBOY_SERVICE_PEOPLE_EXPORT_H
#define PAPERBOY_SERVICE_PEOPLE_EXPORT_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "model/subscriber.h"
#include "store/core/store.h"

/** Write a chunk of CSV. @return false with an error to abort the export */
typedef bool (*export_write)(void *data, const char *text, size_t size, GError **error);

struct export_request {
	bool has_filters;
	const char *state; /* of the subscribers; NULL: all */
};

/** Whether a subscriber is to be exported. */
bool export_includes(
    const struct export_request *request, const struct subscriber *subscriber);

/**
 * Export all subscribers except those who left, oldest first (subscriber_csv.h).
 *
 * Importing the result into an empty store and exporting again gives the same bytes.
 * The export is not a snapshot: concurrent changes may or may not be included.
 *
 * @param count  set to the number of subscribers
 */
bool export_people(struct store *store, const struct export_request *request,
    export_write write, void *data, unsigned *count, GError **error);

#endif
