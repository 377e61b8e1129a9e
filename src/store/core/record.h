/*
 * record.h - structs loaded from the rows of a statement, by a table of their columns.
 *
 * A record and its strings are one block of memory: free it with g_free().
 *
 * A damaged file can contain what the schema excludes, so rows are checked when they
 * are read: NULL, a type and a range by record_check(), columns with a fixed set of
 * values by store/core/enumeration.h.  The error is PB_ERROR_DAMAGED, "damaged row",
 * with the table and the key of the row.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "store/core/enumeration.h"
#include "store/core/sql.h"

/**
 * Check the current row.
 *
 * @param table    named by the error
 * @param columns  a code for each column, of which the first `i`, or else the first
 *                 column, is the key that the error contains:
 *                 `i` an id, from 1 to SQL_NUMBER_MAX
 *                 `n` a number from -SQL_NUMBER_MAX to SQL_NUMBER_MAX
 *                 `t` a text in UTF-8 without NUL
 *                 `d` a day, YYYY-MM-DD
 *                 `b` bytes
 *                 `I`, `N`, `T`, `D`, `B` the same, or NULL, or an empty day
 *                 `*` anything
 * @return false with PB_ERROR_DAMAGED
 */
bool record_check(
    struct sql_statement *row, const char *table, const char *columns, GError **error);

/** Step a statement and check the row. @return SQL_STEP_FAILED also for a damaged row
 */
enum sql_step record_next(struct sql_statement *statement, const char *table,
    const char *columns, GError **error);

enum record_type {
	RECORD_INT64, /* NULL is -1 */
	RECORD_INT,   /* NULL is -1; also an enum, by the order of the words */
	RECORD_BOOL,
	RECORD_TEXT,
	RECORD_CHARS, /* an array of char; NULL is "" */
};

/* The columns of the result, in its order. */
struct record_column {
	size_t offset, size;
	enum record_type type;
	enum enumeration_shape shape; /* ENUMERATION_NONE by default */
	enum enumeration which;
	/* Column of the result with the key of the row that the value is from, which an
	 * error about an enumeration names; 0 by default. */
	int row;
};

#define RECORD_COLUMN(record, member, ...)                               \
	{                                                                \
		.offset = offsetof(struct record, member),             \
	    .size = sizeof(((struct record *)0)->member),       \
	    .type = _Generic(&((struct record *)0)->member,     \
	             int64_t *: RECORD_INT64,                   \
	             int *: RECORD_INT,                         \
	             unsigned *: RECORD_INT,                    \
	             bool *: RECORD_BOOL,                       \
	             char **: RECORD_TEXT,                      \
	             const char **: RECORD_TEXT,                \
	             default: RECORD_CHARS),                    \
	    __VA_ARGS__ \
	}
#define RECORD_CHECK(enumeration) \
	.shape = ENUMERATION_VALUE, .which = ENUMERATION_##enumeration
/* Or NULL (LEFT JOIN). */
#define RECORD_CHECK_OPTIONAL(enumeration) \
	.shape = ENUMERATION_OPTIONAL, .which = ENUMERATION_##enumeration

struct record_layout {
	size_t size;
	const struct record_column *columns;
	size_t count;
	const char *table, *checks; /* of record_check() */
	/* Set if the strings are allocated one by one, since callers change them. */
	void *(*make)(void);
	GDestroyNotify free;
};

#define RECORD_LAYOUT(record, list, table_name, codes, ...)                        \
	{                                                                          \
		.size = sizeof(struct record), .columns = (list),                  \
		.count = G_N_ELEMENTS(list), .table = table_name, .checks = codes, \
		__VA_ARGS__                                                        \
	}

/** Step a statement and check the row. @return SQL_STEP_FAILED also for a bad value */
enum sql_step record_step(struct sql_statement *statement,
    const struct record_layout *layout, GError **error);

/** Load the current row, after record_step(). */
void *record_load(struct sql_statement *row, const struct record_layout *layout);

/**
 * Load the first row of a statement with values.
 *
 * @param found  pointer to the pointer to set; NULL when there is no row
 */
#define record_find(store, sql, layout, found, error, ...)                            \
	record_find_values(store, sql,                                                \
	    (const struct sql_value[]){__VA_ARGS__ __VA_OPT__(, ){0}}, layout, found, \
	    error)
bool
record_find_values(struct store *store, const char *sql, const struct sql_value *values,
    const struct record_layout *layout, void *found, GError **error);

/** Load all rows of a statement with values. */
#define record_load_all(store, sql, layout, error, ...) \
	record_load_all_values(store, sql,              \
	    (const struct sql_value[]){__VA_ARGS__ __VA_OPT__(, ){0}}, layout, error)
GPtrArray *record_load_all_values(struct store *store, const char *sql,
    const struct sql_value *values, const struct record_layout *layout, GError **error);
