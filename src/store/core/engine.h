/*
 * engine.h - what a database engine does for sql.h and store.h; for src/store/core
 * only.
 */
#pragma once

#include "store/core/sql.h"

/* The first member of an engine's statement. */
struct sql_statement {
	const struct sql_engine *engine;
};

enum sql_begin {
	SQL_BEGIN_READING,
	SQL_BEGIN_WRITING,
	SQL_BEGIN_ROWS,     /* of store_transact_rows() */
	SQL_BEGIN_SNAPSHOT, /* of store_transact_snapshot() */
	SQL_BEGIN_INNER,    /* a savepoint */
};

/* Functions as those of sql.h with the same names. */
struct sql_engine {
	struct sql_statement *(*bind)(struct store *store, const char *sql,
	    const struct sql_value *values, GError **error);
	enum sql_step (*step)(struct sql_statement *statement, GError **error);
	void (*reset)(struct sql_statement *statement);
	/* @param count  NULL: an error may be reported by a later statement of the
	 * transaction, or by its commit */
	bool (*exec)(struct store *store, const char *sql,
	    const struct sql_value *values, unsigned *count, GError **error);
	enum sql_kind (*get_kind)(struct sql_statement *row, int column);
	int64_t (*get_int)(struct sql_statement *row, int column);
	const char *(*get_text)(struct sql_statement *row, int column);
	struct sql_bytes (*get_bytes)(struct sql_statement *row, int column);
	int (*count_columns)(struct sql_statement *row);
	/* Whether a transaction is open. */
	bool (*is_open)(const struct store *store);
	bool (*begin)(struct store *store, enum sql_begin kind, GError **error);
	bool (*commit)(struct store *store, bool is_inner, GError **error);
	void (*rollback)(struct store *store, bool is_inner);
	void (*close)(struct store *store);
};
