/*
 * test_fetch_days.c - days that are due to be fetched.
 */
#include <glib.h>

#include "lib/unit.h"
#include "sources/fetch_days.h"

#define DAY_S ((int64_t)86400)

/* 2026-11-18 00:00:00 UTC. */
#define START ((int64_t)1794960000)

TEST(recent_days_are_due_at_each_poll_and_old_ones_once_a_day)
{
	static const struct {
		int64_t now;
		int64_t last_old_poll_at;
		bool has_old;
	} rows[] = {
	    {START, -1, true},
	    {START, START - 1, true},
	    {START + 5, START, false},
	    {START + DAY_S - 1, START, false},
	    {START + DAY_S, START, true},
	    {START + DAY_S, START + DAY_S - 1, true},
	    {START + 7 * DAY_S, START, true},
	    /* The clock was wrong and is now right. */
	    {START, START + 3 * DAY_S, true},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GPtrArray) days = g_ptr_array_new_with_free_func(g_free);

		g_assert_cmpint(
		    fetch_days_due(rows[i].now, rows[i].last_old_poll_at, days), ==,
		    rows[i].has_old);
		g_assert_cmpuint(days->len, ==, rows[i].has_old ? 15 : 4);
	}
}

TEST(days_go_back_from_today_over_months_and_years)
{
	static const char *const want[] = {"2026-11-18", "2026-11-17", "2026-11-16",
	    "2026-11-15", "2026-11-14", "2026-11-13", "2026-11-12", "2026-11-11",
	    "2026-11-10", "2026-11-09", "2026-11-08", "2026-11-07", "2026-11-06",
	    "2026-11-05", "2026-11-04"};
	g_autoptr(GPtrArray) days = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) leap = g_ptr_array_new_with_free_func(g_free);

	fetch_days_due(START + DAY_S - 1, -1, days);
	for (size_t i = 0; i < G_N_ELEMENTS(want); i++)
		g_assert_cmpstr(g_ptr_array_index(days, i), ==, want[i]);
	/* 2028-03-01 12:00 UTC. */
	fetch_days_due(1835524800, 1835524800, leap);
	g_assert_cmpstr(g_ptr_array_index(leap, 1), ==, "2028-02-29");
}

TEST(only_days_of_the_calendar_are_valid)
{
	static const struct {
		const char *day;
		bool is_valid;
	} rows[] = {
	    {"2026-11-18", true},
	    {"2028-02-29", true},
	    {"2026-02-29", false},
	    {"2026-13-01", false},
	    {"2026-11-31", false},
	    {"2026-00-10", false},
	    {"0000-01-01", false},
	    {"2026-11-1", false},
	    {"2026-11-018", false},
	    {"2026/11/18", false},
	    {"2026-11-1x", false},
	    {" 026-11-18", false},
	    {"", false},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_test_message("%s", rows[i].day);
		g_assert_cmpint(fetch_days_is_valid(rows[i].day), ==, rows[i].is_valid);
	}
}

UNIT_MAIN
