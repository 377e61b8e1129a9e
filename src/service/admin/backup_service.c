/*
 * backup_service.c - making and restoring backups.
 */
#include "service/admin/backup_service.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "service/log/event.h"
#include "service/people/subscribe.h"
#include "service/setup/factory.h"
#include "service/setup/startup.h"
#include "service/state/generation.h"
#include "service/state/lock.h"
#include "service/state/oauth_login.h"
#include "service/state/secret.h"
#include "store/subscriber/audit.h"
#include "store/subscriber/carry_over.h"
#include "store/subscriber/erasure.h"
#include "store/subscriber/subscribers.h"

static bool
exists(const char *path)
{
	return g_file_test(path, G_FILE_TEST_EXISTS | G_FILE_TEST_IS_SYMLINK);
}

/* ---- backup ---- */

/* A backup in the state directory would be lost with the store. */
static bool
check_place(const struct settings *settings, const char *directory, GError **error)
{
	GStatBuf place, state;

	if (g_stat(directory, &place) != 0)
		return file_set_error(
		    "cannot use the directory", directory, PB_ERROR_PERMANENT, error);
	if (g_stat(settings->state_dir, &state) != 0)
		return file_set_error("cannot use the directory", settings->state_dir,
		    PB_ERROR_PERMANENT, error);
	if (place.st_dev != state.st_dev || place.st_ino != state.st_ino)
		return true;
	return pb_fail(error, PB_ERROR_INPUT,
	    "a backup in the state directory would be lost with it: choose another "
	    "directory");
}

static bool
rename_draft(
    const char *draft, const struct backup_service_request *request, GError **error)
{
	unsigned flags = request->may_replace ? 0 : RENAME_NOREPLACE;

	if (renameat2(AT_FDCWD, draft, AT_FDCWD, request->path, flags) == 0)
		return true;
	/* The file system does not support the flag. */
	if (errno == EINVAL && !exists(request->path) &&
	    rename(draft, request->path) == 0)
		return true;
	file_set_error("cannot create", request->path, PB_ERROR_PERMANENT, error);
	g_unlink(draft);
	return false;
}

static bool
save_backup(struct store *store, void *data, GError **error)
{
	const struct backup_service_request *request = data;

	return backup_save_completed(store, request->now, error) &&
	       audit_insert(store, request->now, request->who, "backup made", 0,
	           request->path, error);
}

/* A failure is only logged, since the backup is complete. */
static void
record_backup(struct store *store, const struct backup_service_request *request)
{
	g_autoptr(GError) problem = NULL;

	if (!store_transact(store, save_backup, (void *)request, &problem))
		event_log(EVENT_BACKUP_NOT_RECORDED, EVENT_TEXT(problem->message));
}

bool
backup_service_run(const struct settings *settings, struct store *store,
    const struct backup_service_request *request, int64_t *size_bytes, GError **error)
{
	g_autofree char *directory = g_path_get_dirname(request->path);
	g_autofree char *draft =
	    g_strdup_printf("%s.new.%d", request->path, (int)getpid());
	g_autoptr(GBytes) key = NULL;
	g_autofree char *oauth = NULL;
	struct backup_plan plan = {
	    .now = request->now,
	    .progress = request->progress,
	    .data = request->data,
	};
	GStatBuf status;

	if (store_is_shared(store))
		return pb_fail(error, PB_ERROR_INPUT,
		    "the store is in a database server: run pg_dump there, and copy "
		    "the "
		    "key of the state directory, see paperboy-machines(7)");
	if (!check_place(settings, directory, error))
		return false;
	if (!request->may_replace && exists(request->path))
		return pb_fail(
		    error, PB_ERROR_INPUT, "'%s' already exists", request->path);
	key = startup_load_key(settings, store, error);
	if (!key || !oauth_login_load_file(settings->state_dir, &oauth, error))
		return false;
	plan.key = key;
	plan.oauth = oauth;
	/* Left over from a killed program with our process id. */
	file_remove_database(draft);
	if (!backup_write(store, draft, &plan, error))
		return false;
	if (g_stat(draft, &status) != 0)
		return file_set_error("cannot read", draft, PB_ERROR_PERMANENT, error);
	if (!rename_draft(draft, request, error) ||
	    !file_sync_directory(directory, PB_ERROR_PERMANENT, error))
		return false;
	record_backup(store, request);
	*size_bytes = status.st_size;
	return true;
}

