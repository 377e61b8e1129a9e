/*
 * ctl_store.c - the command store copy.
 */
#include <stdio.h>

#include "ctl/ctl.h"
#include "ctl/print.h"
#include "service/health/store_copy_service.h"
#include "store/core/store_copy.h"

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
ctl_run_store_copy(struct ctl *ctl, int argc, char **argv, GError **error)
{
	struct store_copy_request request = {.now = clock_get_now(&ctl->clock)};
	g_autoptr(GPtrArray) tables = NULL;

	if (!ctl_parse(NULL, 2, &argc, &argv, error))
		return false;
	request.from = argv[1];
	request.to = argv[2];
	if (!store_copy_service_run(&request, &tables, error))
		return false;
	if (ctl->is_json)
		print_json_tables(tables);
	else
		print_tables(tables, request.from);
	return true;
}
