/*
 * record.h - structs loaded from the rows of a statement, by a table of their columns.
 *
 * A record and its strings are one block of memory: free it with g_free().
 *
 * A damaged file can contain what the schema excludes, so rows are checked when they
 * are read: NULL, a type and a range, and a fixed set of values, which the schema's
 * CHECKs have as well.  The error is PB_ERROR_DAMAGED, "damaged row",
 * with the table and the key of the row.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "store/core/sql.h"

/* Columns with a fixed set of values. */
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
	ENUMERATION_SUBSCRIBER_VERSIONS,
	ENUMERATION_SUBSCRIBER_RETRACTIONS,
	ENUMERATION_SUPPRESSION_REASON,
	ENUMERATION_PAPER_SOURCE,
	ENUMERATION_LISTING_TYPE,
	ENUMERATION_PAPER_EVENT_KIND,
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

/** @param table, column  set: as in the schema */
void
record_get_word_column(enum enumeration which, const char **table, const char **column);

/**
 * Check a column of the current row, whose first column is the key.
 *
 * @return false with PB_ERROR_DAMAGED, also for NULL
 */
bool record_check_word(
    struct sql_statement *row, int column, enum enumeration which, GError **error);

/** Get the number of a checked column: of its word, or the value itself. */
int
record_get_word_number(struct sql_statement *row, int column, enum enumeration which);

const char *record_get_word(enum enumeration which, unsigned value);

/**
 * Check the current row.
 *
 * @param table    named by the error
 * @param columns  a code for each column, of which the first `i`, or else the first
 *                 column, is the key that the error contains:
 *                 `i` an id, from 1 to SQL_NUMBER_MAX
 *                 `n` a number from -SQL_NUMBER_MAX to SQL_NUMBER_MAX
 *                 `t` a text in UTF-8 without NUL
 *                 `l` such a text, of which a struct record_layout has the first line
 *                 `d` a day, YYYY-MM-DD
 *                 `b` bytes
 *                 `w` a word of an enumeration, in a struct record_layout
 *                 `I`, `N`, `T`, `L`, `D`, `B`, `W` the same, or NULL, or an empty day
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
};

struct record_layout {
	size_t size;
	const struct record_column *columns;
	size_t count;
	const char *table, *checks;    /* of record_check() */
	const enum enumeration *words; /* of the columns `w` and `W` */
	/* Set if the strings are allocated one by one, since callers change them. */
	void *(*make)(void);
	GDestroyNotify free;
};

/*
 * Define the layout of a struct, with its members in the order of the columns:
 *
 *	RECORD_LAYOUT(layout, bounce_row, "bounce", "iTw", (ENUMERATION_BOUNCE_CLASS),
 *	    id, line, class);
 *
 * RECORD_LAYOUT_OF() also has initializers of struct record_layout, in parentheses.
 */
#define RECORD_LAYOUT(layout, record, name, codes, enumerations, ...) \
	RECORD_LAYOUT_OF(layout, record, name, codes, enumerations, (), __VA_ARGS__)
#define RECORD_LAYOUT_OF(layout, record, name, codes, enumerations, more, ...)     \
	static const struct record_column layout##_columns[] = {                   \
	    RECORD_EXPAND(RECORD_COLUMNS(record, __VA_ARGS__))};                   \
	static const enum enumeration layout##_words[] = {                         \
	    RECORD_ITEMS enumerations ENUMERATIONS};                               \
	static const struct record_layout layout = {.size = sizeof(struct record), \
	    .columns = layout##_columns,                                           \
	    .count = G_N_ELEMENTS(layout##_columns),                               \
	    .table = name,                                                         \
	    .checks = codes,                                                       \
	    .words = layout##_words,                                               \
	    RECORD_ITEMS more}
#define RECORD_ITEMS(...) __VA_ARGS__ __VA_OPT__(, )
#define RECORD_COLUMN(record, member)                        \
	{                                                    \
		.offset = offsetof(struct record, member), \
		.size = sizeof(((struct record *)0)->member), \
		.type = _Generic(&((struct record *)0)->member, \
		    int64_t *: RECORD_INT64, \
		    int *: RECORD_INT, \
		    unsigned *: RECORD_INT, \
		    bool *: RECORD_BOOL, \
		    char **: RECORD_TEXT, \
		    const char **: RECORD_TEXT, \
		    default: RECORD_CHARS) \
	}

/* Each scan of the text expands the next of up to 64 members. */
#define RECORD_COLUMNS(record, member, ...) \
	RECORD_COLUMN(record, member),      \
	    __VA_OPT__(RECORD_MORE RECORD_PARENS(record, __VA_ARGS__))
#define RECORD_MORE()    RECORD_COLUMNS
#define RECORD_PARENS    ()
#define RECORD_SCAN(...) __VA_ARGS__
#define RECORD_SCAN4(...) \
	RECORD_SCAN(RECORD_SCAN(RECORD_SCAN(RECORD_SCAN(__VA_ARGS__))))
#define RECORD_SCAN16(...) \
	RECORD_SCAN4(RECORD_SCAN4(RECORD_SCAN4(RECORD_SCAN4(__VA_ARGS__))))
#define RECORD_EXPAND(...) \
	RECORD_SCAN16(RECORD_SCAN16(RECORD_SCAN16(RECORD_SCAN16(__VA_ARGS__))))

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
