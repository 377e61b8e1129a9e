/*
 * zone.c - time zones by IANA name, from the installed list only.
 */
#include "base/zone.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
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

GTimeZone *
zone_load(const char *name, GError **error)
{
	GTimeZone *zone = NULL;

	if (strcmp(name, "UTC") == 0)
		return g_time_zone_new_utc();
	if (is_plausible(name) && is_installed(name))
		zone = g_time_zone_new_identifier(name);
	if (!zone) {
		g_autofree char *shown = text_quote(name, BOUNDS_ZONE_NAME_BYTES);

		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "unknown time zone '%s': an IANA name "
		    "such as Europe/Berlin is wanted",
		    shown);
	}
	return zone;
}
