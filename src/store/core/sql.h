/*
 * sql.h - prepared statements with bound values; for src/store only.
 *
 * A statement is prepared once per handle and cached.  `sql_auto` resets it at the end
 * of the block, so that none stays open across a commit.
 *
 * The functions are the same for each database engine (store/core/engine.h).
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/visible.h"
#include "store/core/jobs.h"
#include "store/core/store.h"

struct store {
	const struct sql_engine *engine;
	struct sqlite3 *db;            /* of a server: in memory, for the tokenizer */
	struct postgresql *postgresql; /* NULL: SQLite */
	GHashTable *statements; /* const char *, by address -> struct sql_statement * */
	struct tokenizer *tokenizer;
	struct store *archive; /* with the index of papers; NULL: this one */
	struct store *damaged; /* an earlier archive, in use until the end; or NULL */
	bool is_reading;       /* a snapshot is open */
	bool is_weaker;        /* the transaction is not serializable */
	bool has_conflict;     /* the transaction must run again */
	bool runs_twice;       /* see store_set_rerun() */
	bool is_shared;        /* see store_set_shared() */
	bool is_outdated;      /* see store_is_outdated() */
	int64_t history;       /* see store/core/history.h; 0: unknown */
	int64_t holder;        /* instance that the handle works for; 0: none */
	enum job job;          /* of its transactions */
	int64_t wait_s;        /* see store_set_wait() */
	struct store_work work;
	GPtrArray *calls;         /* of store_after_commit(), in a transaction */
	void (*hook)(void *data); /* after commits; or NULL */
	void *hook_data;
	const int *stop;             /* or NULL */
	void (*between)(void *data); /* or NULL */
	void *between_data;
};

/** Free a call of store_after_commit(). */
PB_EXPORT void store_free_call(gpointer data);

struct sql_value {
	enum sql_kind {
		SQL_KIND_END,
		SQL_KIND_NULL,
		SQL_KIND_INT,
		SQL_KIND_TEXT,
		SQL_KIND_BLOB,
		SQL_KIND_POINTER,
	} kind;
	int64_t number;   /* of a blob: its size, bytes */
	const void *text; /* borrowed until the statement is reset; NULL binds NULL */
	const char *type; /* of a pointer: a static string */
};

#define SQL_INT(x)  ((struct sql_value){.kind = SQL_KIND_INT, .number = (x)})
#define SQL_TEXT(x) ((struct sql_value){.kind = SQL_KIND_TEXT, .text = (x)})
/* At most INT_MAX bytes; NULL binds NULL. */
#define SQL_BLOB(x, size_bytes) \
	((struct sql_value){    \
	    .kind = SQL_KIND_BLOB, .text = (x), .number = (int64_t)(size_bytes)})
/* GBytes, neither NULL nor empty; borrowed until the statement is reset. */
#define SQL_BYTES(x) SQL_BLOB(g_bytes_get_data(x, NULL), g_bytes_get_size(x))
/* For a function of ours, which knows the type (sqlite3_bind_pointer(3)). */
#define SQL_POINTER(x, type_name) \
	((struct sql_value){.kind = SQL_KIND_POINTER, .text = (x), .type = (type_name)})
#define SQL_NULL           ((struct sql_value){.kind = SQL_KIND_NULL})
/* -1 (unknown, none) is NULL in the database. */
#define SQL_INT_OR_NULL(x) ((x) < 0 ? SQL_NULL : SQL_INT(x))

/* Text for a server; for SQLite a comment. */
#define SQL_SERVER(text) " /*! " text " */"

/* At the end of a SELECT: a clause that locks rows.  SQLite has one writer. */
#define SQL_LOCK(clause) SQL_SERVER(clause)

/*
 * Lock the rows of a table or alias, to change them; those that another transaction has
 * locked are waited for, or left out.  References to them can be checked meanwhile.
 */
#define SQL_LOCK_ROWS(table)      SQL_LOCK("FOR NO KEY UPDATE OF " table)
#define SQL_LOCK_FREE_ROWS(table) SQL_LOCK("FOR NO KEY UPDATE OF " table " SKIP LOCKED")

/* After a column in a condition, a number or text: on a server, no index is chosen for
 * it. */
#define SQL_NO_INDEX      SQL_SERVER("+ 0")
#define SQL_NO_INDEX_TEXT SQL_SERVER("|| ''")

/* Number of values of a list in a statement. */
#define SQL_LIST_MAX   50
/* A list in a statement, of values or rows: SQL_LIST("?") or SQL_LIST("(?, ?)"). */
#define SQL_LIST(item) item SQL_SEVEN(SQL_SEVEN(", " item))
#define SQL_SEVEN(x)   x x x x x x x
/* A statement with such a list.  Casts in the first item give the types of the columns.
 */
#define SQL_WITH_LIST(head, first, item, tail) \
	head first SQL_SEVEN(SQL_SEVEN(", " item)) tail

/**
 * Bind the next numbers of a list, and NULL after the last one.
 *
 * @param values  to set SQL_LIST_MAX of
 */
void sql_fill_list(struct sql_value *values, const int64_t *numbers, unsigned count);

/**
 * Run a statement for some numbers, SQL_LIST_MAX at once.
 *
 * @param sql  of SQL_WITH_LIST(); other parameters are before the list
 * @param numbers  of int64_t
 */
#define sql_exec_list(store, sql, numbers, error, ...) \
	sql_exec_list_values(store, sql, numbers,      \
	    (const struct sql_value[]){__VA_ARGS__ __VA_OPT__(, ){0}}, error)
