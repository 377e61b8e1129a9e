/*
 * checks_state.c - checks of the state directory: files, database, key.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/zone.h"
#include "query/query.h"
#include "service/health/checks.h"
#include "service/setup/factory.h"
#include "service/state/secret.h"
#include "store/admin/integrity.h"
#include "store/paper/archive.h"
#include "store/paper/archive_cache.h"

/* Filters per page. */
#define PAGE_ROWS 500

#define BYTES_PER_MB (INT64_C(1000) * 1000)

/* @return a new string */
static char *
build_path(const struct health *health, const char *name)
{
	return g_build_filename(health->options->settings->state_dir, name, NULL);
}

/* ---- the directory ---- */

void
check_directory(struct health *health)
{
	const char *path = health->options->settings->state_dir;
	GStatBuf status;

	if (g_stat(path, &status) != 0)
		health_add(health, "start paperboyd, which creates it",
		    "cannot open '%s': %s", path, g_strerror(errno));
	else if (status.st_mode & (S_IWGRP | S_IRWXO))
		health_add(
		    health, "chmod 700 it", "'%s' is accessible to other users", path);
	else if (status.st_uid != geteuid())
		health_add(health, NULL, "'%s' belongs to another user", path);
	else
		health_add_ok(health, "%s", path);
}

#define SERVER_ACTION                                                               \
	"check the database server, and the settings of store: DATABASE SERVER in " \
	"paperboy.conf(5)"

/* @param path of an unreadable file */
static const char *
get_file_action(const char *path)
{
	if (g_access(path, R_OK) != 0 && errno == EACCES)
		return "run paperboyctl as root, or as the owner of the directory";
	return CHECKS_FILE_ACTION;
}

static bool
has_wrong_mode(const struct health *health, const char *name)
{
	g_autofree char *path = build_path(health, name);
	GStatBuf status;

	if (g_lstat(path, &status) != 0 || S_ISDIR(status.st_mode))
		return false;
	return (status.st_mode & (S_IRWXG | S_IRWXO)) || status.st_uid != geteuid();
}

/* "paperboy.db.new.123" is a leftover if process 123 has ended. */
static bool
is_draft(const struct health *health, const char *name)
{
	const char *mark = strstr(name, ".new.");
	char *end;
	long owner;

	(void)health;
	if (!mark)
		return false;
	owner = strtol(mark + strlen(".new."), &end, 10);
	/* SQLite appends "-wal" or "-journal" to the name of a draft. */
	return owner > 0 && (*end == '\0' || *end == '-') &&
	       kill((pid_t)owner, 0) != 0 && errno == ESRCH;
}

/* @return names separated by commas, a new string; NULL if there are none */
static char *
find_names(const struct health *health,
    bool (*matches)(const struct health *health, const char *name))
{
	GDir *directory = g_dir_open(health->options->settings->state_dir, 0, NULL);
	GString *names = g_string_new(NULL);
	const char *name;

	while (directory && (name = g_dir_read_name(directory)))
		if (matches(health, name))
			g_string_append_printf(
			    names, "%s%s", names->len ? ", " : "", name);
	if (directory)
		g_dir_close(directory);
	return g_string_free(names, names->len == 0);
}

void
check_files(struct health *health)
{
	g_autofree char *names = find_names(health, has_wrong_mode);

	if (names)
		health_add(
		    health, NULL, "accessible to, or owned by, other users: %s", names);
}

void
check_drafts(struct health *health)
{
	g_autofree char *names = find_names(health, is_draft);

	if (names)
		health_add(health, NULL, "left by a killed program: %s", names);
}

