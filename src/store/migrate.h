/*
 * migrate.h - the file's version, and the steps from one to the next.
 *
 * Each step is one SQL file and one transaction, with the version number
 * written in it.
 */
#ifndef PAPERBOY_STORE_MIGRATE_H
#define PAPERBOY_STORE_MIGRATE_H

#include <glib.h>
#include <sqlite3.h>
#include <stdbool.h>

/* The version that this program writes. */
#define MIGRATE_VERSION 1

/* "pboy", in the header of every store (PRAGMA application_id). */
#define MIGRATE_APPLICATION_ID 0x70626f79

/**
 * Bring an open database to MIGRATE_VERSION.
 *
 * @param path  for messages
 * @return false with PB_ERROR_PERMANENT for a foreign, damaged or newer file
 */
bool migrate_run(sqlite3 *db, const char *path, GError **error);

#endif
