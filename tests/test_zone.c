/*
 * test_zone.c - zones by name from the installed list, and no other file.
 */
#include "base/zone.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/cases.h"
#include "lib/unit.h"

TEST(installed_zones_are_loaded)
{
	static const char *const names[] = {"UTC", "Europe/Berlin", "America/New_York",
	    "America/Argentina/Buenos_Aires", "America/Port-au-Prince", "Etc/GMT+12",
	    "Etc/GMT-14", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia",
	    "EST5EDT", "Etc/UTC", "Etc/GMT+5", "Pacific/Kiritimati", "Pacific/Chatham",
	    /* Other names of a zone, as links. */
	    "US/Eastern", "GB-Eire", "Asia/Calcutta"};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autoptr(GTimeZone) zone = NO_ERROR(zone_load(names[i], &error));

		g_assert_nonnull(zone);
		g_assert_cmpstr(g_time_zone_get_identifier(zone), ==, names[i]);
	}
}

TEST(zone_has_daylight_saving)
{
	g_autoptr(GTimeZone) zone = zone_load("Europe/Berlin", NULL);
	g_autoptr(GDateTime) summer = g_date_time_new(zone, 2026, 7, 1, 12, 0, 0);
	g_autoptr(GDateTime) winter = g_date_time_new(zone, 2026, 12, 1, 12, 0, 0);

	g_assert_cmpint(g_date_time_get_utc_offset(summer), ==, 2 * G_TIME_SPAN_HOUR);
	g_assert_cmpint(g_date_time_get_utc_offset(winter), ==, G_TIME_SPAN_HOUR);
}

TEST(invalid_zone_names_are_rejected)
{
	g_autofree char *long_name = g_strnfill(5000, 'A');
	g_autofree char *at_limit = g_strnfill(BOUNDS_ZONE_NAME_BYTES, 'A');
	g_autofree char *past_limit = g_strnfill(BOUNDS_ZONE_NAME_BYTES + 1, 'A');
	/* Would be Berlin if the system were queried. */
	g_autofree char *detour = g_strdup_printf("Europe/%0300d/../Berlin", 0);
	const char *const names[] = {"", "/", ".", "..", "../../etc/passwd",
	    "Europe/../../../etc/passwd", "Europe/..", "/etc/localtime",
	    "/usr/share/zoneinfo/UTC", ":Europe/Berlin", "Europe", "Europe/",
	    "/Europe/Berlin", "Europe//Berlin", "Europe/Berlin/", "Europe/Atlantis",
	    "europe/berlin", "EUROPE/BERLIN", "Europe/berlin", "Mars/Olympus", "+01:00",
	    "-5", "Z", "utc", "Europe/Berlin\n", "Europe/B\xc3\xa9rlin",
	    "Europe/Berlin ", "tzdata.zi", "zone.tab", "leapseconds", "posixrules",
	    "localtime",
	    /* Duplicates, and zones with leap seconds, which mail does not use. */
	    "posix/UTC", "posix/Europe/Berlin", "right/Europe/Berlin", long_name,
	    at_limit, past_limit, detour, "Europe/./Berlin", "Europe/../Europe/Berlin",
	    "Europe\\Berlin", "~/Berlin", "$HOME", "Europe/Berlin%00", "\xff\xfe",
	    "\nEurope/Berlin", "Europe/Berlin\r\nX: y", "<+03>-3", "UTC0", "GMT+5",
	    "CET-1CEST,M3.5.0,M10.5.0/3", "Factory/../UTC", "etc/gmt+5"};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(GTimeZone) zone = zone_load(names[i], &error);

		if (zone)
			g_test_fail_printf("'%s' was loaded", names[i]);
		else
			g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
		g_assert_true(!error || strlen(error->message) < 200);
	}
}

TEST(the_nearest_zone_is_suggested)
{
	CASES_FOREACH(row, "zone_suggested", *typed, *suggested) {
		g_autoptr(GError) error = NULL;
		g_autoptr(GTimeZone) zone = zone_load(row->typed, &error);
		g_autofree char *wanted =
		    g_strdup_printf(": did you mean %s?", row->suggested);

		g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
		if (row->suggested)
			g_assert_true(g_str_has_suffix(error->message, wanted));
		else
			g_assert_null(strstr(error->message, "did you mean"));
	}
}

TEST(uninstalled_zone_falls_back_to_utc)
{
	g_autoptr(GTimeZone) gone = zone_load_or_utc("Mars/Olympus");
	g_autoptr(GTimeZone) there = zone_load_or_utc("Europe/Berlin");

	g_assert_cmpstr(g_time_zone_get_identifier(gone), ==, "UTC");
	g_assert_cmpstr(g_time_zone_get_identifier(there), ==, "Europe/Berlin");
}

UNIT_MAIN
