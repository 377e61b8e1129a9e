/*
 * fts_row.h - a row of an FTS5 query and the places where it matches; for src/store
 * only.
 */
#ifndef PAPERBOY_STORE_CORE_FTS_ROW_H
#define PAPERBOY_STORE_CORE_FTS_ROW_H

#include <glib.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct fts_row {
	const Fts5ExtensionApi *api; /* NULL: of fts_scan.c */
	Fts5Context *context;
	unsigned phrases;      /* of the query */
	const uint8_t *places; /* as FTS5 stores them, of fts_scan.c */
	uint64_t size;         /* of these, bytes */
	int rc;                /* of the first call that failed, or SQLITE_OK */
};

/* Receives the rows of a statement. */
struct fts_callback {
	/* @param values  further arguments of fts_call() */
	void (*call)(void *data, struct fts_row *row, sqlite3_value **values);
	void *data;
};

/* Columns of the index. */
#define FTS_ROW_COLUMNS 3

/* In places, a number that is followed by the next column; others are the offset from
 * the place before, and begin after it. */
#define FTS_NEXT_COLUMN 1

/* Maximum size of a number as FTS5 stores it. */
#define FTS_NUMBER_BYTES 9

/** Read a number of variable length. @param at  moved behind it */
static inline uint64_t
fts_read_number(const uint8_t **at)
{
	uint64_t number = *(*at)++;

	if (G_LIKELY(number < 0x80))
		return number;
	number &= 0x7f;
	for (unsigned i = 1; i < FTS_NUMBER_BYTES - 1; i++) {
		uint8_t byte = *(*at)++;

		number = number << 7 | (byte & 0x7f);
		if (byte < 0x80)
			return number;
	}
	return number << 8 | *(*at)++;
}

#define FTS_CALLBACK_TYPE "struct fts_callback"

/**
 * Register the auxiliary function fts_call(TABLE, CALLBACK, ...), which calls a struct
 * fts_callback for each row of a MATCH (https://sqlite.org/fts5.html section 7.2). The
 * callback is bound with SQL_POINTER().
 *
 * @return SQLite's code
 */
int fts_row_register(sqlite3 *db);

/** Whether a phrase is in one of some columns. @param columns  bits */
bool fts_row_has(struct fts_row *row, unsigned phrase, unsigned columns);

/** Add the number of places of a phrase to those in each column. */
void fts_row_count(struct fts_row *row, unsigned phrase, unsigned *columns);

/** Likewise, add the places to arrays of int, one for each column. */
void fts_row_list(struct fts_row *row, unsigned phrase, GArray *const *columns);

/** Called with a struct fts_row in which only phrase 0 is. @param seq  its rowid */
typedef void (*fts_row_found)(void *data, int64_t seq, void *row);

#endif
