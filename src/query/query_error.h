/*
 * query_error.h - syntax error of a filter, with its column.
 */
#pragma once

#include "base/error.h"

/* Initialise with {0}; clear with query_error_clear(). */
struct query_error {
	enum pb_error code;  /* PB_ERROR_INPUT or PB_ERROR_LIMIT */
	unsigned column;     /* in the filter's text, from 1, in characters */
	struct msg *message; /* without the column; NULL: no error */
	const char *example; /* a correct filter of that kind, or NULL; static */
};

void query_error_clear(struct query_error *problem);

/**
 * Set an error unless one is set already.
 *
 * @param example  a string constant, or NULL
 * @param ...      names and values of the message's arguments, NULL-terminated
 */
void query_error_set(struct query_error *problem, enum pb_error code, unsigned column,
    const char *example, const char *message, ...) G_GNUC_NULL_TERMINATED;

/** Set a GError from it: "column 14: ...". */
void query_error_set_error(const struct query_error *problem, GError **error);

/**
 * Format for a terminal or a plain-text mail, on three lines: the message, the text,
 * and a caret under the column.
 *
 * A long text is cut around the column; unprintable characters are replaced.
 *
 * @param text  the filter as typed; any bytes
 * @param lead  number of characters before the filter on the user's line, as in "add ",
 *              which are added to the column
 * @return a new string, freed with g_free()
 */
char *
query_error_format(const struct query_error *problem, const char *text, unsigned lead);
