/*
 * doctor.c - looks for everything that can be wrong with a state folder.
 */
#include "service/health/doctor.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/disk.h"
#include "base/zone.h"
#include "query/query.h"
#include "service/health/status.h"
#include "service/state/generation.h"
#include "service/state/secret.h"
#include "store/core/integrity.h"
#include "store/core/key_check.h"
#include "store/paper/archive.h"

#define PAGE 500

#define RESTORE_ADVICE                                                                \
	"stop paperboyd, then paperboyctl restore FILE with the newest backup; what " \
	"is there now is kept"

/* What can be put right in the file itself must not cost what an older store lacks. */
#define FILE_ADVICE                                                   \
	"when that says what to do, do it; when the file is lost or " \
	"damaged, " RESTORE_ADVICE

/* What the checks share. */
struct visit {
	const char *state_dir;
	char *path; /* of the store */
	int64_t now;
	GPtrArray *findings;
	struct store *store; /* NULL until it is open */
};

void
doctor_finding_free(struct doctor_finding *finding)
{
	if (!finding)
		return;
	g_free(finding->name);
	g_free(finding->text);
	g_free(finding->advice);
	g_free(finding);
}

/* @param text taken  @param advice  NULL when all is well */
static void
add(struct visit *visit, const char *name, char *text, const char *advice)
{
	struct doctor_finding *finding = g_new0(struct doctor_finding, 1);

	finding->name = g_strdup(name);
	finding->is_ok = advice == NULL;
	/* SQLite's words have octets of what is damaged in them. */
	finding->text = g_utf8_make_valid(text, -1);
	g_free(text);
	finding->advice = g_strdup(advice);
	g_ptr_array_add(visit->findings, finding);
}

/* ---- the folder ---- */

static void
check_folder(struct visit *visit)
{
	GStatBuf status;

	if (g_stat(visit->state_dir, &status) != 0)
		add(visit, "folder",
		    g_strdup_printf(
		        "cannot use '%s': %s", visit->state_dir, g_strerror(errno)),
		    "paperboyd makes it when it is started");
	else if (status.st_mode & (S_IWGRP | S_IRWXO))
		add(visit, "folder",
		    g_strdup_printf("others may look into '%s'", visit->state_dir),
		    "chmod 700 it");
	else if (status.st_uid != geteuid())
		add(visit, "folder",
		    g_strdup_printf("'%s' belongs to another user", visit->state_dir),
		    "run paperboyctl and paperboyd as that user, or chown it");
	else
		add(visit, "folder", g_strdup(visit->state_dir), NULL);
}

/* @param path  of a file that could not be used */
static const char *
get_file_advice(const char *path)
{
	if (g_access(path, R_OK) != 0 && errno == EACCES)
		return "run paperboyctl as root, or as the owner of the folder";
	return FILE_ADVICE;
}

static void
check_one_mode(struct visit *visit, const char *name, GString *wrong)
{
	g_autofree char *path = g_build_filename(visit->state_dir, name, NULL);
	GStatBuf status;

	if (g_lstat(path, &status) != 0 || S_ISDIR(status.st_mode))
		return;
	if ((status.st_mode & (S_IRWXG | S_IRWXO)) || status.st_uid != geteuid())
		g_string_append_printf(wrong, "%s%s", wrong->len ? ", " : "", name);
}

/* "paperboy.db.new.123": who made it is gone when 123 is. */
static bool
is_stray(const char *name)
{
	const char *mark = strstr(name, ".new.");
	char *end;
	long owner;

	if (!mark)
		return false;
	owner = strtol(mark + strlen(".new."), &end, 10);
	/* SQLite's own files beside a draft have an end more. */
	return owner > 0 && (*end == '\0' || *end == '-') &&
	       kill((pid_t)owner, 0) != 0 && errno == ESRCH;
}

static void
check_files(struct visit *visit)
{
	GDir *folder = g_dir_open(visit->state_dir, 0, NULL);
	GString *modes = g_string_new(NULL);
	GString *strays = g_string_new(NULL);
	const char *name;

	while (folder && (name = g_dir_read_name(folder))) {
		check_one_mode(visit, name, modes);
		if (is_stray(name))
			g_string_append_printf(
			    strays, "%s%s", strays->len ? ", " : "", name);
	}
	if (folder)
		g_dir_close(folder);
	if (modes->len)
		add(visit, "files",
		    g_strdup_printf("others may read, or own, %s", modes->str),
		    "chmod 600 them, and chown them to the folder's owner");
	else
		add(visit, "files", g_strdup("only their owner may read them"), NULL);
	if (strays->len)
		add(visit, "drafts",
		    g_strdup_printf("a killed program has left %s", strays->str),
		    "remove files; look into a folder first: it has a store of before "
		    "or "
		    "after a restore");
	else
		add(visit, "drafts", g_strdup("none is left over"), NULL);
	g_string_free(modes, TRUE);
	g_string_free(strays, TRUE);
}