void
check_disk(struct health *health)
{
	const struct settings *settings = health->options->settings;
	int64_t free_bytes = file_get_free_bytes(settings->state_dir);
	g_autofree char *size = NULL;

	if (free_bytes < 0)
		return;
	size = g_format_size((guint64)free_bytes);
	if (free_bytes < STATUS_DISK_MIN_BYTES)
		health_add(health, NULL,
		    "the disk of the state directory is full (%s "
		    "free), and nothing is sent, since the result "
		    "could not be recorded",
		    size)
		    ->is_failure = true;
	else if (free_bytes < settings->min_free_mb * BYTES_PER_MB)
		health_add(health, NULL,
		    "the disk of the state directory is nearly full "
		    "(%s free), and received mail is deferred "
		    "(receive.min_free_mb)",
		    size);
	else if (free_bytes < STATUS_DISK_LOW_BYTES)
		health_add(health, NULL,
		    "the disk of the state directory is nearly full "
		    "(%s free)",
		    size);
	else
		health_add_ok(health, "%s free", size);
}

void
check_wal(struct health *health)
{
	g_autofree char *path = build_path(health, "paperboy.db-wal");
	GStatBuf status;
	int64_t bytes = g_stat(path, &status) == 0 ? (int64_t)status.st_size : 0;
	g_autofree char *size = g_format_size((guint64)bytes);
	g_autofree char *text =
	    g_strdup_printf("the write-ahead log of the store has %s", size);

	if (*health->options->settings->store_url)
		health_add_ok(health, "kept by the database server");
	else if (bytes > STATUS_WAL_HIGH_BYTES)
		health_add(health, NULL, "%s", text);
	else
		health_add_ok(health, "%s", text);
}

/* ---- the database file ---- */

void
check_store(struct health *health)
{
	g_autofree char *path = build_path(health, "paperboy.db");
	g_autoptr(GError) error = NULL;
	int version, ours;

	health->store =
	    factory_open_store_for_reading(health->options->settings, &error);
	if (!health->store ||
	    !store_get_data_version(health->store, &version, &ours, &error))
		health_add(health,
		    *health->options->settings->store_url ? SERVER_ACTION
		                                          : get_file_action(path),
		    "%s", error->message);
	else if (version < ours)
		health_add(health,
		    "start paperboyd, which migrates it, then run doctor again",
		    "has schema version %d", version);
	else
		health_add_ok(health, "schema version %d", version);
	health->is_store_damaged = error || version < ours;
}

static void
add_damage(struct health *health,
    bool (*check)(struct store *store, GPtrArray *problems, GError **error))
{
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;

	if (!check(health->store, problems, &error))
		g_ptr_array_add(problems, g_strdup(error->message));
	for (unsigned i = 0; i < problems->len; i++)
		health_add(health, NULL, "%s", (char *)problems->pdata[i]);
	health->is_store_damaged = problems->len > 0;
}

/* These are left to a database server. */
static void
check_file(struct health *health,
    bool (*check)(struct store *store, GPtrArray *problems, GError **error))
{
	if (store_is_shared(health->store))
		health_add_ok(health, "checked by the database server");
	else
		add_damage(health, check);
}

void
check_pages(struct health *health)
{
	check_file(health, integrity_check_pages);
}

void
check_references(struct health *health)
{
	check_file(health, integrity_check_references);
}

/* ---- its rows ---- */

static void
check_rule(struct health *health, unsigned number)
{
	const struct integrity_rule *rule = &integrity_rules[number];
	struct health_check check = *health->check;
	const struct health_check *table = health->check;
	g_autoptr(GError) error = NULL;
	int64_t count;

	/* Report each rule under its own name. */
	check.name = rule->name;
	health->check = &check;
	if (!integrity_count(
	        health->store, number, health->options->now, &count, &error))
		health_add(health, NULL, "%s", error->message)->check = table;
	else if (count)
		health_add(
		    health, rule->advice, "%" G_GINT64_FORMAT " %s", count, rule->wrong)
		    ->check = table;
	else
		health_add_ok(health, "none")->check = table;
	health->check = table;
}

void
check_rows(struct health *health)
{
	for (unsigned i = 0; integrity_rules[i].name; i++)
		check_rule(health, i);
}

/* @return NULL if the filter is intact */
static const char *
find_filter_fault(struct health *health, const struct integrity_filter *filter)
{
	g_autoptr(GError) error = NULL;
	pb_auto(query) query = query_parse_canonical(
	    filter->canonical, store_get_tokenizer(health->store), &error);
	g_autofree char *hash = query ? query_hash(query) : NULL;

	if (!query)
		return "is not a valid query";
	return strcmp(hash, filter->hash) == 0 ? NULL : "does not match its hash";
}

