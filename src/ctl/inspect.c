/*
 * inspect.c - the commands that tell the settings and who changed what.
 */
#include <stdio.h>
#include <string.h>

#include "base/bounds.h"
#include "base/day.h"
#include "base/edit_distance.h"
#include "base/error.h"
#include "ctl/ctl.h"
#include "ctl/print.h"
#include "service/people/subscribe.h"
#include "store/core/audit.h"

#define LOG_LINES 50

/* A setting with its value and its default. */
struct shown {
	char *name, *value, *usual;
};

static void
shown_free(gpointer data)
{
	struct shown *shown = data;

	g_free(shown->name);
	g_free(shown->value);
	g_free(shown->usual);
	g_free(shown);
}

static void
note_value(const struct settings_row *row, void *data)
{
	struct shown *shown = g_new0(struct shown, 1);

	shown->name = g_strdup(row->name);
	shown->value = g_strdup(row->value);
	g_ptr_array_add(data, shown);
}

struct defaults {
	GPtrArray *all;
	unsigned at;
};

/* The table's order is the same for every settings. */
static void
note_default(const struct settings_row *row, void *data)
{
	struct defaults *defaults = data;
	struct shown *shown = defaults->all->pdata[defaults->at++];

	shown->usual = g_strdup(row->value);
}

static GPtrArray *
load_shown(const struct settings *settings)
{
	GPtrArray *all = g_ptr_array_new_with_free_func(shown_free);
	struct defaults defaults = {.all = all};
	pb_auto(settings) usual = settings_new();

	settings_foreach(settings, note_value, all);
	settings_foreach(usual, note_default, &defaults);
	return all;
}

static bool
is_default(const struct shown *shown)
{
	return strcmp(shown->value, shown->usual) == 0;
}

/* A text as itself, without what a file needs around it. */
static char *
format_bare(const char *value)
{
	size_t size = strlen(value);
	g_autofree char *inner = NULL;

	if (size < 2 || value[0] != '"' || value[size - 1] != '"')
		return g_strdup(value);
	inner = g_strndup(value + 1, size - 2);
	return g_strcompress(inner);
}

static json_t *
json_of_shown(const struct shown *shown)
{
	g_autofree char *value = format_bare(shown->value);
	g_autofree char *usual = format_bare(shown->usual);

	return json_pack("{s:s, s:s, s:s, s:b}", "name", shown->name, "value", value,
	    "default", usual, "is_default", (int)is_default(shown));
}

static void
print_all(const GPtrArray *all)
{
	g_autoptr(GPtrArray) rows =
	    g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);

	g_ptr_array_add(rows, print_row("SETTING", "FROM", "VALUE", NULL));
	for (unsigned i = 0; i < all->len; i++) {
		const struct shown *shown = all->pdata[i];

		g_ptr_array_add(
		    rows, print_row(shown->name, is_default(shown) ? "default" : "file",
		              shown->value, NULL));
	}
	print_table(rows);
}

static bool
print_one(struct ctl *ctl, const GPtrArray *all, const char *name, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	const char *nearest;

	for (unsigned i = 0; i < all->len; i++) {
		const struct shown *shown = all->pdata[i];
		g_autofree char *bare = NULL;

		g_ptr_array_add(names, shown->name);
		if (strcmp(shown->name, name) != 0)
			continue;
		bare = format_bare(shown->value);
		if (ctl->is_json)
			print_json(json_of_shown(shown));
		else
			puts(bare);
		return true;
	}
	g_ptr_array_add(names, NULL);
	nearest = edit_distance_find_closest(name, (const char *const *)names->pdata);
	g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
	    "there is no setting '%.40s'%s%s%s", name,
	    nearest ? ": did you mean " : "; paperboyctl config lists all",
	    nearest ? nearest : "", nearest ? "?" : "");
	return false;
}

bool
ctl_run_config(struct ctl *ctl, int argc, char **argv, GError **error)
{
	g_autoptr(GPtrArray) all = NULL;
	json_t *list;

	if (!ctl_parse_some(NULL, 0, 1, &argc, &argv, error))
		return false;
	all = load_shown(ctl->settings);
	if (argc > 1)
		return print_one(ctl, all, argv[1], error);
	if (!ctl->is_json) {
		print_all(all);
		return true;
	}
	list = json_array();
	for (unsigned i = 0; i < all->len; i++)
		json_array_append_new(list, json_of_shown(all->pdata[i]));
	print_json(list);
	return true;
}

static json_t *
json_of_changes(const GPtrArray *changes)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < changes->len; i++) {
		const struct audit_row *row = changes->pdata[i];

		json_array_append_new(
		    list, json_pack("{s:I, s:s, s:s, s:o, s:o}", "at",
		              (json_int_t)row->at, "who", row->who, "what", row->what,
		              "address", print_json_text(row->address), "how",
		              print_json_text(row->detail)));
	}
	return list;
}

static void
print_changes(const GPtrArray *changes)
{
	g_autoptr(GPtrArray) rows =
	    g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);

	if (!changes->len) {
		puts("Nothing was changed.");
		return;
	}
	g_ptr_array_add(rows, print_row("TIME", "WHO", "WHAT", "ADDRESS", "HOW", NULL));
	for (unsigned i = 0; i < changes->len; i++) {
		const struct audit_row *row = changes->pdata[i];
		g_autofree char *at = ctl_format_time(row->at);

		g_ptr_array_add(rows, print_row(at, row->who, row->what,
		                          row->address ? row->address : "-",
		                          row->detail ? row->detail : "-", NULL));
	}
	print_table(rows);
}

static bool
show_log(
    struct ctl *ctl, const char *address, const char *since, int limit, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	g_autoptr(GPtrArray) changes = NULL;
	int64_t from = 0;

	if (limit < 1 || limit > BOUNDS_LOG_LINES) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "the limit is from 1 to %d", BOUNDS_LOG_LINES);
		return false;
	}
	if (since && !day_parse_time(since, &from, error))
		return false;
	/* Also of somebody who has left. */
	if (address && !(subscriber = subscribe_load_any(ctl->store, address, error)))
		return false;
	changes = audit_load(
	    ctl->store, subscriber ? subscriber->id : 0, from, (unsigned)limit, error);
	if (!changes)
		return false;
	if (ctl->is_json)
		print_json(json_of_changes(changes));
	else
		print_changes(changes);
	return true;
}

bool
ctl_run_log(struct ctl *ctl, int argc, char **argv, GError **error)
{
	g_autofree char *address = NULL;
	g_autofree char *since = NULL;
	int limit = LOG_LINES;
	const GOptionEntry entries[] = {
	    {"address", 0, 0, G_OPTION_ARG_STRING, &address, NULL, NULL},
	    {"since", 0, 0, G_OPTION_ARG_STRING, &since, NULL, NULL},
	    {"limit", 0, 0, G_OPTION_ARG_INT, &limit, NULL, NULL},
	    {0},
	};

	return ctl_parse(entries, 0, &argc, &argv, error) &&
	       show_log(ctl, address, since, limit, error);
}
