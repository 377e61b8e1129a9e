/*
 * enumeration.h - columns with a fixed set of values, checked when they are read.
 *
 * The schema's CHECKs reject other values, but a damaged file can contain anything,
 * even NULL.  Such columns are checked here, so that callers see valid values only.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "store/core/sql.h"

enum enumeration {
	ENUMERATION_SUBSCRIBER_STATE,
	ENUMERATION_SUBSCRIBER_FREQUENCY,
	ENUMERATION_SUBSCRIBER_SORTING,
	ENUMERATION_SUBSCRIBER_ABSTRACT,
	ENUMERATION_SUBSCRIBER_FORMAT,
	ENUMERATION_SUBSCRIBER_EMPTY_DIGEST,
	ENUMERATION_SUBSCRIBER_UPDATES,
	ENUMERATION_SUBSCRIBER_CROSSLIST,
	ENUMERATION_SUBSCRIBER_ATTACH,
	ENUMERATION_SUBSCRIBER_GROUPING,
	ENUMERATION_SUBSCRIBER_FEEDBACK,
	ENUMERATION_SUBSCRIBER_CHECKUP,
	ENUMERATION_SUPPRESSION_REASON,
	ENUMERATION_PAPER_SOURCE,
	ENUMERATION_LISTING_TYPE,
	ENUMERATION_SOURCE_FETCH_STATUS,
	ENUMERATION_DIGEST_STATE,
	ENUMERATION_OUTBOX_KIND,
	ENUMERATION_OUTBOX_STATE,
	ENUMERATION_OUTBOX_HELD_FROM,
	ENUMERATION_OUTBOX_HELD_WHY,
	ENUMERATION_CONFIRMATION_PURPOSE,
	ENUMERATION_INBOX_RECEIVER,
	ENUMERATION_INBOX_STATE,
	ENUMERATION_BOUNCE_CLASS,
	ENUMERATION_PROPOSAL_STATE,
	ENUMERATIONS
};

enum enumeration_shape {
	ENUMERATION_NONE,     /* not an enumeration */
	ENUMERATION_VALUE,    /* one value */
	ENUMERATION_OPTIONAL, /* one value, or NULL (LEFT JOIN) */
};

struct enumeration_column {
	int column;
	enum enumeration which;
	enum enumeration_shape shape;
	int row; /* the result column that names the row */
};

/** @param table, column  set: as in the schema */
void
enumeration_get_name(enum enumeration which, const char **table, const char **column);

/** Check a column of the current row. @return false with PB_ERROR_DAMAGED */
bool enumeration_check(
    struct sql_statement *row, const struct enumeration_column *column, GError **error);

/** Get the number of a checked column: of its word, or the value itself. */
int
enumeration_get_value(struct sql_statement *row, int column, enum enumeration which);

const char *enumeration_get_word(enum enumeration which, unsigned value);
