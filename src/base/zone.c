/*
 * zone.c - installed time zones by IANA name.
 */
#include "base/zone.h"

#include <stdbool.h>
#include <string.h>

#include "base/bounds.h"
#include "base/edit_distance.h"
#include "base/error.h"
#include "base/text.h"

#define ZONE_DIRECTORY "/usr/share/zoneinfo"

/* Accept components of letters, digits, '_', '+' and '-' that begin with a capital
 * letter.  This excludes localtime, posix/ and right/ (which counts leap seconds). */
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
	g_autofree char *path = g_build_filename(ZONE_DIRECTORY, name, NULL);
	g_autofree char *data = NULL;

	return g_file_test(path, G_FILE_TEST_IS_REGULAR) &&
	       g_file_get_contents(path, &data, NULL, NULL) &&
	       g_str_has_prefix(data, "TZif");
}

/* Collect the zone names below a directory recursively, unsorted. */
static void
collect_names(const char *below, GPtrArray *names)
{
	g_autofree char *path = g_build_filename(ZONE_DIRECTORY, below, NULL);
	GDir *directory = g_dir_open(path, 0, NULL);
	const char *entry;

	while (directory && (entry = g_dir_read_name(directory))) {
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
	if (directory)
		g_dir_close(directory);
}

/* @return sorted, NULL-terminated array of char * */
static GPtrArray *
list_names(void)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);

	collect_names("", names);
	g_ptr_array_sort(names, text_compare_pointers);
	g_ptr_array_add(names, NULL);
	return names;
}

static void
set_unknown(GError **error, const char *name)
{
	g_autoptr(GPtrArray) names = list_names();
	const char *nearest =
	    edit_distance_find_closest(name, (const char *const *)names->pdata);
	g_autofree char *shown = text_quote(name, BOUNDS_ZONE_NAME_BYTES);

	if (nearest)
		pb_error_set(error, PB_ERROR_INPUT,
		    N_("unknown time zone '{zone}': did you mean {nearest}?"), "zone",
		    shown, "nearest", nearest, NULL);
	else
		pb_error_set(error, PB_ERROR_INPUT,
		    N_("unknown time zone '{zone}' (expected an IANA name such as "
		       "Europe/Berlin)"),
		    "zone", shown, NULL);
}

/* @return names equal to the text, or ending in '/' and the text */
static GPtrArray *
find_names(const GPtrArray *all, const char *text)
{
	GPtrArray *found = g_ptr_array_new();

	for (unsigned i = 0; i + 1 < all->len; i++) {
		const char *name = all->pdata[i];
		const char *slash = strrchr(name, '/');

		if (g_ascii_strcasecmp(name, text) == 0)
			g_ptr_array_set_size(found, 0);
		else if (!slash || g_ascii_strcasecmp(slash + 1, text) != 0)
			continue;
		g_ptr_array_add(found, all->pdata[i]);
		if (g_ascii_strcasecmp(name, text) == 0)
			break;
	}
	g_ptr_array_add(found, NULL);
	return found;
}

char *
zone_find(const char *text, GError **error)
{
	g_autoptr(GTimeZone) zone = zone_load(text, NULL);
	/* Names are ASCII: "Bogotá" is Bogota. */
	g_autofree char *ascii = g_str_to_ascii(text, "C");
	g_autofree char *wanted = g_strdelimit(g_strdup(ascii), " ", '_');
	g_autoptr(GPtrArray) all = NULL;
	g_autoptr(GPtrArray) found = NULL;

	if (zone)
		return g_strdup(text);
	all = list_names();
	found = find_names(all, wanted);
	if (found->len == 2)
		return g_strdup(found->pdata[0]);
	if (found->len > 2) {
		g_autofree char *names = g_strjoinv(", ", (char **)found->pdata);

		pb_error_set(error, PB_ERROR_INPUT,
		    N_("ambiguous time zone '{zone}': {all}"), "zone", text, "all",
		    names, NULL);
	} else if (error) {
		set_unknown(error, text);
	}
	return NULL;
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