static void
check_disk(struct visit *visit)
{
	int64_t free_bytes = disk_get_free(visit->state_dir);
	g_autofree char *size = g_format_size(free_bytes < 0 ? 0 : (guint64)free_bytes);

	add(visit, "disk", g_strdup_printf("%s free", size),
	    free_bytes < STATUS_DISK_FLOOR ? "make room: nothing can be stored or sent "
	                                     "when the disk is full"
	                                   : NULL);
}

static void
check_log(struct visit *visit)
{
	g_autofree char *path = g_strconcat(visit->path, "-wal", NULL);
	g_autofree char *size = NULL;
	GStatBuf status;
	int64_t bytes = g_stat(path, &status) == 0 ? (int64_t)status.st_size : 0;

	size = g_format_size((guint64)bytes);
	add(visit, "log", g_strdup_printf("the store's log has %s", size),
	    bytes > STATUS_LOG_MOST
	        ? "some program reads the store and does not end: find it (fuser "
	          "paperboy.db), or start paperboyd again"
	        : NULL);
}

/* ---- the store's file ---- */

static bool
open_store(struct visit *visit)
{
	g_autoptr(GError) error = NULL;
	int version, ours;

	visit->store = store_open_for_reading(visit->path, &error);
	if (!visit->store ||
	    !store_get_data_version(visit->store, &version, &ours, &error)) {
		add(visit, "store", g_strdup(error->message),
		    get_file_advice(visit->path));
		return false;
	}
	if (version < ours) {
		add(visit, "store", g_strdup_printf("it is of version %d", version),
		    "start paperboyd, which brings it up to date, and ask again");
		return false;
	}
	add(visit, "store", g_strdup_printf("version %d", version), NULL);
	return true;
}

/* @return whether there is any use in looking at rows */
static bool
check_whole(struct visit *visit, const char *name, const char *fine,
    bool (*check)(struct store *store, GPtrArray *problems, GError **error))
{
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;

	if (!check(visit->store, problems, &error))
		g_ptr_array_add(problems, g_strdup(error->message));
	if (!problems->len)
		add(visit, name, g_strdup(fine), NULL);
	for (unsigned i = 0; i < problems->len; i++)
		add(visit, name, g_strdup(problems->pdata[i]), RESTORE_ADVICE);
	return problems->len == 0;
}

/* ---- what is in it ---- */

static void
check_rows(struct visit *visit)
{
	for (unsigned i = 0; integrity_rules[i].name; i++) {
		const struct integrity_rule *rule = &integrity_rules[i];
		g_autoptr(GError) error = NULL;
		int64_t count;

		if (!integrity_count(visit->store, i, visit->now, &count, &error))
			add(visit, rule->name, g_strdup(error->message),
			    RESTORE_ADVICE);
		else if (count)
			add(visit, rule->name,
			    g_strdup_printf(
			        "%" G_GINT64_FORMAT " %s", count, rule->wrong),
			    rule->advice);
		else
			add(visit, rule->name, g_strdup("none"), NULL);
	}
}

/* @return NULL when the filter is what it was when it was stored */
static const char *
find_filter_fault(struct visit *visit, const struct integrity_filter *filter)
{
	g_autoptr(GError) error = NULL;
	pb_auto(query) query = query_parse_canonical(
	    filter->canonical, store_get_tokenizer(visit->store), &error);
	g_autofree char *hash = query ? query_hash(query) : NULL;

	if (!query)
		return "cannot be read";
	return strcmp(hash, filter->hash) == 0 ? NULL
	                                       : "has another text than its hash";
}

static void
check_filters(struct visit *visit)
{
	int64_t after = 0;
	unsigned count = 0, faults = 0;
	g_autofree char *first = NULL;

	for (;;) {
		g_autoptr(GError) error = NULL;
		g_autoptr(GPtrArray) page =
		    integrity_load_filters(visit->store, after, PAGE, &error);

		if (!page) {
			add(visit, "filters", g_strdup(error->message), RESTORE_ADVICE);
			return;
		}
		if (!page->len)
			break;
		for (unsigned i = 0; i < page->len; i++) {
			const struct integrity_filter *filter = page->pdata[i];
			const char *fault = find_filter_fault(visit, filter);

			after = filter->id;
			count++;
			if (fault && !faults++)
				first = g_strdup_printf("filter row %" G_GINT64_FORMAT
				                        " %s",
				    filter->id, fault);
		}
	}
	if (faults)
		add(visit, "filters",
		    g_strdup_printf("%u of %u: %s", faults, count, first),
		    "it finds nothing: remove and add it for each who has it, or "
		    "restore "
		    "a backup");
	else
		add(visit, "filters", g_strdup_printf("%u, all readable", count), NULL);
}