bool sql_exec_list_values(struct store *store, const char *sql, const GArray *numbers,
    const struct sql_value *values, GError **error);
/* Maximum number of parameters before the list. */
#define SQL_VALUES_BEFORE_LIST 8

/* A prepared statement and, after SQL_STEP_ROW, its current row. */
struct sql_statement;

enum sql_step { SQL_STEP_ROW, SQL_STEP_DONE, SQL_STEP_FAILED };

/**
 * Prepare a statement, or take it from the cache, and bind values from ?1 on.
 *
 * @param sql  a static string: its address is the key of the cache
 */
#define sql_bind(store, sql, error, ...) \
	sql_bind_values(store, sql,      \
	    (const struct sql_value[]){__VA_ARGS__ __VA_OPT__(, ){0}}, error)
struct sql_statement *sql_bind_values(struct store *store, const char *sql,
    const struct sql_value *values, GError **error);

enum sql_step sql_step(struct sql_statement *statement, GError **error);

/**
 * Run a statement that returns no rows.
 *
 * Inside a transaction on a server it may wait, and its error is reported by a later
 * function.
 */
#define sql_exec(store, sql, error, ...) \
	sql_exec_values(store, sql,      \
	    (const struct sql_value[]){__VA_ARGS__ __VA_OPT__(, ){0}}, error)
bool sql_exec_values(struct store *store, const char *sql,
    const struct sql_value *values, GError **error);

/** Execute a statement. @param count  set to the rows inserted, updated or deleted,
 * without cascades
 */
#define sql_exec_count(store, sql, count, error, ...) \
	sql_exec_count_values(store, sql,             \
	    (const struct sql_value[]){__VA_ARGS__ __VA_OPT__(, ){0}}, count, error)
bool sql_exec_count_values(struct store *store, const char *sql,
    const struct sql_value *values, unsigned *count, GError **error);

/*
 * Maximum of ids and other numbers, times among them: the last second of the year 9999,
 * after which GLib has no date.
 */
#define SQL_NUMBER_MAX INT64_C(253402300799)

/**
 * Load the number of a statement that returns one row, such as an INSERT that ends with
 * RETURNING its key.
 *
 * @return false with PB_ERROR_DAMAGED if it is beyond SQL_NUMBER_MAX or its negative
 */
#define sql_number(store, sql, number, error, ...) \
	sql_number_values(store, sql,              \
	    (const struct sql_value[]){__VA_ARGS__ __VA_OPT__(, ){0}}, number, error)
bool sql_number_values(struct store *store, const char *sql,
    const struct sql_value *values, int64_t *number, GError **error);

/** Load a number that may have any 64 bits. */
#define sql_int64(store, sql, number, error, ...) \
	sql_int64_values(store, sql,              \
	    (const struct sql_value[]){__VA_ARGS__ __VA_OPT__(, ){0}}, number, error)
bool sql_int64_values(struct store *store, const char *sql,
    const struct sql_value *values, int64_t *number, GError **error);

/** Load a truth value. */
#define sql_has(store, sql, has, error, ...) \
	sql_has_values(store, sql,           \
	    (const struct sql_value[]){__VA_ARGS__ __VA_OPT__(, ){0}}, has, error)
bool sql_has_values(struct store *store, const char *sql,
    const struct sql_value *values, bool *has, GError **error);

/** Find the text in the first row. @param text  set; NULL for no row and for NULL */
#define sql_find_text(store, sql, text, error, ...) \
	sql_find_text_values(store, sql,            \
	    (const struct sql_value[]){__VA_ARGS__ __VA_OPT__(, ){0}}, text, error)
bool sql_find_text_values(struct store *store, const char *sql,
    const struct sql_value *values, char **text, GError **error);

/** Load the numbers of all rows. @return of int64_t; NULL on error */
#define sql_load_numbers(store, sql, error, ...) \
	sql_load_numbers_values(store, sql,      \
	    (const struct sql_value[]){__VA_ARGS__ __VA_OPT__(, ){0}}, error)
GArray *sql_load_numbers_values(struct store *store, const char *sql,
    const struct sql_value *values, GError **error);

/** Load the rows of a statement with one text column. @return of char *; NULL on error
 */
#define sql_load_texts(store, sql, error, ...) \
	sql_load_texts_values(store, sql,      \
	    (const struct sql_value[]){__VA_ARGS__ __VA_OPT__(, ){0}}, error)
GPtrArray *sql_load_texts_values(struct store *store, const char *sql,
    const struct sql_value *values, GError **error);

/** The kind of the value in a column: NULL, INT, TEXT or BLOB. */
enum sql_kind sql_get_kind(struct sql_statement *row, int column);

/** A number column, or -1 for NULL. */
int64_t sql_get_int(struct sql_statement *row, int column);

/** A text column, or a number as text; NULL for NULL. Borrowed until the next step. */
const char *sql_get_text(struct sql_statement *row, int column);
/** A copy of it. */
char *sql_dup_text(struct sql_statement *row, int column);

struct sql_bytes {
	const void *data;
	size_t size; /* bytes */
};

/** A blob or text column, empty for NULL. Borrowed until the next step. */
struct sql_bytes sql_get_bytes(struct sql_statement *row, int column);
/** A copy of it, NULL for NULL. */
GBytes *sql_dup_bytes(struct sql_statement *row, int column);

/** A value to bind; borrowed until the next step. */
struct sql_value sql_get_value(struct sql_statement *row, int column);

int sql_count_columns(struct sql_statement *row);

PB_EXPORT void sql_reset(struct sql_statement **statement);
#define sql_auto __attribute__((cleanup(sql_reset))) struct sql_statement
