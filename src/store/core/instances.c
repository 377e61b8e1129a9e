/*
 * instances.c - the processes that work on a store, and their leases.
 */
#include "store/core/instances.h"

#include "base/error.h"
#include "store/core/record.h"

bool
instances_load_time(
    struct store *store, int64_t now, int64_t *store_now, GError **error)
{
	static const char sql[] =
	    "SELECT CAST(floor(extract(epoch FROM clock_timestamp())) AS BIGINT)";

	if (store->postgresql)
		return sql_number(store, sql, store_now, error);
	*store_now = now;
	return true;
}

bool
instances_load_standbys(
    struct store *store, struct instances_standbys *standbys, GError **error)
{
	static const char sql_gone[] = "SELECT count(*) FROM pg_replication_slots"
	                               " WHERE slot_type = 'physical' AND NOT active";
	static const char sql_behind[] =
	    "SELECT CASE WHEN pg_is_in_recovery() THEN 0 ELSE CAST((SELECT coalesce("
	    "  max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)), 0)"
	    " FROM pg_replication_slots WHERE slot_type = 'physical') AS BIGINT) END";

	*standbys = (struct instances_standbys){0};
	return !store->postgresql ||
	       (sql_number(store, sql_gone, &standbys->gone, error) &&
	           sql_number(store, sql_behind, &standbys->behind, error));
}

static bool
delete_others(struct store *store, int64_t id, GError **error)
{
	static const char sql[] = "DELETE FROM instance WHERE id <> ?1";

	return sql_exec(store, sql, error, SQL_INT(id));
}

bool
instances_insert(struct store *store, const struct instance *instance, int64_t now,
    int64_t *id, GError **error)
{
	static const char sql[] =
	    "INSERT INTO instance (name, program, started_at, expires_at)"
	    " VALUES (?1, ?2, ?3, ?4) RETURNING id";
	bool is_shared = store_is_shared(store);

	return sql_number(store, sql, id, error, SQL_TEXT(instance->name),
	           SQL_TEXT(instance->program), SQL_INT(instance->started_at),
	           is_shared ? SQL_INT(now + INSTANCES_LEASE_S) : SQL_NULL) &&
	       (is_shared || delete_others(store, *id, error));
}

bool
instances_renew(
    struct store *store, int64_t id, int64_t now, bool *is_held, GError **error)
{
	static const char sql[] = "UPDATE instance SET expires_at = ?2 WHERE id = ?1";
	unsigned count;

	if (!sql_exec_count(store, sql, &count, error, SQL_INT(id),
	        SQL_INT(now + INSTANCES_LEASE_S)))
		return false;
	*is_held = count > 0;
	return true;
}

bool
instances_lock(struct store *store, bool *is_held, GError **error)
{
	static const char sql[] =
	    "SELECT id FROM instance WHERE id = ?1" SQL_LOCK("FOR KEY SHARE");
	g_autoptr(GArray) found = NULL;

	*is_held = true;
	if (!store_is_shared(store) || !store_get_holder(store))
		return true;
	found = sql_load_numbers(store, sql, error, SQL_INT(store_get_holder(store)));
	*is_held = found && found->len;
	return found != NULL;
}

bool
instances_delete(struct store *store, int64_t id, GError **error)
{
	static const char sql[] = "DELETE FROM instance WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(id));
}

bool
instances_expire_name(struct store *store, const char *name, int64_t id, GError **error)
{
	static const char sql[] =
	    "UPDATE instance SET expires_at = 0"
	    " WHERE (name = ?1 OR expires_at IS NULL) AND id <> ?2";

	return sql_exec(store, sql, error, SQL_TEXT(name), SQL_INT(id));
}

bool
instances_delete_expired(
    struct store *store, int64_t now, unsigned *count, GError **error)
{
	static const char sql[] =
	    "DELETE FROM instance WHERE id IN (SELECT id FROM instance"
	    " WHERE expires_at <= ?1 AND id <> ?2" SQL_LOCK(
	        "FOR UPDATE SKIP LOCKED") ")";

	return sql_exec_count(
	    store, sql, count, error, SQL_INT(now), SQL_INT(store_get_holder(store)));
}

GPtrArray *
instances_load_all(struct store *store, GError **error)
{
	static const char sql[] = "SELECT id, name, program, started_at, expires_at"
	                          " FROM instance ORDER BY id";
	RECORD_LAYOUT(layout, instance, "instance", "ittnN", (), id, name, program,
	    started_at, expires_at);

	return record_load_all(store, sql, &layout, error);
}

bool
instances_check_none(struct store *store, int64_t now, GError **error)
{
	g_autoptr(GPtrArray) instances = instances_load_all(store, error);
	int64_t store_now;

	if (!instances || !instances_load_time(store, now, &store_now, error))
		return false;
	for (guint i = 0; i < instances->len; i++) {
		const struct instance *instance = instances->pdata[i];

		if (instance->expires_at > store_now)
			return pb_fail(error, PB_ERROR_TEMPORARY,
			    "paperboyd runs on %s: stop it, or wait until its lease "
			    "has ended",
			    instance->name);
	}
	return true;
}
