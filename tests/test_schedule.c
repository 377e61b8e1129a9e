/*
 * test_schedule.c - slots of digests, in zones with unusual clock changes.
 */
#include "model/schedule.h"

#include <string.h>

#include "base/error.h"
#include "base/zone.h"
#include "lib/cases.h"
#include "lib/unit.h"

#define THURSDAY 0x08

static int64_t
at(const char *text)
{
	g_autoptr(GDateTime) time = g_date_time_new_from_iso8601(text, NULL);

	g_assert_nonnull(time);
	return g_date_time_to_unix(time);
}

static char *
format(const struct schedule_slot *slot)
{
	g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(slot->at);
	g_autofree char *utc = g_date_time_format(time, "%Y-%m-%dT%H:%MZ");

	return g_strdup_printf("%s %s", slot->name, utc);
}

/* Consecutive slots after a time. */
struct row {
	const char *zone;
	struct schedule schedule;
	const char *after;
	const char *slots[4];
};

#define DAILY(h, m)                                                 \
	{                                                           \
		.frequency = SCHEDULE_DAILY, .minute = (h)*60 + (m) \
	}
#define NOW                               \
	{                                 \
		.frequency = SCHEDULE_NOW \
	}
#define WEEKDAYS(h, m)                                                 \
	{                                                              \
		.frequency = SCHEDULE_WEEKDAYS, .minute = (h)*60 + (m) \
	}
#define WEEKLY(days, h, m)                                        \
	{                                                         \
		.frequency = SCHEDULE_WEEKLY, .weekdays = (days), \
		.minute = (h)*60 + (m)                            \
	}

