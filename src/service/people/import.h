/*
 * import.h - import subscribers from CSV (subscriber_csv.h).
 *
 * The whole file is parsed and checked before anything is stored.  Subscribers are then
 * stored in batches, each one commit.  An interrupted import can be repeated: existing
 * subscribers are skipped.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "service/people/subscriber_csv.h"
#include "store/core/store.h"

struct import_request {
	struct subscriber_csv_source source; /* the CSV, and defaults for empty cells */
	bool is_dry_run;                     /* check only */
	bool is_skip_bad;    /* store valid lines even if others are bad */
	bool is_resubscribe; /* restore subscribers who left */
	/* The first digest is due at once; else at the next slot of the subscriber's
	 * schedule. */
	bool is_first;
	int64_t room;    /* people who can be added */
	GBytes *key;     /* secret of the state directory, for suppressions */
	const char *who; /* for the audit log */
};

struct import_report {
	unsigned added;
	unsigned resubscribed; /* had left, restored */
	unsigned full;         /* no room for them */
	unsigned blocked;      /* by the program that they come from: skipped */
	unsigned unfiltered;   /* of the added ones: without a filter */
	unsigned present;      /* already subscribed: skipped */
	unsigned left;         /* had left: skipped */
	unsigned suppressed;   /* address suppressed: always skipped */
	unsigned bad;          /* lines with a problem */
	GPtrArray *problems;   /* of char *, in line order */
	char *ignored;         /* names of columns that are not known; or NULL */
};

void import_report_clear(struct import_report *report);

/**
 * Import subscribers.
 *
 * @param report  zeroed by the caller; also filled on failure; cleared by the caller
 * @return false with PB_ERROR_INPUT if lines are bad and is_skip_bad is not set;
 *         nothing is stored then
 */
bool import_people(struct store *store, const struct import_request *request,
    struct import_report *report, GError **error);
