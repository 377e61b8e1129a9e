/*
 * subscriber_csv.h - people as a table in CSV (base/csv.h): what export writes, import
 * reads.
 *
 * The first line names the columns; when read, they may stand in any order, and only
 * address has to be there.  What a cell leaves empty has its default.
 *
 *   address       addr, or `Name <addr>`
 *   name          the person's name
 *   state         active (default), paused, suspended, pending
 *   cadence       daily (default), weekdays, weekly, now
 *   weekdays      of a weekly rhythm: mon,thu (default: mon)
 *   at            HH:MM
 *   zone          IANA name
 *   max           papers with abstract in one digest
 *   paused_until  of state paused: the local day from which there is mail again
 *   order ... attach   the preferences by their names (model/preferences.h)
 *   language      two letters
 *   catch_up      papers with abstract in the one digest that follows a pause
 *   consent_at, created_at   2026-11-20T18:00:00Z (default: now)
 *   consent_text  how the person agreed, in words
 *   filters       a line each: QUERY, or NAME <tab> QUERY, or
 *                 NUMBER <tab> NAME <tab> QUERY, the name being empty for none, or
 *                 NUMBER <tab> NAME <tab> filter|block <tab> MAX <tab> NOTE <tab> QUERY
 */
#ifndef PAPERBOY_SERVICE_PEOPLE_SUBSCRIBER_CSV_H
#define PAPERBOY_SERVICE_PEOPLE_SUBSCRIBER_CSV_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "model/subscriber.h"
#include "store/core/store.h"

enum subscriber_csv_column {
	CSV_COLUMN_ADDRESS,
	CSV_COLUMN_NAME,
	CSV_COLUMN_STATE,
	CSV_COLUMN_FREQUENCY,
	CSV_COLUMN_WEEKDAYS,
	CSV_COLUMN_AT,
	CSV_COLUMN_ZONE,
	CSV_COLUMN_MAX,
	CSV_COLUMN_PAUSED_UNTIL,
	CSV_COLUMN_PREFERENCES, /* a column for each, in the order of the enum */
	CSV_COLUMN_LANGUAGE = CSV_COLUMN_PREFERENCES + PREFERENCE_COUNT,
	CSV_COLUMN_CATCH_UP,
	CSV_COLUMN_CONSENT_AT,
	CSV_COLUMN_CONSENT_TEXT,
	CSV_COLUMN_CREATED_AT,
	CSV_COLUMN_FILTERS,
	CSV_COLUMN_COLUMNS,
};

/** The name in the first line. @param column  less than CSV_COLUMN_COLUMNS */
const char *subscriber_csv_column_name(enum subscriber_csv_column column);

/** Append the line that names the columns. */
void subscriber_csv_append_head(GString *out, bool has_filters);

/**
 * Append one person.
 *
 * @param filters  of struct subscription *, or NULL: no such column
 */
void subscriber_csv_append(
    GString *out, const struct subscriber *subscriber, const GPtrArray *filters);

struct subscriber_csv_source {
	const char *file; /* as messages call it */
	const char *data;
	size_t size;
	struct store *store; /* for its tokenizer only */
	int64_t now;
	/* For cells that are empty. */
	const char *consent; /* or NULL: each line has to tell */
	const char *zone;
	int minute;
	int max_full;
};

/* A person as a line tells; next_due_at and is_first_due are not decided. */
struct subscriber_csv_row {
	unsigned line;
	struct subscriber *subscriber;
	GPtrArray *filters; /* of struct subscription *: all but where they belong */
};

struct subscriber_csv {
	GPtrArray *rows; /* of struct subscriber_csv_row *: those without a problem */
	GPtrArray *problems; /* of char *: `file:line: column NAME: message` */
	unsigned bad;        /* lines that have a problem */
	GHashTable *zones;   /* name -> GTimeZone *, of all rows */
};

void subscriber_csv_free(struct subscriber_csv *subscriber_csv);
PB_DEFINE_AUTO(subscriber_csv, subscriber_csv_free);

/**
 * Read a table whole, with all that is wrong in it.
 *
 * @return NULL with PB_ERROR_LIMIT beyond BOUNDS_CSV_BYTES; without rows when already
 *         the line that names the columns is wrong
 */
struct subscriber_csv *
subscriber_csv_read(const struct subscriber_csv_source *source, GError **error);

#endif
