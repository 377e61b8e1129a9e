/*
 * postgresql_load.h - rows in the binary format of COPY ... FROM STDIN.
 *
 * The connection is in no pipeline.  Rows are collected and sent in parts of 64 KiB.
 */
#pragma once

#include <glib.h>
#include <libpq-fe.h>
#include <stdbool.h>

#include "store/core/sql.h"

/**
 * @param sql     the command
 * @param wait_s  see postgresql_get_result()
 * @return rows to be sent; NULL with the error
 */
GByteArray *postgresql_load_begin(
    PGconn *connection, const char *sql, int64_t wait_s, GError **error);

/**
 * Add a row.
 *
 * @param values  of the kinds of the columns: BIGINT, TEXT and BYTEA
 * @return false when the connection is lost
 */
bool postgresql_load_add(
    PGconn *connection, GByteArray *rows, const struct sql_value *values);

/** Send the rest. @return the result of the command; NULL when the connection is lost
 */
PGresult *postgresql_load_end(PGconn *connection, GByteArray *rows, int64_t wait_s);
