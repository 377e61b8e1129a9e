/*
 * ctl_backup.c - the commands backup, upgrade, restore, generation, key rotate, key
 * restore and store copy.
 */
#include <gio/gio.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/file.h"
#include "base/random.h"
#include "base/token.h"
#include "config/settings.h"
#include "ctl/ctl.h"
#include "ctl/print.h"
#include "service/admin/backup_service.h"
#include "service/health/health.h"
#include "service/setup/startup.h"
#include "service/state/lock.h"
#include "service/state/secret.h"
#include "store/admin/backup.h"
#include "store/admin/store_copy.h"
#include "store/core/instances.h"
#include "store/core/store.h"
#include "store/mail/outbox.h"
#include "store/paper/archive.h"
#include "store/subscriber/audit.h"
#include "store/subscriber/suppression.h"

/* ---- backup ---- */

/* @param data  the percentage that is shown */
static void
show_pages(void *data, int done_pages, int all_pages)
{
	int *shown = data,
	    percent = all_pages ? (int)(100.0 * done_pages / all_pages) : 0;

	if (percent != *shown)
		print_progress("copying ... %d %% ", *shown = percent);
}

static void
remove_tree(const char *path)
{
	GDir *directory = g_dir_open(path, 0, NULL);

	for (const char *name; directory && (name = g_dir_read_name(directory));) {
		g_autofree char *entry = g_build_filename(path, name, NULL);

		remove_tree(entry);
	}
	if (directory)
		g_dir_close(directory);
	remove(path);
}

/* @return the problems of a state directory, without those of the service */
static GPtrArray *
find_damage(const struct settings *settings, int64_t now)
{
	const struct status_daemon daemon = STATUS_DAEMON_NONE;
	const struct health_options options = {
	    .settings = settings, .daemon = &daemon, .now = now};
	GPtrArray *findings = health_examine(&options);

	for (unsigned i = findings->len; i-- > 0;) {
		const struct health_finding *finding = findings->pdata[i];

		if (!finding->action || !finding->check ||
		    finding->check->severity != HEALTH_DAMAGE)
			g_ptr_array_remove_index(findings, i);
	}
	return findings;
}

/* Examine the restored or upgraded store in a directory as `doctor` does. */
static bool
check_undamaged(const struct ctl *ctl, const struct settings *settings, GError **error)
{
	g_autoptr(GPtrArray) damage = find_damage(settings, clock_get_now(&ctl->clock));

	for (unsigned i = 0; i < damage->len; i++) {
		const struct health_finding *finding = damage->pdata[i];

		fprintf(stderr, "%s: %s\n", finding->name, finding->text);
	}
	return !damage->len ||
	       pb_fail(error, PB_ERROR_INPUT,
	           "'%s' can be read, but is damaged: make a new backup", ctl->argv[1]);
}

static bool
verify(struct ctl *ctl, const struct settings *settings, GError **error)
{
	const char *path = ctl->argv[1];
	struct backup_service_report report = {0};
	struct backup_info info;
	g_autofree char *made = NULL;

	if (!backup_check(path, &info, error) ||
	    !backup_service_restore(
	        settings, path, clock_get_now(&ctl->clock), ctl->who, &report, error))
		return false;
	remove_tree(report.aside);
	g_free(report.aside);
	if (!check_undamaged(ctl, settings, error))
		return false;
	made = day_format_minute(info.made_at);
	return print_result(ctl,
	    json_pack("{s:s, s:I, s:I}", "verified", path, "made_at",
	        (json_int_t)info.made_at, "subscribers", (json_int_t)info.subscribers),
	    "%s can be restored: the state of %s, with %" G_GINT64_FORMAT
	    " subscribers\n",
	    path, made, info.subscribers);
}

/* Work with a state directory that is made for it beside the file, where there is room
 * for a file of its size, and removed. */
static bool
work_beside(struct ctl *ctl,
    bool (*work)(struct ctl *ctl, const struct settings *settings, GError **error),
    GError **error)
{
	g_autofree char *directory = g_strconcat(ctl->argv[1], ".XXXXXX", NULL);
	struct settings settings = *ctl->settings;
	bool is_ok;

	if (!g_mkdtemp(directory))
		return file_set_error("cannot create the directory", directory,
		    PB_ERROR_PERMANENT, error);
	settings.state_dir = directory;
	settings.store_url = (char *)"";
	print_progress("restoring into %s ... ", directory);
	is_ok = work(ctl, &settings, error);
	print_progress_end();
	remove_tree(directory);
	return is_ok;
}

