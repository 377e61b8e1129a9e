/*
 * migrate.c - the version of the schema, and migrations.
 */
#include "store/core/migrate.h"

#include <gio/gio.h>

#include "base/error.h"
#include "base/fnv1a.h"
#include "store/core/migrations.h"
#include "store/core/sqlite.h"

int64_t
migrate_get_schema_hash(void)
{
	g_autoptr(GBytes) sql = g_resource_lookup_data(
	    migrations_get_resource(), "/paperboy/migrations/001", 0, NULL);

	return (int64_t)fnv1a_hash(g_bytes_get_data(sql, NULL), g_bytes_get_size(sql));
}

bool
migrate_check_version(
    int64_t version, int64_t schema_hash, const char *name, GError **error)
{
	if (version > MIGRATE_VERSION && schema_hash == migrate_get_schema_hash())
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "'%s' was written by a newer paperboy (store version "
		    "%" G_GINT64_FORMAT
		    ", supported up to %d): install that version again",
		    name, version, MIGRATE_VERSION);
	if (schema_hash != migrate_get_schema_hash())
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "'%s' was written by another development version of paperboy: "
		    "export the subscribers with that version (paperboyctl subscriber "
		    "export --filters FILE) and import them into a new store",
		    name);
	return true;
}

static bool
load_number(sqlite3 *db, const char *sql, int64_t *value, GError **error)
{
	sqlite3_stmt *statement = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(statement);
	if (rc == SQLITE_ROW)
		*value = sqlite3_column_int64(statement, 0);
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
run_step(sqlite3 *db, int64_t *version, GError **error)
{
	g_autofree char *name = NULL;
	g_autofree char *end = NULL;
	g_autoptr(GBytes) sql = NULL;

	/* Another process may have migrated meanwhile. */
	if (!load_number(db, "PRAGMA user_version", version, error))
		return false;
	if (*version >= MIGRATE_VERSION)
		return true;
	name = g_strdup_printf("/paperboy/migrations/%03d", (int)++*version);
	end = g_strdup_printf("PRAGMA application_id = %d; PRAGMA user_version = %d;"
	                      " INSERT OR REPLACE INTO cursor (name, value)"
	                      " VALUES ('" MIGRATE_SCHEMA_CURSOR "', %" G_GINT64_FORMAT
	                      ")",
	    MIGRATE_APPLICATION_ID, (int)*version, migrate_get_schema_hash());
	sql = g_resource_lookup_data(migrations_get_resource(), name, 0, error);
	if (sql && run_sql(db, g_bytes_get_data(sql, NULL), error) &&
	    run_sql(db, end, error))
		return true;
	g_prefix_error(error, "step %d: ", (int)*version);
	return false;
}

/* Steps may replace tables that others refer to:
 * https://sqlite.org/lang_altertable.html section 7. */
static bool
run_steps(sqlite3 *db, int64_t version, GError **error)
{
	if (!run_sql(db, "PRAGMA foreign_keys = OFF;", error))
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
	static const char sql_tables[] = "SELECT count(*) FROM sqlite_schema";
	static const char sql_hash[] =
	    "SELECT value FROM cursor WHERE name = '" MIGRATE_SCHEMA_CURSOR "'"
	    " UNION ALL SELECT 0";
	int64_t application = 0, version = 0, tables = 0, schema_hash = 0;

	if (!load_number(db, "PRAGMA application_id", &application, error) ||
	    !load_number(db, "PRAGMA user_version", &version, error) ||
	    !load_number(db, sql_tables, &tables, error)) {
		g_prefix_error(error, "cannot use the store '%s': ", path);
		return false;
	}
	if (!tables)
		return true;
	if (application != MIGRATE_APPLICATION_ID)
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "'%s' is a database of another program", path);
	if (!load_number(db, sql_hash, &schema_hash, error)) {
		g_prefix_error(error, "cannot use the store '%s': ", path);
		return false;
	}
	return migrate_check_version(version, schema_hash, path, error);
}

bool
migrate_run(sqlite3 *db, const char *path, GError **error)
{
	int64_t version = 0;

	if (!load_number(db, "PRAGMA user_version", &version, error)) {
		g_prefix_error(error, "'%s': ", path);
		return false;
	}
	if (version >= MIGRATE_VERSION || run_steps(db, version, error))
		return true;
	g_prefix_error(error, "'%s': ", path);
	return false;
}
