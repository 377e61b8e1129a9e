/*
 * migrate.h - the version of the schema, and migrations.
 *
 * A migration is one SQL file, run in one transaction together with the new version
 * number.  It may call the functions of store/core/migrate_functions.h.
 */
#ifndef PAPERBOY_STORE_CORE_MIGRATE_H
#define PAPERBOY_STORE_CORE_MIGRATE_H

#include <glib.h>
#include <sqlite3.h>
#include <stdbool.h>

/* Version of the schema of this program. */
#define MIGRATE_VERSION 4

/* "pboy", in the header of every store (PRAGMA application_id). */
#define MIGRATE_APPLICATION_ID 0x70626f79

/**
 * Check the application id and the version; write nothing.
 *
 * @param path  for error messages
 * @return false with PB_ERROR_PERMANENT for a foreign, damaged or newer file
 */
bool migrate_check(sqlite3 *db, const char *path, GError **error);

/** Migrate a checked database to MIGRATE_VERSION. */
bool migrate_run(sqlite3 *db, const char *path, GError **error);

#endif