bool
ctl_run_backup(struct ctl *ctl, GError **error)
{
	int percent = 0;
	struct backup_service_request request = {
	    .now = clock_get_now(&ctl->clock),
	    .who = ctl->who,
	    .progress = show_pages,
	    .data = &percent,
	};
	g_autofree char *size = NULL;
	int64_t bytes;
	bool is_ok;

	if (ctl->options.is_verify)
		return work_beside(ctl, verify, error);
	request.path = ctl->argv[1];
	request.may_replace = g_file_test(request.path, G_FILE_TEST_IS_REGULAR);
	if (!ctl_confirm_replace(ctl, request.path, error)) {
		if (request.may_replace)
			g_prefix_error(error, "'%s' exists: ", request.path);
		return false;
	}
	is_ok = backup_service_run(ctl->settings, ctl->store, &request, &bytes, error);
	print_progress_end();
	if (!is_ok)
		return false;
	size = g_format_size((guint64)bytes);
	return print_result(ctl,
	    json_pack("{s:s, s:I}", "backup", request.path, "bytes", (json_int_t)bytes),
	    "%s written and verified: %s, including the secret key\n", request.path,
	    size);
}

/* ---- upgrade ---- */

/* A copy of a backup that is upgraded. */
struct upgrade {
	struct backup_info info;
	int from, to;              /* versions of the store */
	GPtrArray *before, *after; /* of struct backup_table *, by name */
	int64_t upgrade_ms, check_ms;
};

static void
upgrade_clear(struct upgrade *upgrade)
{
	g_clear_pointer(&upgrade->before, g_ptr_array_unref);
	g_clear_pointer(&upgrade->after, g_ptr_array_unref);
}

static int64_t
get_ms_since(int64_t start_us)
{
	return (g_get_monotonic_time() - start_us) / 1000;
}

/* Opening the copy upgrades it, as paperboyd does when it starts. */
static bool
upgrade_copy(struct upgrade *upgrade, const struct settings *settings, GError **error)
{
	g_autofree char *path =
	    g_build_filename(settings->state_dir, "paperboy.db", NULL);
	pb_auto(store) old = store_open_for_reading(path, error);
	pb_auto(store) store = NULL;
	g_autoptr(GBytes) key = NULL;
	int64_t start_us;

	if (!old || !store_get_data_version(old, &upgrade->from, &upgrade->to, error) ||
	    !(upgrade->before = backup_load_tables(old, error)))
		return false;
	start_us = g_get_monotonic_time();
	store = store_open(path, error);
	upgrade->upgrade_ms = get_ms_since(start_us);
	if (!store || !(upgrade->after = backup_load_tables(store, error)))
		return false;
	/* Write the key to its file, for the checks. */
	key = startup_load_key(settings, store, error);
	return key != NULL;
}

static const struct backup_table *
find_table(const GPtrArray *tables, const char *name)
{
	for (unsigned i = 0; i < tables->len; i++) {
		const struct backup_table *table = tables->pdata[i];

		if (g_str_equal(table->name, name))
			return table;
	}
	return NULL;
}

static void
add_change(json_t *changes, const struct backup_table *before,
    const struct backup_table *after)
{
	bool is_same = before && after && before->rows == after->rows &&
	               g_str_equal(before->sql, after->sql);

	if (!is_same)
		json_array_append_new(changes,
		    json_pack("{s:s, s:o, s:o}", "table",
		        before ? before->name : after->name, "rows_before",
		        print_json_number(before ? before->rows : -1), "rows_after",
		        print_json_number(after ? after->rows : -1)));
}

/* @return a new list: tables that are made, removed or changed */
static json_t *
list_changes(const struct upgrade *upgrade)
{
	json_t *changes = json_array();

	for (unsigned i = 0; i < upgrade->before->len; i++) {
		const struct backup_table *table = upgrade->before->pdata[i];

		add_change(changes, table, find_table(upgrade->after, table->name));
	}
	for (unsigned i = 0; i < upgrade->after->len; i++) {
		const struct backup_table *table = upgrade->after->pdata[i];

		if (!find_table(upgrade->before, table->name))
			add_change(changes, NULL, table);
	}
	return changes;
}

