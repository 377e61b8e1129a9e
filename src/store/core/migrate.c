/*
 * migrate.c - the version of the schema, and migrations.
 */
#include "store/core/migrate.h"

#include <gio/gio.h>

#include "base/error.h"
#include "base/fnv1a.h"
#include "store/core/migrations.h"
#include "store/core/sql.h"
#include "store/core/sqlite.h"

/* Name of the hash in the table cursor. */
#define SCHEMA_CURSOR "schema"

int64_t
migrate_get_schema_hash(void)
{
	g_autoptr(GBytes) sql = g_resource_lookup_data(
	    migrations_get_resource(), "/paperboy/migrations/001", 0, NULL);

	return (int64_t)fnv1a_hash(g_bytes_get_data(sql, NULL), g_bytes_get_size(sql));
}

/*
 * Check what a store records of its schema.
 *
 * @param schema_hash  0: none
 * @param name         for error messages
 * @return false with PB_ERROR_PERMANENT
 */
static bool
check_version(int64_t version, int64_t schema_hash, const char *name, GError **error)
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
	                      " VALUES ('" SCHEMA_CURSOR "', %" G_GINT64_FORMAT ")",
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
	    "SELECT value FROM cursor WHERE name = '" SCHEMA_CURSOR "'"
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
	return check_version(version, schema_hash, path, error);
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

/* ---- of a server ---- */

static bool
check_encoding(struct store *store, GError **error)
{
	static const char sql[] =
	    "SELECT pg_encoding_to_char(encoding) FROM pg_database"
	    " WHERE datname = current_database()";
	g_autofree char *encoding = NULL;

	if (!sql_find_text(store, sql, &encoding, error))
		return false;
	return g_strcmp0(encoding, "UTF8") == 0 ||
	       pb_fail(error, PB_ERROR_PERMANENT,
	           "the database has the encoding %s: create one with UTF8", encoding);
}

static bool
check_no_tables(struct store *store, GError **error)
{
	static const char sql[] = "SELECT tablename FROM pg_tables"
	                          " WHERE schemaname = current_schema() LIMIT 1";
	g_autofree char *table = NULL;

	if (!sql_find_text(store, sql, &table, error))
		return false;
	return !table || pb_fail(error, PB_ERROR_PERMANENT,
	                     "the database belongs to another program: it has a table "
	                     "'%s'",
	                     table);
}

bool
migrate_postgresql_check(struct store *store, int64_t *version, GError **error)
{
	static const char sql_has[] =
	    "SELECT CASE WHEN to_regclass('store_version') IS NULL THEN 0 ELSE 1 END";
	static const char sql[] = "SELECT coalesce(max(version), 0) FROM store_version";
	int64_t found = 0, schema_hash = 0;
	bool has;

	if (!check_encoding(store, error) || !sql_has(store, sql_has, &has, error))
		return false;
	if (has ? !sql_number(store, sql, &found, error)
	        : !check_no_tables(store, error))
		return false;
	if (found && (!store_load_int64(store, SCHEMA_CURSOR, 0, &schema_hash, error) ||
	                 !check_version(found, schema_hash, "the database", error)))
		return false;
	*version = found;
	return true;
}

/* An older program would not understand the new schema. */
static bool
check_instances(struct store *store, GError **error)
{
	static const char sql[] =
	    "SELECT name FROM instance"
	    " WHERE expires_at > CAST(extract(epoch FROM now()) AS BIGINT) LIMIT 1";
	g_autofree char *name = NULL;

	if (!sql_find_text(store, sql, &name, error))
		return false;
	return !name ||
	       pb_fail(error, PB_ERROR_TEMPORARY,
	           "cannot migrate while an older version runs on %s: stop it there",
	           name);
}

/* Run the commands of a file as one statement. @param name  of the resource */
static bool
run_file(struct store *store, const char *name, GError **error)
{
	g_autofree char *path = g_strconcat("/paperboy/migrations/", name, NULL);
	g_autoptr(GBytes) sql =
	    g_resource_lookup_data(migrations_get_resource(), path, 0, error);
	g_autofree char *block = NULL;

	if (!sql)
		return false;
	block = g_strdup_printf("DO $migration$ BEGIN EXECUTE $file$%s$file$;"
	                        " END $migration$",
	    (const char *)g_bytes_get_data(sql, NULL));
	return sql_exec(store, g_intern_string(block), error);
}

static bool
record_version(struct store *store, int64_t version, GError **error)
{
	static const char sql_table[] =
	    "CREATE TABLE IF NOT EXISTS store_version"
	    " (version BIGINT PRIMARY KEY, migrated_at BIGINT NOT NULL)";
	static const char sql[] =
	    "INSERT INTO store_version (version, migrated_at)"
	    " VALUES (?1, CAST(extract(epoch FROM now()) AS BIGINT))";

	return sql_exec(store, sql_table, error) &&
	       sql_exec(store, sql, error, SQL_INT(version)) &&
	       store_save_cursor(
	           store, SCHEMA_CURSOR, migrate_get_schema_hash(), error);
}

/* @param version  in and out */
static bool
run_server_step(struct store *store, int64_t *version, GError **error)
{
	bool is_new = *version == 0;
	g_autofree char *name = NULL;

	*version = is_new ? MIGRATE_VERSION : *version + 1;
	name = is_new ? g_strdup("postgresql")
	              : g_strdup_printf("postgresql-%03d", (int)*version);
	if (run_file(store, name, error) && record_version(store, *version, error))
		return true;
	if (is_new)
		g_prefix_error(error,
		    "cannot create the tables (the role must own the database): ");
	else
		g_prefix_error(error, "step %d: ", (int)*version);
	return false;
}

/* Migrate, under a lock. */
static bool
migrate(struct store *store, void *data, GError **error)
{
	/* It waits for another machine that migrates, whose result is seen.  "pboy", as
	 * the number of no other lock of the database. */
	static const char sql_lock[] = "SELECT pg_advisory_xact_lock(1885499257)";
	int64_t version;

	(void)data;
	if (!sql_exec(store, sql_lock, error) ||
	    !migrate_postgresql_check(store, &version, error) ||
	    (version && version < MIGRATE_VERSION && !check_instances(store, error)))
		return false;
	while (version < MIGRATE_VERSION)
		if (!run_server_step(store, &version, error))
			return false;
	return true;
}

bool
migrate_postgresql_run(struct store *store, GError **error)
{
	int64_t version;

	return migrate_postgresql_check(store, &version, error) &&
	       (version == MIGRATE_VERSION ||
	           store_transact_rows(store, migrate, NULL, error));
}
