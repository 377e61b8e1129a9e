/*
 * migrate.h - the version of the schema, and migrations.
 *
 * A migration is one SQL file, run in one transaction together with the new version
 * number.  Until the first release the first file itself is changed: a store records a
 * hash of it, and one with another hash is refused.
 *
 * The schema of a server is made from the migrations for SQLite
 * (src/store/postgresql_schema.py); the table store_version records its version.
 * Several machines may start at once: migrations run under an advisory lock.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>
#include <stdbool.h>

#include "store/core/store.h"

/* Version of the schema of this program. */
#define MIGRATE_VERSION 1

/* "pboy", in the header of every store (PRAGMA application_id). */
#define MIGRATE_APPLICATION_ID 0x70626f79

/** Get the hash of the first migration. */
int64_t migrate_get_schema_hash(void);

/**
 * Check the application id and the version; write nothing.
 *
 * @param path  for error messages
 * @return false with PB_ERROR_PERMANENT for a foreign, damaged or newer file
 */
bool migrate_check(sqlite3 *db, const char *path, GError **error);

/** Migrate a checked database to MIGRATE_VERSION. */
bool migrate_run(sqlite3 *db, const char *path, GError **error);

/**
 * Check the encoding, the tables and the version; write nothing.
 *
 * @param version  set; 0: the database is empty
 * @return false with PB_ERROR_PERMANENT for a database of another program, of a newer
 *         version of this one, or of another encoding than UTF-8
 */
bool migrate_postgresql_check(struct store *store, int64_t *version, GError **error);

/**
 * Check, and create or migrate the schema.
 *
 * @return false with PB_ERROR_TEMPORARY while an instance of an older version is alive
 */
bool migrate_postgresql_run(struct store *store, GError **error);
