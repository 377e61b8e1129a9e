/*
 * enumeration.h - columns that hold one of a few values, checked when they are read.
 *
 * The schema's CHECKs keep other values out of a sound file; a damaged one can hold
 * anything, NULL too.  A statement that reads such columns is stepped here, so that no
 * reader meets a value that it does not know.
 */
#ifndef PAPERBOY_STORE_CORE_ENUMERATION_H
#define PAPERBOY_STORE_CORE_ENUMERATION_H

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
	ENUMERATION_SUPPRESSION_REASON,
	ENUMERATION_PAPER_SOURCE,
	ENUMERATION_LISTING_TYPE,
	ENUMERATION_SOURCE_FETCH_STATUS,
	ENUMERATION_DIGEST_STATE,
	ENUMERATION_DIGEST_ABSTRACT,
	ENUMERATION_DIGEST_FORMAT,
	ENUMERATION_DIGEST_ATTACH,
	ENUMERATION_DIGEST_ITEM_SHOWN,
	ENUMERATION_OUTBOX_KIND,
	ENUMERATION_OUTBOX_STATE,
	ENUMERATION_OUTBOX_HELD_FROM,
	ENUMERATION_OUTBOX_HELD_WHY,
	ENUMERATION_CONFIRMATION_PURPOSE,
	ENUMERATION_INBOX_RECEIVER,
	ENUMERATION_INBOX_STATE,
	ENUMERATIONS
};

/* How the rows of a statement hold the values. */
enum enumeration_shape {
	ENUMERATION_VALUE,    /* one value */
	ENUMERATION_OPTIONAL, /* one value, or NULL: the row of a LEFT JOIN is missing
	                       */
	ENUMERATION_LINES,    /* a line for each value, its second cell between tabs; or
	                         NULL: none */
};

/* A result column that holds one. */
struct enumeration_column {
	int column;
	enum enumeration which;
	enum enumeration_shape shape;
	int row; /* the result column that names the row */
};

/** The table and the column in the schema. */
void
enumeration_get_name(enum enumeration which, const char **table, const char **column);

/**
 * Step a statement and check the row.
 *
 * @param columns  @param count  of the result that are enumerations
 * @return SQL_STEP_FAILED too for a value that is damaged, with PB_ERROR_PERMANENT
 */
enum sql_step enumeration_step(sqlite3_stmt *statement,
    const struct enumeration_column *columns, size_t count, GError **error);

/** The same for an array of columns. */
#define ENUMERATION_STEP(statement, columns, error) \
	enumeration_step(statement, columns, G_N_ELEMENTS(columns), error)

#endif
