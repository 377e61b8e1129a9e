/*
 * migrate.h - the file's version, and the steps from one to the next.
 *
 * Each step is one SQL file and one transaction, with the version number
 * written in it.
 */
#ifndef PAPERBOY_STORE_CORE_MIGRATE_H
#define PAPERBOY_STORE_CORE_MIGRATE_H

#include <glib.h>
#include <sqlite3.h>
#include <stdbool.h>

/* The version that this program writes. */
#define MIGRATE_VERSION 1

/* "pboy", in the header of every store (PRAGMA application_id). */
#define MIGRATE_APPLICATION_ID 0x70626f79

/**
 * Look at the header and the version, and at nothing else; write nothing.
 *
 * @param path  for messages
 * @return false with PB_ERROR_PERMANENT for a foreign, damaged or newer file
 */
bool migrate_check(sqlite3 *db, const char *path, GError **error);

/** Bring a database that was checked to MIGRATE_VERSION. */
bool migrate_run(sqlite3 *db, const char *path, GError **error);

#endif
