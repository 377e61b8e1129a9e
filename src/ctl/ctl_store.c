/*
 * ctl_store.c - the command store copy.
 */
#include <stdio.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "ctl/print.h"
#include "service/health/store_copy_service.h"

/* On a terminal, a progress line after the first second. */
struct progress {
	int64_t next_us;
	bool is_shown;
};

static void
show_progress(void *data, const char *doing, const char *table, int64_t count)
{
	struct progress *progress = data;
	int64_t now_us = g_get_monotonic_time();

	if (now_us < progress->next_us || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[K%s %s%s%" G_GINT64_FORMAT " ... ", doing,
	    table ? table : "", table ? ": row " : "", count);
	progress->next_us = now_us + G_USEC_PER_SEC / 5;
	progress->is_shown = true;
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
	struct progress shown = {.next_us = g_get_monotonic_time() + G_USEC_PER_SEC};
	const struct store_copy_progress progress = {show_progress, &shown};
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
	if (shown.is_shown)
		fputs("\r\033[K", stderr);
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
