/*
 * zone.c - time zones by IANA name, from the installed list only.
 */
#include "base/zone.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/text.h"

#define ZONE_FOLDER "/usr/share/zoneinfo"

/* Parts of letters, digits, '_', '+' and '-' that begin with a capital letter: so
 * neither localtime nor posix/ and right/, whose seconds are not those of mail. */
static bool
is_plausible(const char *name)
{
	bool is_part_start = true;

	if (!*name || strlen(name) > BOUNDS_ZONE_NAME_BYTES)
		return false;
	for (; *name; name++) {
		if (is_part_start && !g_ascii_isupper(*name))
			return false;
		is_part_start = *name == '/';
		if (!is_part_start && !g_ascii_isalnum(*name) && !strchr("_+-", *name))
			return false;
	}
	return !is_part_start;
}

static bool
is_installed(const char *name)
{
	g_autofree char *path = g_build_filename(ZONE_FOLDER, name, NULL);
	char magic[4] = "";
	FILE *file;

	if (!g_file_test(path, G_FILE_TEST_IS_REGULAR))
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fread(magic, 1, sizeof(magic), file) != sizeof(magic))
		magic[0] = '\0';
	fclose(file);
	return memcmp(magic, "TZif", sizeof(magic)) == 0;
}

/* All names below a folder of the list, in the order of the file system. */
static void
collect_names(const char *below, GPtrArray *names)
{
	g_autofree char *path = g_build_filename(ZONE_FOLDER, below, NULL);
	GDir *folder = g_dir_open(path, 0, NULL);
	const char *entry;

	while (folder && (entry = g_dir_read_name(folder))) {
		g_autofree char *name =
		    *below ? g_strconcat(below, "/", entry, NULL) : g_strdup(entry);
		g_autofree char *whole = g_build_filename(path, entry, NULL);

		if (!is_plausible(name))
			continue;
		if (g_file_test(whole, G_FILE_TEST_IS_DIR))
			collect_names(name, names);
		else if (is_installed(name))
			g_ptr_array_add(names, g_steal_pointer(&name));
	}
	if (folder)
		g_dir_close(folder);
}

static int
compare_names(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char *
zone_find_nearest(const char *text)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);

	collect_names("", names);
	g_ptr_array_sort(names, compare_names);
	g_ptr_array_add(names, NULL);
	return g_strdup(nearest_find(text, (const char *const *)names->pdata));
}

static void
set_unknown(GError **error, const char *name)
{
	g_autofree char *nearest = zone_find_nearest(name);
	g_autofree char *shown = text_quote(name, BOUNDS_ZONE_NAME_BYTES);

	if (nearest)
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "unknown time zone '%s': did you mean %s?", shown, nearest);
	else
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "unknown time zone '%s': an IANA name "
		    "such as Europe/Berlin is wanted",
		    shown);
}

GTimeZone *
zone_load_or_utc(const char *name)
{
	GTimeZone *zone = zone_load(name, NULL);

	return zone ? zone : g_time_zone_new_utc();
}

GTimeZone *
zone_load(const char *name, GError **error)
{
	GTimeZone *zone = NULL;

	if (strcmp(name, "UTC") == 0)
		return g_time_zone_new_utc();
	if (is_plausible(name) && is_installed(name))
		zone = g_time_zone_new_identifier(name);
	if (!zone && error)
		set_unknown(error, name);
	return zone;
}