void
check_filters(struct health *health)
{
	int64_t after = 0;
	unsigned count = 0, faults = 0;
	g_autofree char *first = NULL;

	for (;;) {
		g_autoptr(GError) error = NULL;
		g_autoptr(GPtrArray) page =
		    integrity_load_filters(health->store, after, PAGE_ROWS, &error);

		if (!page) {
			health_add(health, CHECKS_RESTORE_ACTION, "%s", error->message);
			return;
		}
		if (!page->len)
			break;
		for (unsigned i = 0; i < page->len; i++) {
			const struct integrity_filter *filter = page->pdata[i];
			const char *fault = find_filter_fault(health, filter);

			after = filter->id;
			count++;
			if (fault && !faults++)
				first = g_strdup_printf(
				    "row %" G_GINT64_FORMAT " %s", filter->id, fault);
		}
	}
	if (faults)
		health_add(health, NULL, "%u of %u damaged: %s", faults, count, first);
	else
		health_add_ok(health, "%u, all valid", count);
}

void
check_zones(struct health *health)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) zones = integrity_load_zones(health->store, &error);
	GString *missing = g_string_new(NULL);

	for (unsigned i = 0; zones && i < zones->len; i++) {
		g_autoptr(GTimeZone) zone = zone_load(zones->pdata[i], NULL);

		if (!zone)
			g_string_append_printf(missing, "%s%s",
			    missing->len ? ", " : "", (char *)zones->pdata[i]);
	}
	if (!zones)
		health_add(health, CHECKS_RESTORE_ACTION, "%s", error->message);
	else if (missing->len)
		health_add(health, NULL, "not installed: %s", missing->str);
	else
		health_add_ok(health, "%u, all installed", zones->len);
	g_string_free(missing, TRUE);
}

void
check_index(struct health *health)
{
	g_autofree char *problem = NULL;
	g_autoptr(GError) error = NULL;
	struct store *archive = archive_cache_refresh(health->store, &error);
	bool is_same = true;

	if (!archive || !archive_check_counts(archive, &problem, &error) ||
	    (archive != health->store &&
	        !archive_cache_compare(health->store, archive, &is_same, &error)))
		health_add(health, CHECKS_RESTORE_ACTION, "%s", error->message);
	else if (problem)
		health_add(health, NULL, "%s", problem);
	else if (!is_same)
		health_add(health, NULL,
		    "papers or listings are missing in this machine's copy, or too "
		    "many");
}

void
check_clock(struct health *health)
{
	int64_t now = health->options->now;
	g_autoptr(GError) error = NULL;
	int64_t newest;

	if (!integrity_load_newest_time(health->store, &newest, &error))
		health_add(health, CHECKS_RESTORE_ACTION, "%s", error->message);
	else if (newest > now + CLOCK_HOUR_S)
		health_add(health, NULL,
		    "the newest timestamp is %" G_GINT64_FORMAT " hours in the future",
		    (newest - now) / CLOCK_HOUR_S);
}

void
check_key(struct health *health)
{
	const char *state_dir = health->options->settings->state_dir;
	g_autofree char *path = build_path(health, "key");
	g_autofree char *problem = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *mac = NULL;
	bool is_store_open = health->store && !health->is_store_damaged;
	bool is_shared = *health->options->settings->store_url;

	if (is_store_open && !store_load_key_check(health->store, &mac, &error)) {
		health_add(health, CHECKS_RESTORE_ACTION, "%s", error->message);
		return;
	}
	if (!g_file_test(path, G_FILE_TEST_EXISTS) && !mac &&
	    (is_store_open || is_shared)) {
		health_add_ok(health, "not created yet");
		return;
	}
	problem = secret_find_problem(state_dir, mac);
	if (problem)
		health_add(health,
		    is_shared ? "follow the advice of the message"
		              : get_file_action(path),
		    "%s", problem);
}
