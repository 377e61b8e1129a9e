/*
 * csv.h - tables as text (RFC 4180), read and written without loss.
 *
 * Read: fields in quotation marks or not, CRLF or LF, with or without a byte
 * order mark; lines without anything are skipped.  Written: CRLF, quotation marks
 * where they are needed.
 *
 * A spreadsheet runs a cell that begins with one of = + - @, a tab or a carriage
 * return.  Such a cell, and one that begins with an apostrophe, is written with an
 * apostrophe before it; that one is taken off again when it is read.  So nothing
 * runs, and what is read is what was written.
 */
#ifndef PAPERBOY_BASE_CSV_H
#define PAPERBOY_BASE_CSV_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* Where a reader is; all is the reader's own but for what csv_init() is given. */
struct csv {
	const char *at;
	const char *end;
	unsigned line; /* of at, from 1 */
};

enum csv_step {
	CSV_RECORD,
	CSV_END,
	CSV_BAD, /* this record is wrong; reading goes on with the next */
};

/** Begin. @param data  borrowed as long as it is read from; any octets */
void csv_init(struct csv *csv, const char *data, size_t size);

/**
 * Read the next record.
 *
 * @param fields  of char *, with g_free() as its free function; emptied and filled
 * @param line    set to the line on which the record begins
 * @param error   set with CSV_BAD: PB_ERROR_INPUT, or PB_ERROR_LIMIT beyond
 *                BOUNDS_CSV_RECORD_BYTES or _COLUMNS; without the line.  A quotation
 *                mark that is never closed is the last record
 */
enum csv_step
csv_read(struct csv *csv, GPtrArray *fields, unsigned *line, GError **error);

/** Append a cell to a record. @param is_first  no comma goes before it */
void csv_append(GString *out, const char *text, bool is_first);

/** End a record. */
void csv_append_end(GString *out);

#endif
