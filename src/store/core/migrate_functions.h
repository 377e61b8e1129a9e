/*
 * migrate_functions.h - SQL functions of migrations, for what SQL cannot express.
 *
 * migrate_digest(id): the packed contents of a digest (model/digest_contents.h) from
 * the tables of version 1.
 *
 * migrate_delivered(): fill delivered_packed from the table delivered of version 1.
 */
#ifndef PAPERBOY_STORE_CORE_MIGRATE_FUNCTIONS_H
#define PAPERBOY_STORE_CORE_MIGRATE_FUNCTIONS_H

#include <glib.h>
#include <sqlite3.h>
#include <stdbool.h>

/** Register the functions. */
bool migrate_functions_register(sqlite3 *db, GError **error);

#endif