/* ---- restore ---- */

/* Paths during a restore. */
struct restoring {
	char *store;
	char *log;   /* write-ahead log of the store */
	char *index; /* of the log */
	char *work;  /* temporary directory, renamed at the end */
	char *draft; /* the new store until the exchange, then the old one */
	char *old;   /* a damaged old store, with its log */
	char *key;   /* the old key */
};

static void
restoring_init(struct restoring *at, const char *state_dir)
{
	g_autofree char *name = g_strdup_printf("restore.new.%d", (int)getpid());

	at->store = g_build_filename(state_dir, "paperboy.db", NULL);
	at->log = g_strconcat(at->store, "-wal", NULL);
	at->index = g_strconcat(at->store, "-shm", NULL);
	at->work = g_build_filename(state_dir, name, NULL);
	at->draft = g_build_filename(at->work, "paperboy.db", NULL);
	at->old = g_build_filename(at->work, "damaged.db", NULL);
	at->key = g_build_filename(at->work, "key", NULL);
}

static void
restoring_clear(struct restoring *at)
{
	g_free(at->store);
	g_free(at->log);
	g_free(at->index);
	g_free(at->work);
	g_free(at->draft);
	g_free(at->old);
	g_free(at->key);
}

/* Both paths exist at any time. */
static bool
exchange(const char *one, const char *other, GError **error)
{
	g_autofree char *aside = g_strconcat(one, ".old", NULL);

	if (renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE) == 0)
		return true;
	/* The file system does not support the flag. */
	if ((errno == EINVAL || errno == ENOSYS) && link(other, aside) == 0 &&
	    rename(one, other) == 0 && rename(aside, one) == 0)
		return true;
	return file_set_error("cannot exchange", other, PB_ERROR_PERMANENT, error);
}

static bool
move(const char *from, const char *directory, const char *name, GError **error)
{
	g_autofree char *to = g_build_filename(directory, name, NULL);

	if (!exists(from) || rename(from, to) == 0)
		return true;
	return file_set_error("cannot move", from, PB_ERROR_PERMANENT, error);
}

/*
 * If the old store cannot be checkpointed, its log must be removed, or SQLite would
 * apply it to the new store.  Until the restore is complete, an empty file takes the
 * place of the store.  It is not a valid store, so no program opens the old store
 * without its log or creates a new one.
 */
