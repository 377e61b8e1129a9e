/*
 * table.h - lists and records from one table of columns: text for people, JSON for
 * scripts.
 */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "ctl/ctl.h"

/* Rows that a list loads at a time. */
#define TABLE_BATCH_ROWS 500

/* The type of a member; "none" is null in JSON and "-" in a table. */
enum table_type {
	TABLE_TEXT,   /* char *; NULL is none */
	TABLE_CHARS,  /* char[]; "" is none */
	TABLE_INT64,  /* int64_t; negative is none */
	TABLE_INT,    /* int; negative is none */
	TABLE_COUNT,  /* unsigned */
	TABLE_BOOL,   /* bool */
	TABLE_TIME,   /* int64_t, seconds since the epoch; negative is none */
	TABLE_STRING, /* format(row): a new string; NULL is none */
	TABLE_JSON,   /* pack(row); in JSON only */
};

struct table_column {
	const char *title; /* NULL: in JSON only */
	const char *key;   /* in JSON; NULL: in the text only */
	enum table_type type;
	size_t offset; /* of the member */
	char *(*format)(const void *row);
	json_t *(*pack)(const void *row);
};

/* A column for a member of a struct. */
#define TABLE_COLUMN(title, key, type, row, member)                              \
	{                                                                        \
		(title), (key), (type), offsetof(struct row, member), NULL, NULL \
	}
#define TABLE_COLUMN_STRING(title, key, format)                 \
	{                                                       \
		(title), (key), TABLE_STRING, 0, (format), NULL \
	}
#define TABLE_COLUMN_JSON(key, pack)                      \
	{                                                 \
		NULL, (key), TABLE_JSON, 0, NULL, (pack), \
	}

struct table {
	const struct table_column *columns; /* ended by an empty one */
	const char *empty_text; /* printed instead of a table without rows */
	/*
	 * Load the next batch, of at most TABLE_BATCH_ROWS.
	 *
	 * @param last  the last row of the batch before; NULL: load the first one
	 * @return empty at the end; NULL with an error
	 */
	GPtrArray *(*load)(void *data, const void *last, GError **error);
	void *data;
};

/** Print rows as a table or as JSON. */
void
table_print(const struct ctl *ctl, const struct table *table, const GPtrArray *rows);

/** Print the newest rows. @param limit  how many were asked for */
void table_print_newest(const struct ctl *ctl, const struct table *table,
    const GPtrArray *rows, unsigned limit);

/** Load and print all batches; nothing is printed when one of them cannot be loaded. */
bool
table_print_pages(const struct ctl *ctl, const struct table *table, GError **error);

/** Print one row: a line for each column that is not none. @param indent  of each line
 */
void table_print_record(
    const struct table_column *columns, const void *row, const char *indent);

/** One row as an object with every key. */
json_t *table_to_json(const struct table_column *columns, const void *row);

/** Rows as an array of such objects. @param rows  may be NULL */
json_t *table_rows_to_json(const struct table_column *columns, const GPtrArray *rows);
