/*
 * migrate.h - the version of the schema, and migrations.
 *
 * A migration is one SQL file, run in one transaction together with the new version
 * number.  Until the first release the first file itself is changed: a store records a
 * hash of it, and one with another hash is refused.
 */
#ifndef PAPERBOY_STORE_CORE_MIGRATE_H
#define PAPERBOY_STORE_CORE_MIGRATE_H

#include <glib.h>
#include <sqlite3.h>
#include <stdbool.h>

/* Version of the schema of this program. */
#define MIGRATE_VERSION 1

/* "pboy", in the header of every store (PRAGMA application_id). */
#define MIGRATE_APPLICATION_ID 0x70626f79

/* Name of the hash in the table cursor. */
#define MIGRATE_SCHEMA_CURSOR "schema"

/** Get the hash of the first migration. */
int64_t migrate_get_schema_hash(void);

/**
 * Check what a store records of its schema.
 *
 * @param schema_hash  0: none
 * @param name         for error messages
 * @return false with PB_ERROR_PERMANENT
 */
bool migrate_check_version(
    int64_t version, int64_t schema_hash, const char *name, GError **error);

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