static const struct row rows[] = {
    {"UTC", DAILY(7, 30), "2026-11-20T07:29:59Z",
        {"2026-11-20T07:30 2026-11-20T07:30Z", "2026-11-21T07:30 2026-11-21T07:30Z"}},
    {"UTC", DAILY(7, 30), "2026-11-20T07:30:00Z",
        {"2026-11-21T07:30 2026-11-21T07:30Z"}},
    {"UTC", DAILY(0, 0), "2026-12-31T23:59:59Z",
        {"2027-01-01T00:00 2027-01-01T00:00Z"}},
    {"UTC", DAILY(23, 59), "2028-02-28T23:59:00Z",
        {"2028-02-29T23:59 2028-02-29T23:59Z", "2028-03-01T23:59 2028-03-01T23:59Z"}},
    /* Friday to Monday. */
    {"UTC", WEEKDAYS(7, 30), "2026-11-20T08:00:00Z",
        {"2026-11-23T07:30 2026-11-23T07:30Z", "2026-11-24T07:30 2026-11-24T07:30Z"}},
    {"UTC", WEEKLY(SCHEDULE_MONDAY | THURSDAY, 6, 0), "2026-11-20T08:00:00Z",
        {"2026-11-23T06:00 2026-11-23T06:00Z", "2026-11-26T06:00 2026-11-26T06:00Z",
            "2026-11-30T06:00 2026-11-30T06:00Z"}},
    /* No day at all counts as Monday. */
    {"UTC", WEEKLY(0, 6, 0), "2026-11-20T08:00:00Z",
        {"2026-11-23T06:00 2026-11-23T06:00Z", "2026-11-30T06:00 2026-11-30T06:00Z"}},
    {"UTC", NOW, "2026-11-20T07:30:00Z",
        {"2026-11-20T08:00 2026-11-20T08:00Z", "2026-11-20T09:00 2026-11-20T09:00Z"}},
    /* Full hours are those of UTC. */
    {"Asia/Kolkata", NOW, "2026-11-20T07:30:00Z",
        {"2026-11-20T13:30 2026-11-20T08:00Z", "2026-11-20T14:30 2026-11-20T09:00Z"}},
    /* The second one of a repeated hour; none is skipped in spring. */
    {"Europe/Berlin", NOW, "2026-10-24T23:00:00Z",
        {"2026-10-25T02:00 2026-10-25T01:00Z", "2026-10-25T03:00 2026-10-25T02:00Z"}},
    {"Europe/Berlin", NOW, "2026-03-29T00:00:00Z",
        {"2026-03-29T03:00 2026-03-29T01:00Z", "2026-03-29T04:00 2026-03-29T02:00Z"}},
    /* Berlin: 02:00 becomes 03:00 on 29 March, 03:00 becomes 02:00 on 25 October. */
    {"Europe/Berlin", DAILY(7, 30), "2026-03-28T00:00:00Z",
        {"2026-03-28T07:30 2026-03-28T06:30Z", "2026-03-29T07:30 2026-03-29T05:30Z",
            "2026-03-30T07:30 2026-03-30T05:30Z"}},
    {"Europe/Berlin", DAILY(2, 30), "2026-03-28T00:00:00Z",
        {"2026-03-28T02:30 2026-03-28T01:30Z", "2026-03-29T02:30 2026-03-29T01:00Z",
            "2026-03-30T02:30 2026-03-30T00:30Z"}},
    {"Europe/Berlin", DAILY(2, 30), "2026-10-24T00:00:00Z",
        {"2026-10-24T02:30 2026-10-24T00:30Z", "2026-10-25T02:30 2026-10-25T01:30Z",
            "2026-10-26T02:30 2026-10-26T01:30Z"}},
    {"America/New_York", DAILY(2, 15), "2026-03-07T12:00:00Z",
        {"2026-03-08T02:15 2026-03-08T07:00Z", "2026-03-09T02:15 2026-03-09T06:15Z"}},
    {"America/New_York", DAILY(1, 15), "2026-10-31T12:00:00Z",
        {"2026-11-01T01:15 2026-11-01T06:15Z", "2026-11-02T01:15 2026-11-02T06:15Z"}},
    /* In Dublin, too, where the law calls summer the standard time. */
    {"Europe/Dublin", DAILY(1, 28), "2026-10-24T12:00:00Z",
        {"2026-10-25T01:28 2026-10-25T01:28Z", "2026-10-26T01:28 2026-10-26T01:28Z"}},
    /* Midnight comes twice in Havana, and is skipped in Beirut. */
    {"America/Havana", DAILY(0, 0), "2025-11-01T12:00:00Z",
        {"2025-11-02T00:00 2025-11-02T05:00Z", "2025-11-03T00:00 2025-11-03T05:00Z"}},
    {"Asia/Beirut", DAILY(0, 0), "2026-03-28T12:00:00Z",
        {"2026-03-29T00:00 2026-03-28T22:00Z", "2026-03-30T00:00 2026-03-29T21:00Z"}},
    /* Lord Howe moves by half an hour: at 02:00 on 4 October and 5 April. */
    {"Australia/Lord_Howe", DAILY(2, 10), "2026-10-02T20:00:00Z",
        {"2026-10-04T02:10 2026-10-03T15:30Z", "2026-10-05T02:10 2026-10-04T15:10Z"}},
    {"Australia/Lord_Howe", DAILY(1, 40), "2026-04-04T00:00:00Z",
        {"2026-04-05T01:40 2026-04-04T15:10Z", "2026-04-06T01:40 2026-04-05T15:10Z"}},
    {"Asia/Kathmandu", DAILY(0, 10), "2026-11-20T12:00:00Z",
        {"2026-11-21T00:10 2026-11-20T18:25Z", "2026-11-22T00:10 2026-11-21T18:25Z"}},
    /* Apia had no 30 December 2011: its slot is the end of the gap. */
    {"Pacific/Apia", DAILY(7, 30), "2011-12-29T00:00:00Z",
        {"2011-12-29T07:30 2011-12-29T17:30Z", "2011-12-30T07:30 2011-12-30T10:00Z",
            "2011-12-31T07:30 2011-12-30T17:30Z"}},
    /* Nuuk goes from 23:00 to midnight on 28 March: the slot moves into the 29th. */
    {"America/Nuuk", DAILY(23, 30), "2026-03-27T12:00:00Z",
        {"2026-03-27T23:30 2026-03-28T01:30Z", "2026-03-28T23:30 2026-03-29T01:00Z",
            "2026-03-29T23:30 2026-03-30T00:30Z"}},
    {"Pacific/Apia", DAILY(0, 0), "2011-12-29T00:00:00Z",
        {"2011-12-29T00:00 2011-12-29T10:00Z", "2011-12-30T00:00 2011-12-30T10:00Z",
            "2012-01-01T00:00 2011-12-31T10:00Z"}},
};

TEST(slots_are_in_calendar_order)
{
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GTimeZone) zone = zone_load(rows[i].zone, NULL);
		int64_t after = at(rows[i].after);

		g_assert_nonnull(zone);
		for (size_t j = 0; rows[i].slots[j]; j++) {
			struct schedule_slot slot;
			g_autofree char *got = NULL;

			schedule_get_next(&rows[i].schedule, zone, after, &slot);
			got = format(&slot);
			if (strcmp(got, rows[i].slots[j]) != 0)
				g_test_fail_printf(
				    "row %zu (%s after %s): %s, wanted %s", i,
				    rows[i].zone, rows[i].after, got, rows[i].slots[j]);
			after = slot.at;
		}
	}
}

