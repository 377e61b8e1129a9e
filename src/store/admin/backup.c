/*
 * backup.c - back up a store with its key to one file, and restore it.
 */
#include "store/admin/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/token.h"
#include "store/admin/integrity.h"
#include "store/core/record.h"
#include "store/core/sqlite.h"
#include "store/subscriber/audit.h"

/* Without the old store, ids continue from the time, which is higher than any id used.
 */
#define IDS_A_SECOND 100

/* Added to a generation by a restore: more than messages that are claimed between two
 * restores, so that the copy that was restored last is the newest. */
#define RESTORE_STEP (INT64_C(1) << 40)

static bool
make_empty(const char *path, GError **error)
{
	int fd = g_open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		return file_set_error("cannot create", path, PB_ERROR_PERMANENT, error);
	close(fd);
	return true;
}

/* The source is in a read transaction. */
static bool
copy_pages(sqlite3 *from, const char *path, backup_progress progress, void *data,
    GError **error)
{
	sqlite3 *to = NULL;
	sqlite3_backup *backup = NULL;
	int rc = sqlite3_open_v2(
	    path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

	if (rc == SQLITE_OK)
		backup = sqlite3_backup_init(to, "main", from, "main");
	if (backup) {
		do {
			rc = sqlite3_backup_step(backup, BACKUP_STEP_PAGES);
			if (progress)
				progress(data,
				    sqlite3_backup_pagecount(backup) -
				        sqlite3_backup_remaining(backup),
				    sqlite3_backup_pagecount(backup));
		} while (rc == SQLITE_OK);
		rc = sqlite3_backup_finish(backup);
	} else if (rc == SQLITE_OK) {
		rc = sqlite3_errcode(to);
	}
	if (rc != SQLITE_OK) {
		sqlite_set_error(error, to, rc, "cannot copy the store");
		g_prefix_error(error, "'%s': ", path);
	}
	sqlite3_close(to);
	return rc == SQLITE_OK;
}

static bool
copy_snapshot(struct store *store, const char *path, backup_progress progress,
    void *data, GError **error)
{
	static const char sql_begin[] = "BEGIN";
	static const char sql_read[] = "SELECT count(*) FROM sqlite_schema";
	static const char sql_end[] = "COMMIT";
	int64_t tables;
	bool is_ok;

	/* The first read takes the snapshot.  Without it the copy would restart at
	 * every commit of another process. */
	if (!sql_exec(store, sql_begin, error))
		return false;
	is_ok = sql_number(store, sql_read, &tables, error) &&
	        copy_pages(store->db, path, progress, data, error);
	return sql_exec(store, sql_end, is_ok ? error : NULL) && is_ok;
}

/* Leave one file, without a log. */
static bool
end_log(struct store *store, GError **error)
{
	static const char sql[] = "PRAGMA journal_mode = DELETE";

	return sql_exec(store, sql, error);
}

bool
backup_save_key(struct store *store, GBytes *keys, int64_t now, GError **error)
{
	static const char sql[] =
	    "INSERT INTO backup (id, made_at, key) VALUES (1, ?1, ?2) ON CONFLICT (id) "
	    "DO UPDATE SET made_at = excluded.made_at, key = excluded.key";
	gsize size;
	const guint8 *data = g_bytes_get_data(keys, &size);
	g_autoptr(GString) text = g_string_sized_new(2 * size);
	bool is_ok;

	for (gsize i = 0; i < size; i++)
		g_string_append_printf(text, "%02x", data[i]);
	is_ok = sql_exec(store, sql, error, SQL_INT(now), SQL_TEXT(text->str));
	explicit_bzero(text->str, text->len);
	return is_ok;
}

static bool
save_oauth(struct store *store, const char *oauth, GError **error)
{
	static const char sql[] = "UPDATE backup SET oauth = ?1 WHERE id = 1";

	return sql_exec(store, sql, error, SQL_TEXT(oauth));
}

bool
backup_load_oauth(struct store *store, char **oauth, GError **error)
{
	static const char sql[] = "SELECT oauth FROM backup WHERE id = 1";

	return sql_find_text(store, sql, oauth, error);
}

bool
backup_write(struct store *store, const char *path, const struct backup_plan *plan,
    GError **error)
{
	struct backup_info info;
	struct store *copy = NULL;
	bool is_ok = make_empty(path, error);

	if (!is_ok)
		return false;
	is_ok = copy_snapshot(store, path, plan->progress, plan->data, error);
	if (is_ok)
		copy = store_open(path, error);
	is_ok = copy && backup_save_key(copy, plan->key, plan->now, error) &&
	        save_oauth(copy, plan->oauth, error) && end_log(copy, error);
	store_free(copy);
	is_ok = is_ok && backup_check(path, &info, error) &&
	        file_sync(path, PB_ERROR_PERMANENT, error);
	if (!is_ok)
		file_remove_database(path);
	return is_ok;
}

/* @param info  its made_at is -1 when the store has no key: it is not a backup */
static bool
load_info(struct store *store, struct backup_info *info, GError **error)
{
	static const char sql_made[] = "SELECT max(made_at) FROM backup WHERE id = 1";
	static const char sql_people[] =
	    "SELECT count(*) FROM subscriber WHERE state <> 'gone'";
	static const char sql_unsent[] =
	    "SELECT count(*) FROM outbox WHERE ended_at IS NULL";

	return sql_number(store, sql_made, &info->made_at, error) &&
	       sql_number(store, sql_people, &info->subscribers, error) &&
	       sql_number(store, sql_unsent, &info->unsent, error);
}

bool
backup_check(const char *path, struct backup_info *info, GError **error)
{
	pb_auto(store) store = store_open_for_reading(path, error);
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
	struct backup_info found;

	if (!store)
		return false;
	if (!integrity_check_pages(store, problems, error) ||
	    !integrity_check_references(store, problems, error)) {
		g_prefix_error(error, "'%s' is damaged, use another backup: ", path);
		return false;
	}
	if (problems->len)
		return pb_fail(error, PB_ERROR_INPUT,
		    "'%s' is damaged, use another backup: %s", path,
		    (char *)problems->pdata[0]);
	if (!load_info(store, &found, error))
		return false;
	if (found.made_at < 0)
		return pb_fail(error, PB_ERROR_INPUT,
		    "'%s' is a store but not a backup: it contains no key", path);
	*info = found;
	return true;
}

GPtrArray *
backup_load_tables(struct store *store, GError **error)
{
	static const char sql[] =
	    "SELECT name, sql FROM sqlite_schema WHERE type = 'table'"
	    " AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'paper_fts*' ORDER BY "
	    "name";
	RECORD_LAYOUT(layout, backup_table, "sqlite_schema", "tt", (), name, sql);
	g_autoptr(GPtrArray) tables = record_load_all(store, sql, &layout, error);

	for (guint i = 0; tables && i < tables->len; i++) {
		struct backup_table *table = tables->pdata[i];
		g_autofree char *count =
		    g_strdup_printf("SELECT count(*) FROM \"%s\"", table->name);

		if (!sql_number(store, g_intern_string(count), &table->rows, error))
			return NULL;
	}
	return g_steal_pointer(&tables);
}

/* In the caller's transaction; see backup.h. */
static bool
hold_all(struct store *store, int64_t newest_id, int64_t now,
    struct backup_restored *restored, GError **error)
{
	/* Do not reuse ids that were used since the backup: they are in the Message-IDs
	 * of other messages. */
	static const char sql_ids[] =
	    "INSERT INTO sqlite_sequence (name, seq)"
	    " SELECT n.name, 0 FROM (SELECT 'digest' AS name UNION SELECT 'outbox'"
	    " UNION SELECT 'confirmation' UNION SELECT 'subscriber') n"
	    " WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence q WHERE q.name = n.name)";
	static const char sql_skip[] =
	    "UPDATE sqlite_sequence SET seq = max(seq, ?1)"
	    " WHERE name IN ('digest', 'outbox', 'confirmation', 'subscriber')";
	static const char sql_unsent[] =
	    "UPDATE outbox SET held_why = 'restore', next_try_at = NULL,"
	    " held_from = CASE state WHEN 'SENDING' THEN 'UNKNOWN' WHEN 'HELD'"
	    "  THEN held_from ELSE state END, state = 'HELD'"
	    " WHERE ended_at IS NULL";
	/* Also of paused subscribers, who may have been active since. */
	static const char sql_passed[] =
	    "UPDATE subscriber SET is_next_held = 1 WHERE state <> 'gone'"
	    " AND (next_due_at IS NULL OR next_due_at <= ?1)";
	/* Let the collector fetch all days again, before digests are released. */
	static const char sql_fetched[] =
	    "DELETE FROM cursor WHERE name = 'restore requested'"
	    " OR name GLOB '* old days' OR name GLOB '* pause*'";
	/* Confirmations may have been used since the backup. */
	static const char sql_waiting[] =
	    "SELECT count(*) FROM confirmation WHERE used_at IS NULL";
	static const char sql_confirmations[] = "DELETE FROM confirmation";
	/* Messages that are new in the backup have probably been handled since. */
	static const char sql_inbox[] =
	    "UPDATE inbox SET state = 'quarantined', next_try_at = NULL,"
	    " ended_at = ?1, verdict = 'may have been handled since the backup'"
	    " WHERE state = 'new'";
	static const char sql_people[] = "SELECT count(*) FROM subscriber"
	                                 " WHERE is_next_held = 1 AND state = 'active'";

	return sql_exec(store, sql_ids, error) &&
	       sql_exec(store, sql_skip, error,
	           SQL_INT(newest_id < 0 ? now * IDS_A_SECOND : newest_id)) &&
	       sql_exec_count(store, sql_unsent, &restored->held, error) &&
	       sql_exec(store, sql_passed, error, SQL_INT(now)) &&
	       sql_exec(store, sql_fetched, error) &&
	       sql_number(store, sql_waiting, &restored->confirmations, error) &&
	       sql_exec(store, sql_confirmations, error) &&
	       sql_exec_count(
	           store, sql_inbox, &restored->messages, error, SQL_INT(now)) &&
	       sql_number(store, sql_people, &restored->people, error) &&
	       store_save_cursor(store, "restored at", now, error) &&
	       store_save_cursor(store, "restored from", restored->made_at, error);
}

/* ---- generations ---- */

bool
backup_load_generation(
    struct store *store, struct backup_generation *generation, GError **error)
{
	return store_load_int64(store, "generation", 0, &generation->own, error) &&
	       store_load_int64(
	           store, "newest generation", 0, &generation->newest, error);
}

bool
backup_load_file_generation(const char *path, int64_t *generation, GError **error)
{
	pb_auto(store) store = store_open_for_reading(path, error);

	return store && store_load_int64(store, "generation", 0, generation, error);
}

bool
backup_announce(struct store *store, int64_t generation, GError **error)
{
	struct backup_generation known;

	return backup_load_generation(store, &known, error) &&
	       (generation <= MAX(known.own, known.newest) ||
	           store_save_cursor(store, "newest generation", generation, error));
}

bool
backup_is_superseded(struct store *store, bool *is_superseded, GError **error)
{
	struct backup_generation generation;

	*is_superseded = false;
	if (store_is_shared(store))
		return true;
	if (!backup_load_generation(store, &generation, error))
		return false;
	*is_superseded = generation.newest > generation.own;
	return true;
}

bool
backup_supersede(struct store *store, int64_t known, GError **error)
{
	struct backup_generation generation;

	if (!backup_load_generation(store, &generation, error))
		return false;
	known = MAX(known, MAX(generation.own, generation.newest));
	return store_save_cursor(
	    store, "generation", (known / RESTORE_STEP + 1) * RESTORE_STEP, error);
}

bool
backup_load_replaced(const char *path, struct backup_make *make, GError **error)
{
	static const char sql[] =
	    "SELECT coalesce(max(seq), 0) FROM sqlite_sequence"
	    " WHERE name IN ('digest', 'outbox', 'confirmation', 'subscriber')";
	pb_auto(store) store = store_open_for_reading(path, error);

	return store && sql_number(store, sql, &make->newest_id, error) &&
	       backup_load_generation(store, &make->replaced, error);
}

/* ---- restore ---- */

/* A store that is being made. */
struct making {
	const struct backup_make *make;
	struct backup_restored restored; /* set */
};

static bool
hold_restored(struct store *store, void *data, GError **error)
{
	static const char sql_made[] = "SELECT made_at FROM backup WHERE id = 1";
	struct making *making = data;
	const struct backup_make *make = making->make;
	struct backup_restored *restored = &making->restored;
	struct backup_generation backup;
	const struct backup_generation *replaced = &make->replaced;
	int64_t known = MAX(make->generation, MAX(replaced->own, replaced->newest));

	return sql_number(store, sql_made, &restored->made_at, error) &&
	       backup_load_generation(store, &backup, error) &&
	       hold_all(store, replaced->own > backup.own ? make->newest_id : -1,
	           make->now, restored, error) &&
	       store_save_cursor(store, "backup made", restored->made_at, error) &&
	       backup_supersede(store, known, error) &&
	       audit_insert(store, make->now, make->who, "backup restored", 0,
	           make->path, error);
}

bool
backup_hold_stale(struct store *store, int64_t generation, int64_t now,
    struct backup_restored *held, GError **error)
{
	struct backup_restored found = {.made_at = -1};

	if (!hold_all(store, -1, now, &found, error) ||
	    !store_save_cursor(store, "generation", generation, error) ||
	    !audit_insert(store, now, "paperboy", "mail held", 0,
	        "the database is older than the mail that was sent", error))
		return false;
	*held = found;
	return true;
}

bool
backup_make_store(
    const struct backup_make *make, struct backup_restored *restored, GError **error)
{
	pb_auto(store) from = store_open_for_reading(make->path, error);
	struct making making = {.make = make};
	struct store *store = NULL;
	bool is_ok;

	if (!from || !make_empty(make->draft, error))
		return false;
	if (copy_snapshot(from, make->draft, NULL, NULL, error))
		store = store_open(make->draft, error);
	is_ok = store && store_transact(store, hold_restored, &making, error) &&
	        end_log(store, error);
	store_free(store);
	is_ok = is_ok && file_sync(make->draft, PB_ERROR_PERMANENT, error);
	if (is_ok)
		*restored = making.restored;
	else
		file_remove_database(make->draft);
	return is_ok;
}

bool
backup_vacuum_into(const char *path, GError **error)
{
	pb_auto(store) store = store_open(path, error);

	return store && end_log(store, error);
}

bool
backup_load_key(struct store *store, GBytes **key, GError **error)
{
	static const char sql[] = "SELECT key FROM backup WHERE id = 1";
	sql_auto *statement = sql_bind(store, sql, error);
	g_autofree char *text = NULL;
	g_autofree guint8 *bytes = NULL;
	gsize size;
	bool is_hex;

	*key = NULL;
	if (!statement)
		return false;
	switch (record_next(statement, "backup", "t", error)) {
	case SQL_STEP_FAILED:
		return false;
	case SQL_STEP_DONE:
		return true;
	case SQL_STEP_ROW:
		break;
	}
	text = sql_dup_text(statement, 0);
	size = strlen(text) / 2;
	/* Else the key file would be replaced by it. */
	is_hex = size && strlen(text) % (2 * TOKEN_KEY_BYTES) == 0;
	bytes = g_malloc(size);
	for (gsize i = 0; i < size && is_hex; i++) {
		int high = g_ascii_xdigit_value(text[2 * i]);
		int low = g_ascii_xdigit_value(text[2 * i + 1]);

		is_hex = high >= 0 && low >= 0;
		bytes[i] = (guint8)(high << 4 | low);
	}
	if (!is_hex)
		return pb_fail(
		    error, PB_ERROR_DAMAGED, "the key in the backup is damaged");
	*key = g_bytes_new(bytes, size);
	explicit_bzero(bytes, size);
	return true;
}

bool
backup_delete_key(struct store *store, GError **error)
{
	static const char sql[] = "DELETE FROM backup";

	return sql_exec(store, sql, error);
}

bool
backup_load_restored_from(
    struct store *store, struct backup_restored_from *previous, GError **error)
{
	struct backup_restored_from found;

	if (!store_load_cursor(store, "restored at", -1, &found.restored_at, error) ||
	    !store_load_cursor(store, "restored from", -1, &found.made_at, error) ||
	    !store_load_cursor(store, "backup made", -1, &found.last_made_at, error) ||
	    !store_load_cursor(
	        store, "restore requested", -1, &found.fetched_at, error) ||
	    !store_load_count(store, "next held", &found.people, error))
		return false;
	*previous = found;
	return true;
}

bool
backup_save_completed(struct store *store, int64_t now, GError **error)
{
	return store_save_cursor(store, "backup made", now, error);
}

bool
backup_save_requested(struct store *store, int64_t now, GError **error)
{
	return store_save_cursor(store, "restore requested", now, error);
}

bool
backup_is_next_held(
    struct store *store, int64_t subscriber_id, bool *is_held, GError **error)
{
	static const char sql[] = "SELECT is_next_held FROM subscriber WHERE id = ?1";
	int64_t found;

	if (!sql_number(store, sql, &found, error, SQL_INT(subscriber_id)))
		return false;
	*is_held = found == 1;
	return true;
}

bool
backup_clear_next_held(struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql[] =
	    "UPDATE subscriber SET is_next_held = 0 WHERE id = ?1";

	return sql_exec(store, sql, error, SQL_INT(subscriber_id));
}

bool
backup_hold_on_next_start(struct store *store, GError **error)
{
	static const char sql[] =
	    "UPDATE subscriber SET is_next_held = 1 WHERE state <> 'gone'";

	return sql_exec(store, sql, error);
}
