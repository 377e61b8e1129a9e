/*
 * subscriber_csv.h - subscribers as CSV (base/csv.h), for export and import.
 *
 * The first line names the columns.  On import they may be in any order, and only
 * address is required; empty cells have their defaults.  Exports of other programs can
 * be imported as they are: columns that are not known are ignored, fields may be
 * separated by semicolons or tabs, and a file without a line of names has an address on
 * each line, `addr`, `Name <addr>`, or `addr Name`.
 *
 *   address       addr, or `Name <addr>`
 *   name          display name
 *   state         active (default), paused, suspended, pending; also status, with the
 *                 words of other programs
 *   cadence       daily (default), weekdays, weekly, now
 *   weekdays      of a weekly schedule: mon,thu (default: mon)
 *   at            HH:MM
 *   zone          IANA name
 *   max           papers with abstract in one digest
 *   paused_until  of state paused: the local day on which mail resumes
 *   order ... group   the preferences, by name (model/preferences.h)
 *   language      two letters
 *   catch_up      papers with abstract in the digest after a pause
 *   consent_at, created_at   2026-11-20T18:00:00Z (default: now)
 *   consent_text  how consent was given, as text
 *   filters       one per line: QUERY, or NAME <tab> QUERY, or
 *                 NUMBER <tab> NAME <tab> QUERY (NAME may be empty), or
 *                 NUMBER <tab> NAME <tab> filter|block <tab> MAX <tab> NOTE <tab> QUERY
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
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
	CSV_COLUMN_PREFERENCES, /* one column each, in the order of the enum */
	CSV_COLUMN_LANGUAGE = CSV_COLUMN_PREFERENCES + PREFERENCE_COUNT,
	CSV_COLUMN_CATCH_UP,
	CSV_COLUMN_CONSENT_AT,
	CSV_COLUMN_CONSENT_TEXT,
	CSV_COLUMN_CREATED_AT,
	CSV_COLUMN_FILTERS,
	CSV_COLUMN_COLUMNS,
};

struct subscriber_csv_source {
	const char *file; /* name for messages */
	const char *data;
	size_t size;
	struct store *store; /* for its tokenizer only */
	int64_t now;
	/* Defaults for empty cells. */
	const char *consent; /* or NULL: required in each line */
	const char *zone;
	int minute;
	int max_full;
};

/* A parsed line; next_due_at and is_first_due of the subscriber are not set. */
struct subscriber_csv_row {
	unsigned line;
	struct subscriber *subscriber;
	GPtrArray *filters; /* of struct subscription *, without foreign ids */
	bool is_blocked;    /* the other program sends no mail to it */
};

struct subscriber_csv {
	GPtrArray *rows;     /* of struct subscriber_csv_row *: the valid lines */
	GPtrArray *problems; /* of char *: `file:line: column NAME: message` */
	unsigned bad;        /* number of lines with problems */
	char *ignored;       /* names of columns that are not known; or NULL */
	bool has_state;      /* it has a column with the state */
};

void subscriber_csv_free(struct subscriber_csv *subscriber_csv);
PB_DEFINE_AUTO(subscriber_csv, subscriber_csv_free);

/**
 * Parse a whole file, collecting all problems.
 *
 * @return NULL with PB_ERROR_LIMIT beyond BOUNDS_CSV_BYTES; without rows if the first
 *         line is invalid
 */
struct subscriber_csv *
subscriber_csv_read(const struct subscriber_csv_source *source, GError **error);

/* ---- export ---- */

/** Write a chunk of CSV. @return false with an error to abort the export */
typedef bool (*export_write)(void *data, const char *text, size_t size, GError **error);

struct export_request {
	bool has_filters;
	const char *state; /* of the subscribers; NULL: all */
};

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