static void
check_zones(struct visit *visit)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) zones = integrity_load_zones(visit->store, &error);
	GString *missing = g_string_new(NULL);

	for (unsigned i = 0; zones && i < zones->len; i++) {
		g_autoptr(GTimeZone) zone = zone_load(zones->pdata[i], NULL);

		if (!zone)
			g_string_append_printf(missing, "%s%s",
			    missing->len ? ", " : "", (char *)zones->pdata[i]);
	}
	if (!zones)
		add(visit, "zones", g_strdup(error->message), RESTORE_ADVICE);
	else if (missing->len)
		add(visit, "zones", g_strdup_printf("not installed: %s", missing->str),
		    "their digests come by UTC: install tzdata and tzdata-legacy");
	else
		add(visit, "zones", g_strdup_printf("%u, all installed", zones->len),
		    NULL);
	g_string_free(missing, TRUE);
}

/* What the daily upkeep looks for, too. */
static void
check_archive(struct visit *visit)
{
	g_autofree char *problem = NULL;
	g_autoptr(GError) error = NULL;

	if (!archive_check_counts(visit->store, &problem, &error))
		add(visit, "archive", g_strdup(error->message), RESTORE_ADVICE);
	else if (problem)
		add(visit, "archive", g_steal_pointer(&problem),
		    "paperboyd makes it anew from the papers, at its upkeep once a "
		    "day");
	else
		add(visit, "archive", g_strdup("every paper is in its index"), NULL);
}

static void
check_clock(struct visit *visit)
{
	g_autoptr(GError) error = NULL;
	int64_t newest;

	if (!integrity_load_newest_time(visit->store, &newest, &error))
		add(visit, "clock", g_strdup(error->message), RESTORE_ADVICE);
	else if (newest > visit->now + CLOCK_HOUR_S)
		add(visit, "clock",
		    g_strdup_printf("something was done %" G_GINT64_FORMAT
		                    " hours from now",
		        (newest - visit->now) / CLOCK_HOUR_S),
		    "the clock is wrong, or was: set it, and see that it is kept");
	else
		add(visit, "clock", g_strdup("nothing was done in the future"), NULL);
}

static void
check_key(struct visit *visit)
{
	g_autofree char *path = g_build_filename(visit->state_dir, "key", NULL);
	g_autofree char *problem = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *mac = NULL;

	if (visit->store && !key_check_load(visit->store, &mac, &error)) {
		add(visit, "key", g_strdup(error->message), RESTORE_ADVICE);
		return;
	}
	if (!g_file_test(path, G_FILE_TEST_EXISTS) && visit->store && !mac) {
		add(visit, "key", g_strdup("not made yet"), NULL);
		return;
	}
	problem = secret_find_problem(visit->state_dir, mac);
	if (problem)
		add(visit, "key", g_steal_pointer(&problem), get_file_advice(path));
	else
		add(visit, "key", g_strdup("it is the key of this store"), NULL);
}

static void
check_generation(struct visit *visit)
{
	g_autoptr(GError) error = NULL;
	bool is_stale;

	if (!generation_is_stale(visit->store, visit->state_dir, &is_stale, &error))
		add(visit, "generation", g_strdup(error->message), FILE_ADVICE);
	else if (is_stale)
		add(visit, "generation",
		    g_strdup("the database is older than the mail that was sent: an "
		             "older copy of it was put back, or its log was lost"),
		    "start paperboyd, which holds what may have been mailed, and see "
		    "STALE DATABASE in paperboyd(8); or " RESTORE_ADVICE);
	else
		add(visit, "generation",
		    g_strdup("the database knows of all mail that was sent"), NULL);
}

GPtrArray *
doctor_run(const struct settings *settings, int64_t now)
{
	struct visit visit = {
	    .state_dir = settings->state_dir,
	    .path = g_build_filename(settings->state_dir, "paperboy.db", NULL),
	    .now = now,
	    .findings =
	        g_ptr_array_new_with_free_func((GDestroyNotify)doctor_finding_free),
	};

	check_folder(&visit);
	check_files(&visit);
	check_disk(&visit);
	check_log(&visit);
	if (open_store(&visit) &&
	    check_whole(
	        &visit, "pages", "every page is sound", integrity_check_pages) &&
	    check_whole(&visit, "references", "every row has what it refers to",
	        integrity_check_references)) {
		check_rows(&visit);
		check_filters(&visit);
		check_zones(&visit);
		check_archive(&visit);
		check_clock(&visit);
		check_generation(&visit);
	}
	check_key(&visit);
	store_free(visit.store);
	g_free(visit.path);
	return visit.findings;
}
