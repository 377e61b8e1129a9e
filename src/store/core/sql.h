/*
 * sql.h - prepared statements with bound values; for files of this folder only.
 *
 * A statement is prepared once a handle and kept.  `sql_auto` resets it on
 * every way out of the block, so that none stays open across a commit.
 */
#ifndef PAPERBOY_STORE_CORE_SQL_H
#define PAPERBOY_STORE_CORE_SQL_H

#include <glib.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

struct store {
	sqlite3 *db;
	GHashTable
	    *statements; /* const char * (the text's address) -> sqlite3_stmt * */
	struct tokenizer *tokenizer;
	void (*reported)(void *data); /* of commits; or NULL */
	void *hook_data;
	const int *stop; /* or NULL */
};

struct sql_value {
	enum sql_kind {
		SQL_KIND_END,
		SQL_KIND_NULL,
		SQL_KIND_INT,
		SQL_KIND_TEXT,
		SQL_KIND_BLOB,
	} kind;
	int64_t number;   /* of a blob: its size */
	const void *text; /* borrowed until the statement is reset; NULL binds NULL */
};

#define SQL_INT(x)  ((struct sql_value){.kind = SQL_KIND_INT, .number = (x)})
#define SQL_TEXT(x) ((struct sql_value){.kind = SQL_KIND_TEXT, .text = (x)})
/* Octets, at most INT_MAX; NULL binds NULL. */
#define SQL_BLOB(x, size_bytes) \
	((struct sql_value){    \
	    .kind = SQL_KIND_BLOB, .text = (x), .number = (int64_t)(size_bytes)})
/* GBytes, not NULL and not empty; borrowed likewise. */
#define SQL_BYTES(x)       SQL_BLOB(g_bytes_get_data(x, NULL), g_bytes_get_size(x))
#define SQL_NULL           ((struct sql_value){.kind = SQL_KIND_NULL})
/* A number for which -1 (unknown, none) is NULL in the file. */
#define SQL_INT_OR_NULL(x) ((x) < 0 ? SQL_NULL : SQL_INT(x))

enum sql_step { SQL_STEP_ROW, SQL_STEP_DONE, SQL_STEP_FAILED };

/**
 * Get a statement ready: prepared on first use, values bound from ?1 on.
 *
 * @param sql  a static text: its address is the key under which it is kept
 */
#define sql_bind(store, sql, error, ...) \
	sql_bind_values(store, sql,      \
	    (const struct sql_value[]){__VA_ARGS__ __VA_OPT__(, ){0}}, error)
sqlite3_stmt *sql_bind_values(struct store *store, const char *sql,
    const struct sql_value *values, GError **error);

enum sql_step sql_step(sqlite3_stmt *statement, GError **error);

/** Start, run to the end and reset a statement that returns no rows. */
#define sql_exec(store, sql, error, ...) \
	sql_exec_values(store, sql,      \
	    (const struct sql_value[]){__VA_ARGS__ __VA_OPT__(, ){0}}, error)
bool sql_exec_values(struct store *store, const char *sql,
    const struct sql_value *values, GError **error);

/** The same. @param count  set to the rows that came, changed or went, without cascades
 */
#define sql_exec_count(store, sql, count, error, ...) \
	sql_exec_count_values(store, sql,             \
	    (const struct sql_value[]){__VA_ARGS__ __VA_OPT__(, ){0}}, count, error)
bool sql_exec_count_values(struct store *store, const char *sql,
    const struct sql_value *values, unsigned *count, GError **error);

/** The one number of the one row. @return false too when there is no row */
#define sql_number(store, sql, number, error, ...) \
	sql_number_values(store, sql,              \
	    (const struct sql_value[]){__VA_ARGS__ __VA_OPT__(, ){0}}, number, error)
bool sql_number_values(struct store *store, const char *sql,
    const struct sql_value *values, int64_t *number, GError **error);

/** Run a statement whose rows are texts. @return of char *, NULL with an error */
#define sql_load_texts(store, sql, error, ...) \
	sql_load_texts_values(store, sql,      \
	    (const struct sql_value[]){__VA_ARGS__ __VA_OPT__(, ){0}}, error)
GPtrArray *sql_load_texts_values(struct store *store, const char *sql,
    const struct sql_value *values, GError **error);

/** A copy of a text column, NULL for NULL. */
char *sql_dup_text(sqlite3_stmt *statement, int column);
/** A copy of a column of octets, NULL for NULL. */
GBytes *sql_dup_bytes(sqlite3_stmt *statement, int column);
/** A number column, or -1 for NULL. */
int64_t sql_get_int(sqlite3_stmt *statement, int column);

/** Put SQLite's last error into a GError: what was being done comes first. */
void sql_set_error(GError **error, sqlite3 *db, int rc, const char *doing);

void sql_reset(sqlite3_stmt **statement);
#define sql_auto __attribute__((cleanup(sql_reset))) sqlite3_stmt

#endif
