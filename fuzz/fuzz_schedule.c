/*
 * fuzz_schedule.c - parse any text as times, weekdays, frequencies, zones and days.
 *
 * An accepted value is the same after formatting and parsing it again; a zone is an
 * installed one; each schedule has a next and a latest slot.
 */
#include <string.h>

#include "base/day.h"
#include "base/zone.h"
#include "fuzz.h"
#include "model/natural_time.h"
#include "model/schedule.h"

/* 1 January 2024 to the end of 2027, a minute at a time. */
#define FIRST_S  1704067200
#define MINUTES  (4 * 366 * 24 * 60)
#define MINUTE_S 60

static void
check_minute(const char *text, struct schedule *schedule)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *again = NULL;
	int minute = -1, second = -2;

	if (!schedule_parse_minute(text, &minute, &error)) {
		fuzz_check_error(error);
		g_assert(minute == -1);
		return;
	}
	g_assert(minute >= 0 && minute < 24 * 60);
	again = g_strdup_printf("%02d:%02d", minute / 60, minute % 60);
	g_assert(schedule_parse_minute(again, &second, NULL) && second == minute);
	schedule->minute = minute;
}

static void
check_weekdays(const char *text, struct schedule *schedule)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *again = NULL;
	unsigned days = 0, second = 0;

	if (!schedule_parse_weekdays(text, &days, &error)) {
		fuzz_check_error(error);
		g_assert(!days);
		return;
	}
	g_assert(days && days <= SCHEDULE_ALL);
	again = schedule_format_weekdays(days);
	g_assert(schedule_parse_weekdays(again, &second, NULL) && second == days);
	schedule->weekdays = days;
}

static void
check_frequency(const char *text, struct schedule *schedule)
{
	g_autoptr(GError) error = NULL;

	if (schedule_parse_frequency(text, &schedule->frequency, &error))
		g_assert(g_ascii_strcasecmp(
		             text, schedule_frequency_name(schedule->frequency)) == 0);
	else
		fuzz_check_error(error);
}

/* Exact dates and times are parsed as such, and nothing else is. */
static void
check_natural_time(const char *hour, const char *day, int64_t now)
{
	g_autoptr(GDateTime) here = g_date_time_new_from_unix_utc(now);
	char found[DAY_BYTES] = "";
	int exact = -1, minute = -1;
	bool is_exact = schedule_parse_minute(hour, &exact, NULL);
	bool is_known = natural_time_parse_minute(hour, &minute);

	g_assert(is_known ? minute >= 0 && minute < 24 * 60 : minute == -1);
	g_assert(!is_exact || (is_known && minute == exact));
	if (natural_time_parse_day(day, here, found))
		g_assert(day_is_valid(found));
	else
		g_assert(!*found);
}

static void
check_slots(const struct schedule *schedule, GTimeZone *zone, int64_t now)
{
	struct schedule_slot next, latest, same;

	schedule_get_next(schedule, zone, now, &next);
	schedule_get_latest(schedule, zone, now, &latest);
	g_assert(latest.at <= now && now < next.at);
	g_assert(strcmp(latest.name, next.name) < 0);
	schedule_get_next(schedule, zone, latest.at, &same);
	g_assert(same.at == next.at && strcmp(same.name, next.name) == 0);
}

static GTimeZone *
check_zone(const char *name, bool is_reported)
{
	g_autoptr(GError) error = NULL;
	/* To tell which name is near takes a look at all of them. */
	GTimeZone *zone = zone_load(name, is_reported ? &error : NULL);

	if (!zone) {
		if (is_reported)
			fuzz_check_error(error);
		return g_time_zone_new_utc();
	}
	g_assert(*name != '/' && !strstr(name, ".."));
	g_assert_cmpstr(g_time_zone_get_identifier(zone), ==, name);
	return zone;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	g_autofree char *minute = fuzz_take_text(&input);
	g_autofree char *weekdays = fuzz_take_text(&input);
	g_autofree char *frequency = fuzz_take_text(&input);
	g_autofree char *name = fuzz_take_text(&input);
	g_autofree char *day = fuzz_take_text(&input);
	g_autoptr(GTimeZone) zone = NULL;
	struct schedule schedule = {.weekdays = SCHEDULE_MONDAY};
	uint32_t at = 0;

	if (input.left)
		memcpy(&at, input.at, MIN(input.left, sizeof(at)));
	check_minute(minute, &schedule);
	check_weekdays(weekdays, &schedule);
	check_frequency(frequency, &schedule);
	zone = check_zone(name, at % 256 == 0);
	check_slots(&schedule, zone, FIRST_S + (int64_t)(at % MINUTES) * MINUTE_S);
	check_natural_time(minute, day, FIRST_S + (int64_t)(at % MINUTES) * MINUTE_S);
	if (day_is_valid(day))
		g_assert(strlen(day) == strlen("2026-11-20"));
	return 0;
}