TEST(the_latest_slot_is_the_one_that_was_next_before)
{
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GTimeZone) zone = zone_load(rows[i].zone, NULL);
		int64_t after = at(rows[i].after);
		struct schedule_slot next, latest, before = {0};

		for (int j = 0; j < 400; j++) {
			schedule_get_next(&rows[i].schedule, zone, after, &next);
			g_assert_cmpint(next.at, >, after);
			schedule_get_latest(&rows[i].schedule, zone, next.at, &latest);
			g_assert_cmpint(latest.at, ==, next.at);
			if (before.at) {
				g_assert_cmpstr(next.name, >, before.name);
				schedule_get_latest(
				    &rows[i].schedule, zone, next.at - 1, &latest);
				/* A day that a zone skips shares the next one's. */
				g_assert_cmpint(latest.at, ==, before.at);
				if (strcmp(latest.name, before.name) != 0)
					g_assert_cmpstr(
					    latest.name, ==, "2011-12-31T00:00");
			}
			before = next;
			after = next.at;
		}
	}
}

TEST(each_day_of_a_year_has_a_slot_in_every_zone)
{
	static const char *const zones[] = {"Europe/Berlin", "America/New_York",
	    "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia", "UTC",
	    "Pacific/Kiritimati", "Etc/GMT+12"};

	for (size_t i = 0; i < G_N_ELEMENTS(zones); i++) {
		g_autoptr(GTimeZone) zone = zone_load(zones[i], NULL);

		for (int minute = 0; minute < 24 * 60; minute += 95) {
			struct schedule schedule = {
			    .frequency = SCHEDULE_DAILY, .minute = minute};
			struct schedule_slot slot = {.at = at("2026-01-01T00:00:00Z")};
			char date[11], last[11] = "";

			for (int day = 0; day < 365; day++) {
				schedule_get_next(&schedule, zone, slot.at, &slot);
				schedule_format_date(slot.at, zone, date);
				g_assert_true(g_str_has_prefix(slot.name, date));
				g_assert_cmpstr(date, >, last);
				g_strlcpy(last, date, sizeof(last));
			}
			g_assert_cmpint(slot.at, <=, at("2027-01-01T12:00:00Z"));
		}
	}
}

TEST(a_date_is_that_of_the_zone)
{
	CASES_FOREACH(row, "schedule_dates", *zone, *at, *date) {
		g_autoptr(GTimeZone) zone = zone_load(row->zone, NULL);
		char date[11];

		schedule_format_date(at(row->at), zone, date);
		g_assert_cmpstr(date, ==, row->date);
	}
}

TEST(a_time_of_day_is_hours_and_two_digits)
{
	CASES_FOREACH(row, "schedule_times", *text, *minute) {
		g_autoptr(GError) error = NULL;
		int minute = -1;

		if (schedule_parse_minute(row->text, &minute, &error) !=
		        (cases_number(row->minute) >= 0) ||
		    minute != cases_number(row->minute))
			g_test_fail_printf("'%s': %d", row->text, minute);
		if (cases_number(row->minute) < 0)
			g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
	}
}

TEST(weekdays_are_known_by_three_letters_or_all)
{
	CASES_FOREACH(row, "schedule_weekdays", *text, *wanted) {
		g_autoptr(GError) error = NULL;
		g_autofree char *text = NULL;
		unsigned bits = 0;

		if (schedule_parse_weekdays(row->text, &bits, &error))
			text = schedule_format_weekdays(bits);
		else
			g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
		if (g_strcmp0(text, row->wanted) != 0)
			g_test_fail_printf(
			    "'%s': %s", row->text, text ? text : "refused");
		if (!row->wanted)
			g_assert_cmpuint(bits, ==, 0);
	}
}

TEST(a_frequency_is_known_by_its_name)
{
	static const char *const names[] = {[SCHEDULE_DAILY] = "daily",
	    [SCHEDULE_NOW] = "now",
	    [SCHEDULE_WEEKDAYS] = "weekdays",
	    [SCHEDULE_WEEKLY] = "weekly"};
	enum schedule_frequency frequency;

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_assert_true(schedule_parse_frequency(names[i], &frequency, NULL));
		g_assert_cmpint(frequency, ==, i);
		g_assert_cmpstr(schedule_frequency_name(frequency), ==, names[i]);
	}
	g_assert_true(schedule_parse_frequency("Weekly", &frequency, NULL));
	FAILS(PB_ERROR_INPUT, schedule_parse_frequency("hourly", &frequency, &error));
	g_assert_cmpint(frequency, ==, SCHEDULE_WEEKLY);
}

UNIT_MAIN