static void
print_upgrade(const struct ctl *ctl, const struct upgrade *upgrade, json_t *changes)
{
	const char *path = ctl->argv[1];
	g_autofree char *made = day_format_minute(upgrade->info.made_at);
	json_t *change;
	size_t i;

	printf("%s can be upgraded: the state of %s, subscribers: %" G_GINT64_FORMAT
	       "\n"
	       "  store version  %d, and %d in paperboy " PACKAGE_VERSION "\n",
	    path, made, upgrade->info.subscribers, upgrade->from, upgrade->to);
	if (!json_array_size(changes))
		puts("  tables         none is changed");
	json_array_foreach(changes, i, change)
	{
		json_t *rows = json_object_get(change, "rows_after");

		printf("  table          %s: ",
		    json_string_value(json_object_get(change, "table")));
		if (json_is_null(rows))
			puts("removed");
		else
			printf("%s, %" JSON_INTEGER_FORMAT " rows\n",
			    json_is_null(json_object_get(change, "rows_before"))
			        ? "new"
			        : "changed",
			    json_integer_value(rows));
	}
	printf("  time           %.1f s to upgrade, %.1f s to check\n"
	       "To upgrade: make a backup, stop paperboyd, install "
	       "paperboy " PACKAGE_VERSION ", start\n"
	       "paperboyd, which upgrades the store. To go back: stop paperboyd, "
	       "install the\n"
	       "version before, and run paperboyctl restore with that backup. What has "
	       "changed\n"
	       "since, such as unsubscriptions, is then lost; mail is HELD.\n",
	    (double)upgrade->upgrade_ms / 1000, (double)upgrade->check_ms / 1000);
}

/* @param settings  of the directory for the copy */
static bool
try_upgrade(struct ctl *ctl, const struct settings *settings, GError **error)
{
	pb_local(upgrade) upgrade = {0};
	g_autofree char *copy =
	    g_build_filename(settings->state_dir, "paperboy.db", NULL);
	g_autoptr(GFile) from = g_file_new_for_path(ctl->argv[1]);
	g_autoptr(GFile) to = g_file_new_for_path(copy);
	int64_t start_us;
	json_t *changes;

	if (!backup_check(ctl->argv[1], &upgrade.info, error) ||
	    !g_file_copy(
	        from, to, G_FILE_COPY_TARGET_DEFAULT_PERMS, NULL, NULL, NULL, error) ||
	    !upgrade_copy(&upgrade, settings, error))
		return false;
	start_us = g_get_monotonic_time();
	if (!check_undamaged(ctl, settings, error))
		return false;
	upgrade.check_ms = get_ms_since(start_us);
	changes = list_changes(&upgrade);
	if (ctl->is_json)
		print_json(json_pack("{s:s, s:I, s:I, s:i, s:i, s:I, s:I, s:O}",
		    "backup", ctl->argv[1], "made_at", (json_int_t)upgrade.info.made_at,
		    "subscribers", (json_int_t)upgrade.info.subscribers, "version_from",
		    upgrade.from, "version_to", upgrade.to, "upgrade_ms",
		    (json_int_t)upgrade.upgrade_ms, "check_ms",
		    (json_int_t)upgrade.check_ms, "changes", changes));
	else
		print_upgrade(ctl, &upgrade, changes);
	json_decref(changes);
	return true;
}

bool
ctl_run_upgrade(struct ctl *ctl, GError **error)
{
	if (!ctl->options.is_dry_run)
		return pb_fail(error, PB_ERROR_INPUT,
		    "paperboyd upgrades the store when it starts: make a backup, and "
		    "try the upgrade of it with --dry-run");
	if (store_is_server(ctl->argv[1]))
		return pb_fail(error, PB_ERROR_INPUT,
		    "'%s' is not a file: restore a dump into another database, and "
		    "open that with this version",
		    ctl->argv[1]);
	if (work_beside(ctl, try_upgrade, error))
		return true;
	g_prefix_error(error, "nothing was changed: ");
	return false;
}

/* ---- restore ---- */

