/*
 * ctl_backup.c - the commands backup, restore, generation, key rotate, key restore and
 * store copy.
 */
#include <glib/gstdio.h>
#include <stdio.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "ctl/print.h"
#include "service/admin/backup_service.h"
#include "service/admin/key_change.h"
#include "service/admin/store_copy_service.h"
#include "service/state/lock.h"

/* On a terminal, a line of progress after the first second. */
struct progress {
	int64_t next_us; /* not before */
	bool is_shown;
};

static struct progress
start_progress(void)
{
	return (struct progress){.next_us = g_get_monotonic_time() + G_USEC_PER_SEC};
}

static bool
is_progress_due(struct progress *progress)
{
	int64_t now_us = g_get_monotonic_time();

	if (now_us < progress->next_us || !isatty(STDERR_FILENO))
		return false;
	progress->next_us = now_us + G_USEC_PER_SEC / 5;
	progress->is_shown = true;
	return true;
}

static void
end_progress(const struct progress *progress)
{
	if (progress->is_shown)
		fputs("\r\033[K", stderr);
}

static void
show_pages(void *data, int done_pages, int all_pages)
{
	if (all_pages && is_progress_due(data))
		fprintf(stderr, "\rcopying ... %d %% ",
		    (int)(100.0 * done_pages / all_pages));
}

bool
ctl_run_backup(struct ctl *ctl, GError **error)
{
	struct progress progress = start_progress();
	struct backup_service_request request = {
	    .now = clock_get_now(&ctl->clock),
	    .who = ctl->who,
	    .progress = show_pages,
	    .data = &progress,
	};
	g_autofree char *size = NULL;
	int64_t bytes;
	bool is_ok;

	request.path = ctl->argv[1];
	request.may_replace = g_file_test(request.path, G_FILE_TEST_IS_REGULAR);
	if (!ctl_confirm_replace(ctl, request.path, error)) {
		if (request.may_replace)
			g_prefix_error(error, "'%s' exists: ", request.path);
		return false;
	}
	is_ok = backup_service_run(ctl->settings, ctl->store, &request, &bytes, error);
	end_progress(&progress);
	if (!is_ok)
		return false;
	size = g_format_size((guint64)bytes);
	if (ctl->is_json)
		print_json(json_pack(
		    "{s:s, s:I}", "backup", request.path, "bytes", (json_int_t)bytes));
	else
		printf("%s written and verified: %s, including the secret key\n",
		    request.path, size);
	return true;
}

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

	if (!check_replaceable(ctl, error) || !backup_check(ctl->argv[1], &info, error))
		return false;
	made = day_format_minute(info.made_at);
	question =
	    g_strdup_printf("Go back to %s, with %" G_GINT64_FORMAT
	                    " subscribers and %" G_GINT64_FORMAT " unsent messages",
	        made, info.subscribers, info.unsent);
	if (!ctl_confirm(ctl, question, error) ||
	    !backup_service_restore(ctl->settings, ctl->argv[1],
	        clock_get_now(&ctl->clock), ctl->who, &report, error))
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
	if (ctl->is_json)
		print_json(json_pack("{s:I, s:I}", "own", (json_int_t)generation.own,
		    "newest", (json_int_t)generation.newest));
	else
		printf("%" G_GINT64_FORMAT "\n", generation.own);
	if (generation.newest > generation.own)
		fputs("another machine has a newer copy of the store: nothing is sent "
		      "here\n",
		    stderr);
	return true;
}

/* ---- key ---- */

bool
ctl_run_key_rotate(struct ctl *ctl, GError **error)
{
	struct key_change change = {.who = ctl->who, .now = clock_get_now(&ctl->clock)};
	int64_t suppressed;

	if (!ctl_confirm(ctl,
	        ctl->options.is_lost
	            ? "Create a new key, and void the links in mail already sent"
	            : "Create a new key, and keep the old one for mail already sent",
	        error))
		return false;
	change.is_lost = ctl->options.is_lost;
	if (!key_rotate(ctl->settings, &change, &suppressed, error))
		return false;
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

bool
ctl_run_key_restore(struct ctl *ctl, GError **error)
{
	if (!key_restore(ctl->settings, ctl->argv[1], error))
		return false;
	if (ctl->is_json)
		print_json(json_pack("{s:s}", "restored", ctl->argv[1]));
	else
		printf("Key restored from %s.\n", ctl->argv[1]);
	return true;
}

/* ---- store copy ---- */

static void
show_rows(void *data, const char *doing, const char *table, int64_t count)
{
	if (is_progress_due(data))
		fprintf(stderr, "\r\033[K%s %s%s%" G_GINT64_FORMAT " ... ", doing,
		    table ? table : "", table ? ": row " : "", count);
}

/*
 * The configured password is that of the configured URL.
 *
 * @param password  set; NULL for another store, and without a password
 */
static bool
load_password(
    const struct settings *settings, const char *name, char **password, GError **error)
{
	const char *file = settings->store_password_file;

	if (!*file || g_strcmp0(name, settings->store_url) != 0)
		return true;
	*password =
	    settings_load_secret(file, g_getenv("CREDENTIALS_DIRECTORY"), error);
	if (!*password)
		g_prefix_error(error, "store.password_file: ");
	return *password != NULL;
}

static bool
copy(const struct ctl *ctl, const char *from, const char *to, GPtrArray **tables,
    GError **error)
{
	struct progress shown = start_progress();
	const struct store_copy_progress progress = {show_rows, &shown};
	g_autofree char *from_password = NULL, *to_password = NULL;
	struct store_copy_request request = {
	    .from = from,
	    .to = to,
	    .now = clock_get_now(&ctl->clock),
	    .progress = &progress,
	};
	bool is_ok;

	if (!load_password(ctl->settings, from, &from_password, error) ||
	    !load_password(ctl->settings, to, &to_password, error))
		return false;
	request.from_password = from_password;
	request.to_password = to_password;
	is_ok = store_copy_service_run(&request, tables, error);
	end_progress(&shown);
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
	g_autoptr(GPtrArray) tables = NULL;

	if (!copy(ctl, ctl->argv[1], ctl->argv[2], &tables, error))
		return false;
	if (ctl->is_json)
		print_json_tables(tables);
	else
		print_tables(tables, ctl->argv[1]);
	return true;
}
