/*
 * csv.h - CSV reader and writer (RFC 4180).
 *
 * The reader accepts quoted and unquoted fields, CRLF or LF, and an optional byte
 * order mark; empty lines are skipped.  The writer uses CRLF and quotes only where
 * needed.
 *
 * Spreadsheets evaluate a cell that begins with one of = + - @, a tab or a carriage
 * return as a formula.  The writer prefixes such a cell, and one that begins with an
 * apostrophe, with an apostrophe, and the reader removes it.  This prevents formula
 * injection and preserves the values in a round trip.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* Reader state; all members but the separator are private. */
struct csv {
	const char *at;
	const char *end;
	unsigned line;  /* line number of at, from 1 */
	char separator; /* of fields: a comma, unless it is changed after csv_init() */
};

enum csv_step {
	CSV_RECORD,
	CSV_END,
	CSV_BAD, /* invalid record; the next call continues after it */
};

/** @param data  any bytes; must outlive the reader */
void csv_init(struct csv *csv, const char *data, size_t size);

/**
 * Read the next record.
 *
 * @param fields  array of char * with g_free() as free function; its content is
 *                replaced
 * @param line    set to the line on which the record begins
 * @param error   set with CSV_BAD: PB_ERROR_INPUT, or PB_ERROR_LIMIT above
 *                BOUNDS_CSV_RECORD_BYTES or _COLUMNS; does not contain the line
 *                number.  A record with an unterminated quote is the last one
 */
enum csv_step
csv_read(struct csv *csv, GPtrArray *fields, unsigned *line, GError **error);

/** Append a cell to a record. @param is_first  write no comma before it */
void csv_append(GString *out, const char *text, bool is_first);

/** Append the line end of a record. */
void csv_append_end(GString *out);