static void
print_restored(struct ctl *ctl, const struct backup_service_report *report)
{
	const struct backup_restored *restored = &report->restored;
	g_autofree char *made = day_format_minute(restored->made_at);

	if (ctl->is_json) {
		print_json(json_pack("{s:I, s:I, s:I, s:I, s:I, s:s, s:b, s:i, s:i,"
		                     " s:i}",
		    "made_at", (json_int_t)restored->made_at, "held",
		    (json_int_t)restored->held, "people", (json_int_t)restored->people,
		    "confirmations", (json_int_t)restored->confirmations, "messages",
		    (json_int_t)restored->messages, "aside", report->aside, "carried",
		    report->is_carried, "unsubscribed", (int)report->unsubscribed,
		    "suppressed", (int)report->suppressed, "erased",
		    (int)report->erased));
		return;
	}
	printf("Restored the state of %s.\n"
	       "The previous store is in %s.\n",
	    made, report->aside);
	if (restored->held || restored->people)
		printf(
		    "Mail that may have been sent since is held:\n"
		    "  %u %s HELD now, and so will be the next "
		    "digests\n"
		    "  of %" G_GINT64_FORMAT " %s, once paperboyd runs and has "
		    "polled the sources.\n"
		    "See paperboyctl queue list --state HELD, and then\n"
		    "  paperboyctl queue release ID...|all           to send them\n"
		    "  paperboyctl queue drop --delivered ID...|all  if they have "
		    "arrived\n"
		    "  paperboyctl queue drop ID...|all              to put their "
		    "papers into\n"
		    "                                                the next digest\n",
		    restored->held, restored->held == 1 ? "message is" : "messages are",
		    restored->people,
		    restored->people == 1 ? "subscriber" : "subscribers");
	if (restored->messages)
		printf("Mail that may have been processed since is quarantined:\n"
		       "  messages: %u (paperboyctl inbox list; inbox retry, or inbox "
		       "drop)\n",
		    restored->messages);
	if (restored->confirmations)
		printf("Pending confirmations are revoked, since they may have been "
		       "used:\n"
		       "  confirmations: %" G_GINT64_FORMAT
		       " (to confirm or undo, users must write again)\n",
		    restored->confirmations);
	if (report->is_carried)
		printf("Carried over from the previous store: %u unsubscribed, "
		       "%u suppressed, %u erased.\n"
		       "New subscribers and changed filters are not carried over; "
		       "compare them there.\n",
		    report->unsubscribed, report->suppressed, report->erased);
	else
		puts("Nothing is carried over: the previous store is missing, damaged "
		     "or has another\n"
		     "key. Unsubscribes, suppressions and erasures since the backup "
		     "are lost.");
}

/* Check the store, and for a running daemon, before asking the operator. */
static bool
check_replaceable(struct ctl *ctl, GError **error)
{
	int lock;

	if (*ctl->settings->store_url)
		return pb_fail(error, PB_ERROR_INPUT,
		    "the store is in a database server: restore a dump there, see "
		    "paperboy-machines(7)");
	lock = lock_take_alone(ctl->settings->state_dir, error);
	if (lock < 0)
		return false;
	close(lock);
	return true;
}

bool
ctl_run_restore(struct ctl *ctl, GError **error)
{
	struct backup_service_report report = {0};
	struct backup_info info;
	g_autofree char *made = NULL, *question = NULL;
	bool is_ok;

	print_progress("checking the backup ... ");
	is_ok =
	    check_replaceable(ctl, error) && backup_check(ctl->argv[1], &info, error);
	print_progress_end();
	if (!is_ok)
		return false;
	made = day_format_minute(info.made_at);
	question =
	    g_strdup_printf("Go back to %s, with %" G_GINT64_FORMAT
	                    " subscribers and %" G_GINT64_FORMAT " unsent messages",
	        made, info.subscribers, info.unsent);
	if (!ctl_confirm(ctl, question, error))
		return false;
	print_progress("restoring ... ");
	is_ok = backup_service_restore(ctl->settings, ctl->argv[1],
	    clock_get_now(&ctl->clock), ctl->who, &report, error);
	print_progress_end();
	if (!is_ok)
		return false;
	print_restored(ctl, &report);
	g_free(report.aside);
	return true;
}

/* ---- generation ---- */

/* @param other  a number or the path of a backup */
static bool
announce(struct store *store, const char *other, GError **error)
{
	guint64 generation;
	int64_t value;

	if (g_ascii_string_to_unsigned(
	        other, 10, 0, BACKUP_GENERATION_MAX, &generation, NULL))
		value = (int64_t)generation;
	else if (!backup_load_file_generation(other, &value, error))
		return false;
	return backup_announce(store, value, error);
}

