/*
 * migrate.c - the version of the schema, and migrations.
 */
#include "store/core/migrate.h"

#include <gio/gio.h>

#include "base/error.h"
#include "store/core/migrate_functions.h"
#include "store/core/migrations.h"
#include "store/core/sqlite.h"

static bool
load_pragma(sqlite3 *db, const char *sql, int *value, GError **error)
{
	sqlite3_stmt *statement = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(statement);
	if (rc == SQLITE_ROW)
		*value = sqlite3_column_int(statement, 0);
	else
		sqlite_set_error(error, db, rc, "cannot read the header");
	sqlite3_finalize(statement);
	return rc == SQLITE_ROW;
}

static bool
run_sql(sqlite3 *db, const char *sql, GError **error)
{
	int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

	if (rc == SQLITE_OK)
		return true;
	sqlite_set_error(error, db, rc, "cannot migrate");
	return false;
}

/* Run the next step in the open transaction. @param version  set to its result */
static bool
run_step(sqlite3 *db, int *version, GError **error)
{
	g_autofree char *name = NULL;
	g_autofree char *end = NULL;
	g_autoptr(GBytes) sql = NULL;

	/* Another process may have migrated meanwhile. */
	if (!load_pragma(db, "PRAGMA user_version", version, error))
		return false;
	if (*version >= MIGRATE_VERSION)
		return true;
	name = g_strdup_printf("/paperboy/migrations/%03d", ++*version);
	end = g_strdup_printf("PRAGMA application_id = %d; PRAGMA user_version = %d;",
	    MIGRATE_APPLICATION_ID, *version);
	sql = g_resource_lookup_data(migrations_get_resource(), name, 0, error);
	if (sql && run_sql(db, g_bytes_get_data(sql, NULL), error) &&
	    run_sql(db, end, error))
		return true;
	g_prefix_error(error, "step %d: ", *version);
	return false;
}

/* Steps may replace tables that others refer to:
 * https://sqlite.org/lang_altertable.html section 7. */
static bool
run_steps(sqlite3 *db, int version, GError **error)
{
	if (!run_sql(db, "PRAGMA foreign_keys = OFF;", error) ||
	    !migrate_functions_register(db, error))
		return false;
	while (version < MIGRATE_VERSION)
		if (!run_sql(db, "BEGIN IMMEDIATE;", error) ||
		    !run_step(db, &version, error) || !run_sql(db, "COMMIT;", error)) {
			sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
			return false;
		}
	return run_sql(db, "PRAGMA foreign_keys = ON;", error);
}

bool
migrate_check(sqlite3 *db, const char *path, GError **error)
{
	int application = 0, version = 0, tables = 0;

	if (!load_pragma(db, "PRAGMA application_id", &application, error) ||
	    !load_pragma(db, "PRAGMA user_version", &version, error) ||
	    !load_pragma(db, "SELECT count(*) FROM sqlite_schema", &tables, error)) {
		g_prefix_error(error, "cannot use the store '%s': ", path);
		return false;
	}
	if (tables && application != MIGRATE_APPLICATION_ID)
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "'%s' is a database of another program", path);
	if (version > MIGRATE_VERSION)
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "'%s' was written by a newer paperboy (store version %d, supported "
		    "up to %d): install that version again",
		    path, version, MIGRATE_VERSION);
	return true;
}

bool
migrate_run(sqlite3 *db, const char *path, GError **error)
{
	int version = 0;

	if (!load_pragma(db, "PRAGMA user_version", &version, error)) {
		g_prefix_error(error, "'%s': ", path);
		return false;
	}
	if (version >= MIGRATE_VERSION || run_steps(db, version, error))
		return true;
	g_prefix_error(error, "'%s': ", path);
	return false;
}
