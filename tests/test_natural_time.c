/*
 * test_natural_time.c - informal times and dates.
 */
#include "model/natural_time.h"

#include "lib/cases.h"
#include "lib/unit.h"

#define NOTHING (-1)

TEST(an_hour_is_understood_where_it_is_clear)
{
	CASES_FOREACH(row, "natural_hours", *text, *minute) {
		int minute = NOTHING;
		bool is_known = natural_time_parse_minute(row->text, &minute);

		if (minute != cases_number(row->minute) ||
		    is_known != (minute != NOTHING))
			g_test_fail_printf("'%s': %d", row->text, minute);
	}
}

TEST(a_day_is_understood_where_it_is_clear)
{
	g_autoptr(GDateTime) here = g_date_time_new_utc(2026, 11, 20, 9, 0, 0);

	CASES_FOREACH(row, "natural_days", *text, *day) {
		char day[DAY_BYTES] = "";
		bool is_known = natural_time_parse_day(row->text, here, day);

		if (is_known != (row->day != NULL) ||
		    g_strcmp0(day, row->day ? row->day : "") != 0)
			g_test_fail_printf("'%s': '%s'", row->text, day);
	}
}

UNIT_MAIN