bool
ctl_run_generation(struct ctl *ctl, GError **error)
{
	struct backup_generation generation;

	if (store_is_shared(ctl->store))
		return pb_fail(error, PB_ERROR_INPUT,
		    "the store is in a database server: it has no generation");
	if ((ctl->argc > 1 && !announce(ctl->store, ctl->argv[1], error)) ||
	    (ctl->options.is_newest && !backup_supersede(ctl->store, 0, error)) ||
	    !backup_load_generation(ctl->store, &generation, error))
		return false;
	print_result(ctl,
	    json_pack("{s:I, s:I}", "own", (json_int_t)generation.own, "newest",
	        (json_int_t)generation.newest),
	    "%" G_GINT64_FORMAT "\n", generation.own);
	if (generation.newest > generation.own)
		fputs("another machine has a newer copy of the store: nothing is sent "
		      "here\n",
		    stderr);
	return true;
}

/* ---- key ---- */

/* @return the new key followed by the old ones, or NULL */
static GBytes *
make_keys(GBytes *old, GError **error)
{
	g_autoptr(GByteArray) keys = g_byte_array_new();
	guint8 fresh[TOKEN_KEY_BYTES];

	if (old && token_count_keys(old) >= BOUNDS_KEYS) {
		pb_fail(error, PB_ERROR_LIMIT, "limit of %d keys reached", BOUNDS_KEYS);
		return NULL;
	}
	random_system.fill(random_system.data, fresh, sizeof(fresh));
	g_byte_array_append(keys, fresh, sizeof(fresh));
	if (old)
		g_byte_array_append(
		    keys, g_bytes_get_data(old, NULL), (guint)g_bytes_get_size(old));
	return g_byte_array_free_to_bytes(g_steal_pointer(&keys));
}

/* Refuse a rotation while messages are in doubt: composed again with another key, they
 * would get another Message-ID and arrive twice. */
static bool
check_doubt(struct store *store, GError **error)
{
	int64_t count;

	if (!outbox_count_in_doubt(store, &count, error))
		return false;
	if (!count)
		return true;
	return pb_fail(error, PB_ERROR_INPUT,
	    "%" G_GINT64_FORMAT
	    " %s may have arrived and will be sent again: rotate the "
	    "key later, or end %s (paperboyctl queue drop --delivered)",
	    count, count == 1 ? "message" : "messages", count == 1 ? "it" : "them");
}

/* A rotation; without the old key if that is lost. */
struct rotation {
	const struct ctl *ctl;
	GBytes *keys;
	int64_t suppressed; /* set: addresses that the keys no longer match */
};

static bool
save_keys(struct store *store, void *data, GError **error)
{
	struct rotation *rotation = data;
	const struct ctl *ctl = rotation->ctl;
	int64_t now = clock_get_now(&ctl->clock);
	g_autofree char *mac = secret_format_mac(rotation->keys);

	return instances_check_none(store, now, error) && check_doubt(store, error) &&
	       (!ctl->options.is_lost ||
	           suppression_count(store, &rotation->suppressed, error)) &&
	       backup_save_key(store, rotation->keys, now, error) &&
	       store_save_key_check(store, mac, error) &&
	       audit_insert(store, now, ctl->who,
	           ctl->options.is_lost ? "key replaced" : "key rotated", 0, NULL,
	           error);
}

/* Put a new key in front of the keys in use.  Tokens of the old keys stay valid, and
 * suppressed addresses stay suppressed. */
static bool
rotate(struct rotation *rotation, struct ctl *ctl, GError **error)
{
	GBytes *old = ctl->options.is_lost ? NULL : ctl_get_key(ctl, error);
	g_autoptr(GBytes) keys = NULL, loaded = NULL;

	if (!ctl->options.is_lost && !old)
		return false;
	rotation->keys = keys = make_keys(old, error);
	if (!keys || !store_transact(ctl->store, save_keys, rotation, error))
		return false;
	/* It is written to its file when it is loaded. */
	loaded = startup_load_key(ctl->settings, ctl->store, error);
	return loaded != NULL;
}

