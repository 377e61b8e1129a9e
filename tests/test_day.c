/*
 * test_day.c - parsing and formatting of days and times.
 */
#include "base/day.h"

#include <string.h>

#include "base/error.h"
#include "base/zone.h"
#include "lib/cases.h"
#include "lib/unit.h"

TEST(a_day_begins_at_its_first_instant_in_the_zone)
{
	CASES_FOREACH(row, "day_begins", *day, *zone, *wanted) {
		g_autoptr(GTimeZone) zone = zone_load(row->zone, NULL);
		g_autofree char *text = NULL;
		int64_t at = -1;

		g_assert_true(day_parse(row->day, zone, &at, NULL));
		text = day_format_time(at);
		g_assert_cmpstr(text, ==, row->wanted);
		if (strcmp(row->zone, "UTC") == 0)
			g_assert_cmpint(day_start(row->day), ==, at);
	}
}

TEST(only_days_of_the_calendar_are_valid)
{
	static const char *const invalid[] = {"2026-02-29", "2026-13-01", "2026-11-31",
	    "2026-00-10", "0000-01-01", "2026-11-1", "2026-11-018", "2026/11/18",
	    "2026-11-1x", " 026-11-18", ""};

	g_assert_true(day_is_valid("2026-11-18"));
	g_assert_true(day_is_valid("2028-02-29"));
	for (size_t i = 0; i < G_N_ELEMENTS(invalid); i++)
		g_assert_false(day_is_valid(invalid[i]));
}

TEST(invalid_days_and_times_are_rejected)
{
	static const char *const rows[] = {"", "2026-13-01", "2026-02-29", "2026-1-1",
	    "26-01-01", "2026-01-01x", "tomorrow", "1969-12-31", "20260101", "-1",
	    "2026-11-20 18:00", "18:00", "\xff"};
	g_autoptr(GTimeZone) utc = g_time_zone_new_utc();

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) time_error = NULL;
		int64_t at = 77;

		FAILS(PB_ERROR_INPUT, day_parse(rows[i], utc, &at, &error));
		g_assert_cmpint(at, ==, 77);
		g_assert_false(day_parse_time(rows[i], &at, &time_error));
		g_assert_error(time_error, PB_ERROR, PB_ERROR_INPUT);
		g_assert_cmpint(at, ==, 77);
	}
}

TEST(a_time_is_a_day_or_an_instant)
{
	static const struct {
		const char *text, *wanted;
	} rows[] = {
	    {"2026-11-20", "2026-11-20T00:00:00Z"},
	    {"2026-11-20T18:00:00Z", "2026-11-20T18:00:00Z"},
	    {"2026-11-20T18:00:00+02:00", "2026-11-20T16:00:00Z"},
	    {"20261120T180000Z", "2026-11-20T18:00:00Z"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *text = NULL;
		int64_t at = -1;

		g_assert_true(day_parse_time(rows[i].text, &at, NULL));
		text = day_format_time(at);
		g_assert_cmpstr(text, ==, rows[i].wanted);
	}
}

TEST(a_day_is_formatted_as_by_glib)
{
	static const int64_t rows[] = {-62135596800, -86401, -86400, -1, 0, 86399,
	    86400, 951782400, 1795996800, 253402300799};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(rows[i]);
		g_autofree char *wanted = g_date_time_format(time, "%Y-%m-%d");
		char day[DAY_BYTES];

		day_format(rows[i], day);
		/* It does not fill years before 1000. */
		g_assert_cmpstr(
		    day + (i ? 0 : 4), ==, wanted + (i ? 0 : strlen(wanted) - 6));
	}
}

UNIT_MAIN
