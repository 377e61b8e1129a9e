/*
 * query_error.h - why a filter was refused, and where.
 */
#ifndef PAPERBOY_QUERY_QUERY_ERROR_H
#define PAPERBOY_QUERY_QUERY_ERROR_H

#include "base/error.h"

/* Start with {0}; clear it with query_error_clear(). */
struct query_error {
	enum pb_error code;  /* PB_ERROR_INPUT, or PB_ERROR_LIMIT for a limit */
	unsigned column;     /* in the filter's text, from 1, in characters */
	struct msg *message; /* without the column; NULL: there is no problem */
	const char *example; /* a filter that would have been right, or NULL; static */
};

void query_error_clear(struct query_error *problem);

/**
 * Note a problem; the first one noted stays.
 *
 * @param example  a string constant, or NULL
 * @param ...      names and values of the message's arguments, ended by NULL
 */
void query_error_set(struct query_error *problem, enum pb_error code, unsigned column,
    const char *example, enum msg_id id, ...) G_GNUC_NULL_TERMINATED;

/** Make an error of a problem: "column 14: ...". */
void query_error_set_error(const struct query_error *problem, GError **error);

/**
 * Show a problem for a terminal or a plain mail: three lines, each with its
 * newline: the message, the text, and a caret under the column.
 *
 * A long text is shown around the column; what cannot be shown is replaced.
 *
 * @param text  the filter as typed; any bytes
 * @param lead  characters before the filter on the person's line, as in
 *              "add "; added to the column that is told
 * @return a new string, freed with g_free()
 */
char *
query_error_format(const struct query_error *problem, const char *text, unsigned lead);

#endif
