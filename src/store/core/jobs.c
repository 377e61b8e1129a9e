/*
 * jobs.c - work that one instance at a time does on a shared store.
 */
#include "store/core/jobs.h"

#include "base/error.h"
#include "store/core/instances.h"
#include "store/core/record.h"

static const char *const names[N_JOBS] = {
    [JOB_NONE] = "",
    [JOB_COLLECTOR] = "collector",
    [JOB_INBOX] = "inbox",
    [JOB_MATCHING] = "matching",
    [JOB_MAINTENANCE] = "maintenance",
    [JOB_IMAP] = "imap",
};

const char *
jobs_get_name(enum job job)
{
	return names[job];
}

static bool
is_held_by(struct store *store, enum job job, bool *is_held, GError **error)
{
	static const char sql[] =
	    "SELECT EXISTS (SELECT 1 FROM job WHERE name = ?1 AND holder = ?2)";

	return sql_has(
	    store, sql, is_held, error, SQL_TEXT(names[job]), SQL_INT(store->holder));
}

bool
jobs_take(struct store *store, enum job job, int64_t now, bool *is_held, GError **error)
{
	static const char sql[] =
	    "INSERT INTO job (name, holder) VALUES (?1, ?2)"
	    " ON CONFLICT (name) DO UPDATE SET holder = excluded.holder"
	    " WHERE NOT " INSTANCES_IS_LIVE("job.holder", "?3");
	unsigned count;

	if (!store->is_shared) {
		*is_held = true;
		return true;
	}
	if (!is_held_by(store, job, is_held, error))
		return false;
	if (*is_held)
		return true;
	if (!sql_exec_count(store, sql, &count, error, SQL_TEXT(names[job]),
	        SQL_INT(store->holder), SQL_INT(now)))
		return false;
	*is_held = count > 0;
	return true;
}

enum job
jobs_set(struct store *store, enum job job)
{
	enum job before = store->job;

	store->job = job;
	return before;
}

bool
jobs_check(struct store *store, GError **error)
{
	bool is_held;

	if (store->job == JOB_NONE || !store->is_shared)
		return true;
	if (!is_held_by(store, store->job, &is_held, error))
		return false;
	return is_held ||
	       pb_fail(error, PB_ERROR_TEMPORARY,
	           "another instance has taken over the job '%s'", names[store->job]);
}

GPtrArray *
jobs_load_all(struct store *store, GError **error)
{
	static const char sql[] = "SELECT name, holder FROM job ORDER BY name";
	RECORD_LAYOUT(layout, job_holder, "job", "tN", (), name, holder);

	return record_load_all(store, sql, &layout, error);
}
