/*
 * test_natural_time.c - informal times and dates.
 */
#include "model/natural_time.h"

#include <glib.h>

#include "lib/unit.h"

#define NOTHING (-1)

TEST(an_hour_is_understood_where_it_is_clear)
{
	static const struct {
		const char *text;
		int minute; /* or NOTHING */
	} rows[] = {
	    {"9pm", 21 * 60},
	    {"9 pm", 21 * 60},
	    {"9PM", 21 * 60},
	    {"9 p.m.", 21 * 60},
	    {"9:30pm", 21 * 60 + 30},
	    {"9.30 am", 9 * 60 + 30},
	    {"7am", 7 * 60},
	    {"12am", 0},
	    {"12pm", 12 * 60},
	    {"12:01 am", 1},
	    {"noon", 12 * 60},
	    {"Midnight", 0},
	    {"21", 21 * 60},
	    {"13", 13 * 60},
	    {"0", 0},
	    {"00", 0},
	    {"21h", 21 * 60},
	    {"9 Uhr", 9 * 60},
	    {"21 uhr", 21 * 60},
	    {"7.30 Uhr", 7 * 60 + 30},
	    {"07.30", 7 * 60 + 30},
	    {"7:30", 7 * 60 + 30},
	    {"15 o'clock", 15 * 60},
	    {" 9pm! ", 21 * 60},
	    {"9", 9 * 60},
	    {"1", 60},
	    {"12", 12 * 60},
	    {"9 o'clock", 9 * 60},
	    {"8:30 in the morning", 8 * 60 + 30},
	    {"8 o'clock in the evening", 20 * 60},
	    {"20:30 in the evening", 20 * 60 + 30},
	    {"7 Uhr morgens", 7 * 60},
	    {"8 abends", 20 * 60},
	    {"20 in the morning", NOTHING},
	    {"8 in the garden", NOTHING},
	    {"13pm", 13 * 60},
	    {"0am", NOTHING},
	    {"24", NOTHING},
	    {"24 Uhr", NOTHING},
	    {"9:60pm", NOTHING},
	    {"9:5", NOTHING},
	    {"930", NOTHING},
	    {"9 pm sharp", NOTHING},
	    {"nine", NOTHING},
	    {"pm", NOTHING},
	    {"-9", NOTHING},
	    {"9-10", NOTHING},
	    {"", NOTHING},
	    {"9\xff", NOTHING},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		int minute = NOTHING;
		bool is_known = natural_time_parse_minute(rows[i].text, &minute);

		if (minute != rows[i].minute || is_known != (minute != NOTHING))
			g_test_fail_printf("'%s': %d", rows[i].text, minute);
	}
}

TEST(a_day_is_understood_where_it_is_clear)
{
	static const struct {
		const char *text, *day; /* NULL: not understood */
	} rows[] = {
	    {"14d", "2026-12-04"},
	    {"14 d", "2026-12-04"},
	    {"14 days", "2026-12-04"},
	    {"0d", "2026-11-20"},
	    {"2 weeks", "2026-12-04"},
	    {"2weeks", "2026-12-04"},
	    {"2w", "2026-12-04"},
	    {"two weeks", "2026-12-04"},
	    {"Two Weeks.", "2026-12-04"},
	    {"for 2 weeks", "2026-12-04"},
	    {"for the next two weeks", "2026-12-04"},
	    {"a week", "2026-11-27"},
	    {"one week", "2026-11-27"},
	    {"a fortnight", "2026-12-04"},
	    {"a month", "2026-12-20"},
	    {"3 months", "2027-02-20"},
	    {"a year", "2027-11-20"},
	    {"zwei Wochen", "2026-12-04"},
	    {"für 3 Tage", "2026-11-23"},
	    {"einen Monat", "2026-12-20"},
	    {"tomorrow", "2026-11-21"},
	    {"until tomorrow", "2026-11-21"},
	    /* 2026-11-20 is a Friday. */
	    {"saturday", "2026-11-21"},
	    {"until monday", "2026-11-23"},
	    {"till Thu", "2026-11-26"},
	    {"friday", "2026-11-27"},
	    {"next friday", "2026-11-27"},
	    {"until next friday", "2026-11-27"},
	    {"bis nächsten Freitag", "2026-11-27"},
	    {"yesterday", "2026-11-19"},
	    {"gestern", "2026-11-19"},
	    {"next week", NULL},
	    {"mon,thu", NULL},
	    {"mon thu", NULL},
	    {"2 m", NULL},
	    {"some weeks", NULL},
	    {"weeks", NULL},
	    {"2 weeks or so", NULL},
	    {"-2 weeks", NULL},
	    {"10000d", NULL},
	    {"9999 weeks", "2218-07-10"},
	    {"2026-12-01", "2026-12-01"},
	    {"", NULL},
	    {"2 \xff", NULL},
	};
	g_autoptr(GDateTime) here = g_date_time_new_utc(2026, 11, 20, 9, 0, 0);

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		char day[DAY_BYTES] = "";
		bool is_known = natural_time_parse_day(rows[i].text, here, day);

		if (is_known != (rows[i].day != NULL) ||
		    g_strcmp0(day, rows[i].day ? rows[i].day : "") != 0)
			g_test_fail_printf("'%s': '%s'", rows[i].text, day);
	}
}

UNIT_MAIN
