/*
 * history.c - the line of commits that a database server continues.
 */
#include "store/core/history.h"

#include <stdio.h>

#include "base/error.h"
#include "store/core/sql.h"

#define CURSOR "history"

/* The cluster and the timeline. */
#define FORMAT "%" G_GINT64_FORMAT " %" G_GINT64_FORMAT

/* More than can be in lost commits. */
#define SKIPPED_IDS 1000000000

int64_t
history_get_number(const struct history *history)
{
	return history->cluster + history->timeline;
}

bool
history_is_before(const struct history *history, const struct history *other)
{
	return history->cluster == other->cluster &&
	       history->timeline < other->timeline;
}

bool
history_load_file(const char *path, struct history *history, GError **error)
{
	g_autofree char *text = NULL;
	g_autoptr(GError) problem = NULL;
	struct history found = {0};

	if (path && !g_file_get_contents(path, &text, NULL, &problem) &&
	    !g_error_matches(problem, G_FILE_ERROR, G_FILE_ERROR_NOENT))
		return pb_fail(
		    error, PB_ERROR_PERMANENT, "cannot read %s", problem->message);
	if (text && sscanf(text, FORMAT, &found.cluster, &found.timeline) != 2)
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "'%s' is damaged: remove it, if no old database server runs", path);
	*history = found;
	return true;
}

bool
history_save_file(const char *path, const struct history *history, GError **error)
{
	g_autofree char *text =
	    g_strdup_printf(FORMAT "\n", history->cluster, history->timeline);
	g_autoptr(GError) problem = NULL;

	return g_file_set_contents_full(path, text, -1,
	           G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0600,
	           &problem) ||
	       pb_fail(error, PB_ERROR_TEMPORARY, "cannot record the server: %s",
	           problem->message);
}

static bool
skip_ids(struct store *store, GError **error)
{
	static const char sql[] =
	    "SELECT setval(CAST(pg_get_serial_sequence(name, 'id') AS regclass),"
	    " nextval(CAST(pg_get_serial_sequence(name, 'id') AS regclass)) + ?1)"
	    " FROM (VALUES ('digest'), ('outbox'), ('confirmation'), ('subscriber'))"
	    " AS tables (name)";

	return sql_exec(store, sql, error, SQL_INT(SKIPPED_IDS));
}

static bool
update(struct store *store, void *data, GError **error)
{
	int64_t recorded;

	(void)data;
	if (!store_load_int64(store, CURSOR, 0, &recorded, error))
		return false;
	/* Another process may have recorded it meanwhile. */
	if (recorded == store->history)
		return true;
	return (!recorded || skip_ids(store, error)) &&
	       store_save_cursor(store, CURSOR, store->history, error);
}

bool
history_update(struct store *store, GError **error)
{
	int64_t recorded;

	return store_load_int64(store, CURSOR, 0, &recorded, error) &&
	       (recorded == store->history ||
	           store_transact(store, update, NULL, error));
}