static bool
move_damaged_aside(const struct restoring *at, GError **error)
{
	if (exists(at->store)) {
		int fd = g_open(at->old, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

		if (fd < 0)
			return file_set_error(
			    "cannot create", at->old, PB_ERROR_PERMANENT, error);
		close(fd);
		if (!exchange(at->old, at->store, error))
			return false;
	}
	return move(at->log, at->work, "damaged.db-wal", error) &&
	       move(at->index, at->work, "damaged.db-shm", error);
}

/*
 * Checkpoint the old store, so that one rename moves it with its log.
 *
 * @param is_sound  set on success; false for a missing or damaged store
 * @return false with PB_ERROR_TEMPORARY while it is open elsewhere
 */
static bool
checkpoint_old(const struct restoring *at, bool *is_sound, GError **error)
{
	g_autoptr(GError) problem = NULL;

	*is_sound = exists(at->store) && backup_vacuum_into(at->store, &problem) &&
	            !exists(at->log);
	if (!g_error_matches(problem, PB_ERROR, PB_ERROR_TEMPORARY))
		return true;
	return pb_error_forward(error, &problem);
}

static bool
install(const struct restoring *at, const char *state_dir, GError **error)
{
	GStatBuf status;

	if (!exists(at->store)) {
		if (rename(at->draft, at->store) != 0)
			return file_set_error(
			    "cannot move", at->draft, PB_ERROR_PERMANENT, error);
	} else if (!exchange(at->draft, at->store, error)) {
		return false;
	} else if (g_stat(at->draft, &status) == 0 && status.st_size == 0) {
		/* The empty file that move_damaged_aside() created. */
		g_unlink(at->draft);
	}
	return file_sync_directory(at->work, PB_ERROR_PERMANENT, error) &&
	       file_sync_directory(state_dir, PB_ERROR_PERMANENT, error);
}

/* Keep the old key; a restored store contains its own. */
static bool
copy_key(const struct restoring *at, const char *state_dir, GError **error)
{
	g_autofree char *path = g_build_filename(state_dir, "key", NULL);
	g_autofree char *bytes = NULL;
	g_autoptr(GBytes) key = NULL;
	gsize size;

	if (!g_file_get_contents(path, &bytes, &size, NULL))
		return true;
	key = g_bytes_new_take(g_steal_pointer(&bytes), size);
	return secret_replace_key(at->work, key, error);
}

/* @return a path that does not exist yet, a new string */
static char *
name_aside(const char *state_dir, int64_t now)
{
	g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(now);
	g_autofree char *text = g_date_time_format(time, "%Y-%m-%dT%H-%M-%SZ");

	for (unsigned i = 1;; i++) {
		g_autofree char *name =
		    i == 1 ? g_strdup_printf("before-restore-%s", text)
		           : g_strdup_printf("before-restore-%s-%u", text, i);
		char *path = g_build_filename(state_dir, name, NULL);

		if (!exists(path))
			return path;
		g_free(path);
	}
}

/* Runs before any change of the state directory. */
static void
remove_work(const struct restoring *at)
{
	g_unlink(at->draft);
	g_unlink(at->key);
	g_rmdir(at->work);
}

/* Write the key file; after a crash the next program that loads the key does. */
static bool
write_key(const struct settings *settings, GError **error)
{
	pb_auto(store) store = factory_open_store(settings, error);
	g_autoptr(GBytes) key = store ? startup_load_key(settings, store, error) : NULL;

	return key != NULL;
}

/*
 * Check whether the old store has the keys of the backup.  Newer keys of the old store
 * are added to the draft, so that hashes made since a rotation stay valid.
 */
static bool
adopt_newer_keys(struct store *draft, const char *state_dir, const char *path,
    int64_t now, bool *is_same, GError **error)
{
	pb_auto(store) old = store_open_for_reading(path, error);
	g_autoptr(GBytes) current = secret_load_key(state_dir, NULL, NULL);
	g_autoptr(GBytes) keys = NULL;
	g_autofree char *old_mac = NULL, *current_mac = NULL, *mac = NULL;
	gsize size, current_size = current ? g_bytes_get_size(current) : 0;
	const char *end;

	if (!old || !store_load_key_check(old, &old_mac, error) ||
	    !backup_load_key(draft, &keys, error))
		return false;
	mac = secret_format_mac(keys);
	current_mac = current ? secret_format_mac(current) : NULL;
	size = g_bytes_get_size(keys);
	*is_same = g_strcmp0(mac, old_mac) == 0;
	if (*is_same || current_size <= size || g_strcmp0(current_mac, old_mac) != 0)
		return true;
	end = (const char *)g_bytes_get_data(current, NULL) + current_size - size;
	*is_same = memcmp(end, g_bytes_get_data(keys, NULL), size) == 0;
	return !*is_same || (backup_save_key(draft, current, now, error) &&
	                        store_save_key_check(draft, current_mac, error));
}

static bool
erase_again(struct store *draft, struct backup_service_report *report, GError **error)
{
	g_autoptr(GArray) ids = carry_over_find_erased(draft, error);

	for (unsigned i = 0; ids && i < ids->len; i++)
		if (!erasure_delete_person(
		        draft, g_array_index(ids, int64_t, i), error))
			return false;
	if (!ids || !carry_over_erased(draft, error))
		return false;
	report->erased = ids->len;
	return true;
}

static bool
unsubscribe_again(struct store *draft, const struct backup_make *make,
    struct backup_service_report *report, GError **error)
{
	g_autoptr(GArray) ids = carry_over_find_left(draft, error);

	for (unsigned i = 0; ids && i < ids->len; i++) {
		pb_auto(subscriber) subscriber =
		    subscribers_load(draft, g_array_index(ids, int64_t, i), error);

		if (!subscriber ||
		    !subscribe_remove_now(draft, subscriber, make->now, error) ||
		    !audit_insert(draft, make->now, make->who, "subscriber removed",
		        subscriber->id, "left after the backup", error))
			return false;
	}
	if (!ids)
		return false;
	report->unsubscribed = ids->len;
	return true;
}

/* Changes carried over, in one transaction. */
struct carrying {
	const struct backup_make *make;
	struct backup_service_report *report; /* its counts are set */
};

static bool
carry_over_rows(struct store *store, void *data, GError **error)
{
	const struct carrying *carrying = data;
	struct backup_service_report *report = carrying->report;

	return carry_over_suppressions(store, &report->suppressed, error) &&
	       carry_over_feeds(store, error) && carry_over_answers(store, error) &&
	       erase_again(store, report, error) &&
	       unsubscribe_again(store, carrying->make, report, error);
}

/*
 * Consent withdrawn since the backup stays withdrawn: copy unsubscribes, suppressions,
 * erasures, ended shares and answers from the store that is replaced.
 */
static bool
carry_over(const struct restoring *at, const char *state_dir,
    const struct backup_make *make, struct backup_service_report *report,
    GError **error)
{
	pb_auto(store) draft = store_open(at->draft, error);
	struct carrying carrying = {make, report};
	bool is_same;

	if (!draft ||
	    !adopt_newer_keys(draft, state_dir, at->store, make->now, &is_same, error))
		return false;
	if (!is_same)
		return true;
	if (!carry_over_attach(draft, at->store, error) ||
	    !store_transact(draft, carry_over_rows, &carrying, error) ||
	    (report->erased && !store_erase(draft, error)))
		return false;
	report->is_carried = true;
	return true;
}

static bool
restore(const struct settings *settings, const struct restoring *at,
    struct backup_make *make, struct backup_service_report *report, GError **error)
{
	const char *state_dir = settings->state_dir;
	struct backup_restored restored;
	g_autofree char *aside = NULL;
	bool is_sound;

	make->draft = at->draft;
	if (!generation_load_file(state_dir, &make->generation, error) ||
	    !checkpoint_old(at, &is_sound, error) ||
	    (is_sound && !backup_load_replaced(at->store, make, error)) ||
	    !backup_make_store(make, &restored, error) ||
	    (is_sound && (!carry_over(at, state_dir, make, report, error) ||
	                     !backup_vacuum_into(at->draft, error) ||
	                     !file_sync(at->draft, PB_ERROR_PERMANENT, error))) ||
	    !copy_key(at, state_dir, error) ||
	    !file_sync_directory(at->work, PB_ERROR_PERMANENT, error)) {
		remove_work(at);
		return false;
	}
	/* No rollback from here on: the old files may be needed. */
	if ((!is_sound && !move_damaged_aside(at, error)) ||
	    !install(at, state_dir, error) || !write_key(settings, error))
		return false;
	aside = name_aside(state_dir, make->now);
	if (rename(at->work, aside) != 0)
		return file_set_error(
		    "cannot rename", at->work, PB_ERROR_PERMANENT, error);
	report->restored = restored;
	report->aside = g_steal_pointer(&aside);
	return file_sync_directory(state_dir, PB_ERROR_PERMANENT, error);
}

bool
backup_service_restore(const struct settings *settings, const char *path, int64_t now,
    const char *who, struct backup_service_report *report, GError **error)
{
	struct backup_make make = {.path = path, .now = now, .who = who};
	struct backup_info info;
	struct restoring at;
	bool is_ok;
	int lock = lock_take_alone(settings->state_dir, error);

	if (lock < 0)
		return false;
	restoring_init(&at, settings->state_dir);
	is_ok = backup_check(path, &info, error);
	if (is_ok && g_mkdir(at.work, 0700) != 0)
		is_ok = file_set_error(
		    "cannot create the directory", at.work, PB_ERROR_PERMANENT, error);
	is_ok = is_ok && restore(settings, &at, &make, report, error);
	restoring_clear(&at);
	close(lock);
	return is_ok;
}