bool
ctl_run_key_rotate(struct ctl *ctl, GError **error)
{
	struct rotation rotation = {.ctl = ctl};
	int64_t suppressed;

	if (!ctl_confirm(ctl,
	        ctl->options.is_lost
	            ? "Create a new key, and void the links in mail already sent"
	            : "Create a new key, and keep the old one for mail already sent",
	        error) ||
	    !rotate(&rotation, ctl, error))
		return false;
	suppressed = rotation.suppressed;
	if (ctl->is_json) {
		print_json(json_pack("{s:b, s:I}", "rotated", 1,
		    "suppressions_without_effect", (json_int_t)suppressed));
		return true;
	}
	puts("New key created. Make a backup: older backups have only the old key.");
	if (*ctl->settings->store_url)
		printf("Copy %s/key to the other machines: paperboyd does not start "
		       "there without it.\n",
		    ctl->settings->state_dir);
	if (suppressed)
		printf("%" G_GINT64_FORMAT
		       " suppressed %s can no longer be recognised: suppress "
		       "%s again.\n",
		    suppressed, suppressed == 1 ? "address" : "addresses",
		    suppressed == 1 ? "it" : "them");
	return true;
}

/* Replace the key file by the keys of a backup; the store is not changed. */
static bool
restore_key(const struct ctl *ctl, const char *path, GError **error)
{
	pb_auto(store) backup = store_open_for_reading(path, error);
	g_autofree char *mac = NULL;
	g_autofree char *wanted = NULL;
	g_autoptr(GBytes) keys = NULL;

	if (!backup || !backup_load_key(backup, &keys, error) ||
	    !store_load_key_check(ctl->store, &wanted, error))
		return false;
	if (!keys)
		return pb_fail(error, PB_ERROR_INPUT,
		    "'%s' is a store, but not a backup: it does not contain the key",
		    path);
	mac = secret_format_mac(keys);
	if (g_strcmp0(mac, wanted) != 0)
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "'%s' has the key of another store, or one from before a rotation",
		    path);
	return secret_replace_key(ctl->settings->state_dir, keys, error);
}

bool
ctl_run_key_restore(struct ctl *ctl, GError **error)
{
	return restore_key(ctl, ctl->argv[1], error) &&
	       print_result(ctl, json_pack("{s:s}", "restored", ctl->argv[1]),
	           "Key restored from %s.\n", ctl->argv[1]);
}

/* ---- store copy: between SQLite and PostgreSQL, while nothing uses the stores ---- */

struct copying {
	const struct ctl *ctl;
	const char *from_name, *to_name; /* paths of files, or URLs of servers */
	struct store *from;
	GPtrArray *tables; /* set: of struct store_copy_table * */
};

static void
show_rows(void *data, const char *doing, const char *table, int64_t count)
{
	(void)data;
	print_progress("%s %s%s%" G_GINT64_FORMAT " ... ", doing, table ? table : "",
	    table ? ": row " : "", count);
}

/* The configured password is that of the configured URL. */
static struct store *
open_store(const struct ctl *ctl, const char *name, bool is_read_only, GError **error)
{
	const char *file = ctl->settings->store_password_file;
	struct store_server server = {.url = name, .is_read_only = is_read_only};
	g_autofree char *password = NULL;

	if (!store_is_server(name))
		return is_read_only ? store_open_for_reading(name, error)
		                    : store_open(name, error);
	if (*file && strcmp(name, ctl->settings->store_url) == 0) {
		password = settings_load_secret(
		    file, g_getenv("CREDENTIALS_DIRECTORY"), error);
		if (!password) {
			g_prefix_error(error, "store.password_file: ");
			return NULL;
		}
	}
	server.password = password;
	return store_open_server(&server, error);
}

static bool
check_source(const struct copying *copying, GError **error)
{
	const char *name = copying->from_name;
	int version, ours;

	if (!store_get_data_version(copying->from, &version, &ours, error))
		return false;
	if (version != ours)
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "'%s' has store version %d instead of %d: start this paperboyd "
		    "with it first",
		    name, version, ours);
	/* Of a file, the lock of its directory shows that they have ended. */
	return store_copy_check(copying->from, name, error) &&
	       (!store_is_server(name) ||
	           instances_check_none(
	               copying->from, clock_get_now(&copying->ctl->clock), error));
}

