/*
 * sqlite.h - the engine SQLite; for parts of src/store that are SQLite's own.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

extern const struct sql_engine sqlite_engine;

/** Free a statement of the cache. */
void sqlite_free_statement(gpointer data);

/** Set a GError from SQLite's last error. @param doing  such as "cannot open" */
void sqlite_set_error(GError **error, sqlite3 *db, int rc, const char *doing);
