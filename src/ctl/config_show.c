/*
 * config_show.c - the commands config, reload and log.
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/bounds.h"
#include "base/day.h"
#include "base/edit_distance.h"
#include "base/error.h"
#include "ctl/ctl.h"
#include "ctl/print.h"
#include "ctl/table.h"
#include "service/people/person.h"
#include "store/subscriber/audit.h"

#define LOG_LINES 50

/* Values are in the notation of the file: texts with quotes and escapes. */
struct config_row {
	char *name, *value, *default_value;
};

static void
config_row_free(gpointer data)
{
	struct config_row *row = data;

	g_free(row->name);
	g_free(row->value);
	g_free(row->default_value);
	g_free(row);
}

static void
add_row(const struct settings_row *setting, void *data)
{
	struct config_row *row = g_new0(struct config_row, 1);

	row->name = g_strdup(setting->name);
	row->value = g_strdup(setting->value);
	g_ptr_array_add(data, row);
}

struct defaults {
	GPtrArray *rows;
	unsigned next;
};

/* settings_foreach() always has the same order. */
static void
add_default(const struct settings_row *setting, void *data)
{
	struct defaults *defaults = data;
	struct config_row *row = defaults->rows->pdata[defaults->next++];

	row->default_value = g_strdup(setting->value);
}

static GPtrArray *
load_rows(const struct settings *settings)
{
	GPtrArray *rows = g_ptr_array_new_with_free_func(config_row_free);
	struct defaults defaults = {.rows = rows};
	pb_auto(settings) unset = settings_new();

	settings_foreach(settings, add_row, rows);
	settings_foreach(unset, add_default, &defaults);
	return rows;
}

static bool
is_default(const struct config_row *row)
{
	return strcmp(row->value, row->default_value) == 0;
}

/* Remove quotes and escapes. */
static char *
unquote(const char *value)
{
	size_t size = strlen(value);
	g_autofree char *inner = NULL;

	if (size < 2 || value[0] != '"' || value[size - 1] != '"')
		return g_strdup(value);
	inner = g_strndup(value + 1, size - 2);
	return g_strcompress(inner);
}

static char *
format_value(const void *data)
{
	return unquote(((const struct config_row *)data)->value);
}

static char *
format_default(const void *data)
{
	return unquote(((const struct config_row *)data)->default_value);
}

static char *
format_from(const void *data)
{
	return g_strdup(is_default(data) ? "default" : "file");
}

static json_t *
pack_is_default(const void *data)
{
	return json_boolean(is_default(data));
}

static const struct table_column config_columns[] = {
    TABLE_COLUMN("SETTING", "name", TABLE_TEXT, config_row, name),
    TABLE_COLUMN_STRING("FROM", NULL, format_from),
    TABLE_COLUMN("VALUE", NULL, TABLE_TEXT, config_row, value),
    TABLE_COLUMN_STRING(NULL, "value", format_value),
    TABLE_COLUMN_STRING(NULL, "default", format_default),
    TABLE_COLUMN_JSON("is_default", pack_is_default),
    {0},
};

static bool
print_one(struct ctl *ctl, const GPtrArray *rows, const char *name, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	const char *nearest;

	for (unsigned i = 0; i < rows->len; i++) {
		const struct config_row *row = rows->pdata[i];
		g_autofree char *value = NULL;

		g_ptr_array_add(names, row->name);
		if (strcmp(row->name, name) != 0)
			continue;
		value = unquote(row->value);
		if (ctl->is_json)
			print_json(table_to_json(config_columns, row));
		else
			puts(value);
		return true;
	}
	g_ptr_array_add(names, NULL);
	nearest = edit_distance_find_closest(name, (const char *const *)names->pdata);
	return pb_fail(error, PB_ERROR_INPUT, "unknown setting '%.40s'%s%s%s", name,
	    nearest ? ": did you mean " : "; paperboyctl config lists all",
	    nearest ? nearest : "", nearest ? "?" : "");
}

bool
ctl_run_config(struct ctl *ctl, GError **error)
{
	const struct table table = {config_columns, NULL, NULL, NULL};
	g_autoptr(GPtrArray) rows = NULL;

	rows = load_rows(ctl->settings);
	if (ctl->argc > 1)
		return print_one(ctl, rows, ctl->argv[1], error);
	table_print(ctl, &table, rows);
	return true;
}

/* ---- reload ---- */

static void
print_reload(const struct ctl *ctl, bool is_ok, char **problems)
{
	json_t *list;

	if (ctl->is_json) {
		list = json_array();
		for (; *problems; problems++)
			json_array_append_new(list, print_json_text(*problems));
		print_json(
		    json_pack("{s:b, s:o}", "reloaded", (int)is_ok, "problems", list));
		return;
	}
	for (; *problems; problems++)
		fprintf(stderr, "paperboyctl: %s\n", *problems);
	if (is_ok)
		puts("Configuration reloaded; messages in flight are finished first.");
	else
		fputs("paperboyctl: not reloaded: the daemon keeps the old "
		      "configuration\n",
		    stderr);
}

bool
ctl_run_reload(struct ctl *ctl, GError **error)
{
	g_autofree char *reply = NULL;
	g_auto(GStrv) lines = NULL;
	bool is_ok, is_refused;

	reply = ctl_ask_daemon(ctl, "reload");
	if (!reply)
		return pb_fail(error, PB_ERROR_TEMPORARY,
		    "no paperboyd is running on '%s'", ctl->settings->state_dir);
	lines = g_strsplit(reply, "\n", -1);
	is_ok = g_strcmp0(lines[0], "ok") == 0;
	is_refused = g_strcmp0(lines[0], "refused") == 0;
	if (!is_ok && !is_refused)
		return pb_fail(error, PB_ERROR_TEMPORARY,
		    "invalid response from paperboyd: try again, or restart it if its "
		    "version differs");
	print_reload(ctl, is_ok, lines + 1);
	if (is_refused)
		ctl->status = EX_CONFIG;
	return true;
}

/* ---- log ---- */

static const struct table_column audit_columns[] = {
    TABLE_COLUMN("TIME", "at", TABLE_TIME, audit_row, at),
    TABLE_COLUMN("WHO", "who", TABLE_TEXT, audit_row, who),
    TABLE_COLUMN("WHAT", "what", TABLE_TEXT, audit_row, what),
    TABLE_COLUMN("ADDRESS", "address", TABLE_TEXT, audit_row, address),
    TABLE_COLUMN("DETAIL", "detail", TABLE_TEXT, audit_row, detail),
    {0},
};

bool
ctl_run_log(struct ctl *ctl, GError **error)
{
	const char *address = ctl->options.address, *since = ctl->options.since;
	int limit = ctl_get_number(ctl->options.limit, LOG_LINES);
	pb_auto(subscriber) subscriber = NULL;
	const struct table table = {audit_columns, "No changes.", NULL, NULL};
	g_autoptr(GPtrArray) changes = NULL;
	int64_t from = 0;

	if (limit < 1 || limit > BOUNDS_LOG_LINES)
		return pb_fail(error, PB_ERROR_INPUT, "--limit must be from 1 to %d",
		    BOUNDS_LOG_LINES);
	if (since && !day_parse_time(since, &from, error))
		return false;
	/* Removed subscribers included. */
	if (address && !(subscriber = person_load_any(ctl->store, address, error)))
		return false;
	changes = audit_load(
	    ctl->store, subscriber ? subscriber->id : 0, from, (unsigned)limit, error);
	if (!changes)
		return false;
	table_print_newest(ctl, &table, changes, (unsigned)limit);
	return true;
}
