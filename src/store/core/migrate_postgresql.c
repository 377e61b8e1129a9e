/*
 * migrate_postgresql.c - the version of the schema in PostgreSQL, and migrations.
 */
#include "store/core/migrate_postgresql.h"

#include <gio/gio.h>

#include "base/error.h"
#include "store/core/migrate.h"
#include "store/core/migrations.h"
#include "store/core/sql.h"
#include "store/core/transaction.h"

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
	if (found &&
	    (!store_load_int64(store, MIGRATE_SCHEMA_CURSOR, 0, &schema_hash, error) ||
	        !migrate_check_version(found, schema_hash, "the database", error)))
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
	           store, MIGRATE_SCHEMA_CURSOR, migrate_get_schema_hash(), error);
}

/* @param version  in and out */
static bool
run_step(struct store *store, int64_t *version, GError **error)
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
		if (!run_step(store, &version, error))
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