static bool
copy_store(struct store *to, void *data, GError **error)
{
	const struct store_copy_progress progress = {show_rows, NULL};
	struct copying *copying = data;
	g_autoptr(GPtrArray) tables = NULL;

	if (!store_copy_rows(copying->from, to, &progress, &tables, error) ||
	    (!store_is_server(copying->to_name) && !archive_rebuild(to, error)))
		return false;
	g_clear_pointer(&copying->tables, g_ptr_array_unref);
	copying->tables = g_steal_pointer(&tables);
	return true;
}

static bool
mark(struct store *to, void *data, GError **error)
{
	(void)data;
	return store_copy_mark(to, error);
}

static bool
copy_open(struct copying *copying, GError **error)
{
	pb_auto(store) from = open_store(copying->ctl, copying->from_name, true, error);
	pb_auto(store) to = NULL;
	pb_snapshot snapshot = {0};

	copying->from = from;
	if (!from || !check_source(copying, error))
		return false;
	to = open_store(copying->ctl, copying->to_name, false, error);
	return to && store_copy_prepare(to, error) &&
	       store_transact(to, mark, NULL, error) &&
	       store_begin_reading(from, &snapshot, error) &&
	       store_transact(to, copy_store, copying, error);
}

/* @param locks  set: descriptors, -1 for none; a directory is locked once */
static bool
lock_directories(const struct copying *copying, int locks[2], GError **error)
{
	const char *names[] = {copying->from_name, copying->to_name};
	g_autofree char *first = NULL;

	for (int i = 0; i < 2; i++) {
		g_autofree char *directory = g_path_get_dirname(names[i]);

		if (store_is_server(names[i]) || g_strcmp0(first, directory) == 0)
			continue;
		/* Locking creates the directory. */
		if (strstr(names[i], "://"))
			return pb_fail(error, PB_ERROR_INPUT,
			    "'%s' is not a file, and not a URL postgresql://...",
			    names[i]);
		locks[i] = lock_take_alone(directory, error);
		if (locks[i] < 0)
			return false;
		first = g_steal_pointer(&directory);
	}
	return true;
}

/* Files: the state directories are locked.  Servers: no instance may hold a lease.
 * Until the end the new store is not to be used: store_copy_check() fails. */
static bool
copy(struct copying *copying, GError **error)
{
	int locks[] = {-1, -1};
	bool is_ok =
	    lock_directories(copying, locks, error) && copy_open(copying, error);

	print_progress_end();
	for (int i = 0; i < 2; i++)
		if (locks[i] >= 0)
			close(locks[i]);
	return is_ok;
}

static void
print_json_tables(const GPtrArray *tables)
{
	json_t *rows = json_array();

	for (guint i = 0; i < tables->len; i++) {
		const struct store_copy_table *table = tables->pdata[i];
		g_autofree char *checksum = g_strdup_printf(
		    "%016" G_GINT64_MODIFIER "x", (guint64)table->checksum);

		json_array_append_new(
		    rows, json_pack("{s:s, s:I, s:s}", "table", table->name, "rows",
		              (json_int_t)table->rows, "checksum", checksum));
	}
	print_json(rows);
}

static void
print_tables(const GPtrArray *tables, const char *from)
{
	g_autofree char *directory = g_path_get_dirname(from);
	bool is_file = !store_is_server(from);

	for (guint i = 0; i < tables->len; i++) {
		const struct store_copy_table *table = tables->pdata[i];

		printf("%-20s %10" G_GINT64_FORMAT "  %016" G_GINT64_MODIFIER "x\n",
		    table->name, table->rows, (guint64)table->checksum);
	}
	printf("Copied: counts and checksums of all tables are equal.\n"
	       "The key is not in the store: copy %s%s to the state directory of each"
	       " machine.\n",
	    is_file ? directory : "the file",
	    is_file ? "/key" : " key of a machine that used it");
}

bool
ctl_run_store_copy(struct ctl *ctl, GError **error)
{
	struct copying copying = {
	    .ctl = ctl, .from_name = ctl->argv[1], .to_name = ctl->argv[2]};
	g_autoptr(GPtrArray) tables = NULL;
	bool is_ok = copy(&copying, error);

	tables = copying.tables;
	if (is_ok && ctl->is_json)
		print_json_tables(tables);
	else if (is_ok)
		print_tables(tables, ctl->argv[1]);
	return is_ok;
}
