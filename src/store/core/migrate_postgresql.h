/*
 * migrate_postgresql.h - the version of the schema in PostgreSQL, and migrations.
 *
 * The schema is made from the migrations for SQLite (src/store/postgresql_schema.py);
 * the table store_version records its version.  Several machines may start at once:
 * migrations run under an advisory lock.
 */
#ifndef PAPERBOY_STORE_CORE_MIGRATE_POSTGRESQL_H
#define PAPERBOY_STORE_CORE_MIGRATE_POSTGRESQL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

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

#endif
