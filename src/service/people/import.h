/*
 * import.h - import subscribers from CSV (subscriber_csv.h).
 *
 * The table is read and checked whole before anything is stored.  Then people
 * are stored in pages, each one commit: when it is cut off in between, the same
 * call again goes on, since who is there is left alone.
 */
#ifndef PAPERBOY_SERVICE_PEOPLE_IMPORT_H
#define PAPERBOY_SERVICE_PEOPLE_IMPORT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "service/people/subscriber_csv.h"
#include "store/core/store.h"

struct import_request {
	struct subscriber_csv_source source; /* the table, and what empty cells mean */
	bool is_dry_run;                     /* only tell */
	bool is_skip_bad;    /* store the good lines though others are bad */
	bool is_resubscribe; /* also who had left */
	/* A digest of the last days is due at once; else each person's first one
	 * comes at the next slot of the person's rhythm. */
	bool is_first;
	GBytes *key;     /* the secret of the state folder: suppressions */
	const char *who; /* for the audit */
};

struct import_report {
	unsigned added;
	unsigned resubscribed; /* of people who had left */
	unsigned present;      /* there already: left alone */
	unsigned left;         /* had left: left alone */
	unsigned suppressed;   /* never to be mailed: left alone, whatever is asked */
	unsigned bad;          /* lines with a problem */
	GPtrArray *problems;   /* of char *, in the order of the lines */
};

void import_report_clear(struct import_report *report);

/**
 * Import people.
 *
 * @param report  zeroed by the caller; filled also when it fails, then cleared by the
 *                caller
 * @return false with PB_ERROR_INPUT when lines are bad (and is_skip_bad is not set):
 *         nothing was stored then
 */
bool import_people(struct store *store, const struct import_request *request,
    struct import_report *report, GError **error);

#endif
