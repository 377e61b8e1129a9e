/*
 * natural_time.c - days, times of day and numbers as people write them.
 */
#include "model/natural_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/day.h"
#include "model/schedule.h"

#define HALF_DAY_HOURS 12
#define DAY_MINUTES    (24 * 60)
#define YEAR_MIN       2000
#define NUMBER_MAX     9999
#define NEXT           "next-"

int
natural_time_find_number(const struct phrases_match *match, unsigned n)
{
	for (guint i = 0; match->values && i < match->values->len; i++) {
		const struct phrases_value *value =
		    &g_array_index(match->values, struct phrases_value, i);

		if ((strcmp(value->name, "number") == 0 ||
		        strcmp(value->name, "count") == 0 ||
		        strcmp(value->name, "nth") == 0) &&
		    n-- == 0)
			return MIN(atoi(value->text), NUMBER_MAX);
	}
	return -1;
}

/* ---- days ---- */

static bool
set_day(GDateTime *then, char day[DAY_BYTES])
{
	g_autofree char *found = then ? g_date_time_format(then, "%Y-%m-%d") : NULL;

	if (found)
		g_strlcpy(day, found, DAY_BYTES);
	return found;
}

/* A day and month; the next such day if there is no year. */
static bool
set_date(GDateTime *here, int year, int month, int number, char day[DAY_BYTES])
{
	bool is_open = year < YEAR_MIN;
	g_autoptr(GDateTime) then = NULL;

	then = g_date_time_new_utc(
	    is_open ? g_date_time_get_year(here) : year, month, number, 12, 0, 0);
	if (then && is_open &&
	    g_date_time_get_day_of_year(then) <= g_date_time_get_day_of_year(here)) {
		g_date_time_unref(then);
		then = g_date_time_new_utc(
		    g_date_time_get_year(here) + 1, month, number, 12, 0, 0);
	}
	return set_day(then, day);
}

/* "2026-12-07", "7.12.2026", "7/12" */
static bool
parse_date(const char *text, GDateTime *here, char day[DAY_BYTES])
{
	int a = 0, b = 0, c = 0;

	if (sscanf(text, "%4d-%2d-%2d", &a, &b, &c) == 3 && a > YEAR_MIN)
		return set_date(here, a, b, c, day);
	c = 0;
	if (sscanf(text, "%2d%*[./-]%2d%*[./-]%4d", &a, &b, &c) < 2)
		return false;
	if (c > 0 && c < 100)
		c += YEAR_MIN;
	/* Month first is American. */
	return b > 12 ? set_date(here, c, a, b, day) : set_date(here, c, b, a, day);
}

/* "+1d", "-1d", "next-week": its beginning, "next-week-end": the day after it */
static bool
parse_relative(const char *text, GDateTime *here, char day[DAY_BYTES])
{
	g_autoptr(GDateTime) then = NULL;
	int year = g_date_time_get_year(here), month = g_date_time_get_month(here);

	if (g_str_has_prefix(text, "next-week"))
		then = g_date_time_add_days(
		    here, 8 - g_date_time_get_day_of_week(here) +
		              (g_str_has_suffix(text, "-end") ? 7 : 0));
	else if (strcmp(text, "next-month-end") == 0)
		then = g_date_time_new_utc(
		    year + (month + 1) / 12, (month + 1) % 12 + 1, 1, 12, 0, 0);
	else if (strcmp(text, "next-month") == 0)
		then =
		    g_date_time_new_utc(year + month / 12, month % 12 + 1, 1, 12, 0, 0);
	else if (strcmp(text, "next-year") == 0)
		then = g_date_time_new_utc(year + 1, 1, 1, 12, 0, 0);
	else
		then = g_date_time_add_days(here, atoi(text));
	return set_day(then, day);
}

/* @param unit  "7d", "1m", "1y" */
static bool
add_span(int count, const char *unit, GDateTime *here, char day[DAY_BYTES])
{
	int size = (count < 0 ? 1 : count) * atoi(unit);
	g_autoptr(GDateTime) then = NULL;

	if (g_str_has_suffix(unit, "d"))
		then = g_date_time_add_days(here, size);
	else
		then = g_date_time_add_months(
		    here, size * (g_str_has_suffix(unit, "y") ? 12 : 1));
	return set_day(then, day);
}

static bool
find_weekday(const char *name, GDateTime *here, char day[DAY_BYTES])
{
	g_autoptr(GDateTime) then = NULL;
	unsigned bits;
	int days;

	if (!schedule_parse_weekdays(name, &bits, NULL))
		return false;
	days =
	    (g_bit_nth_lsf(bits, -1) + 1 - g_date_time_get_day_of_week(here) + 7) % 7;
	then = g_date_time_add_days(here, days ? days : 7);
	return set_day(then, day);
}

static bool
find_day(const struct phrases_match *match, GDateTime *here, char day[DAY_BYTES])
{
	const char *date = phrases_get_value(match, "date", 0);
	const char *unit = phrases_get_value(match, "unit", 0);
	const char *month = phrases_get_value(match, "month", 0);
	const char *weekday = phrases_get_value(match, "weekday", 0);
	const char *relative = phrases_get_value(match, "day", 0);
	const char *during = phrases_get_value(match, "during", 0);
	int number = natural_time_find_number(match, 0);

	if (phrases_get_value(match, "span", 0)) {
		*day = '\0';
		return true;
	}
	if (date)
		return parse_date(date, here, day);
	if (during)
		return parse_relative(during, here, day);
	if (unit)
		return add_span(number, unit, here, day);
	if (month)
		return set_date(here, natural_time_find_number(match, 1), atoi(month),
		    number < 1 ? 1 : number, day);
	if (relative)
		return parse_relative(relative, here, day);
	/* "until the 7th", "Monday the 7th" */
	if (number > 0 && number <= 31) {
		int this = g_date_time_get_month(here);
		bool is_past = number <= g_date_time_get_day_of_month(here);

		return set_date(here,
		    g_date_time_get_year(here) + (is_past && this == 12),
		    is_past ? this % 12 + 1 : this, number, day);
	}
	return weekday && find_weekday(weekday, here, day);
}

/* The values of the first of two days end with "start". @return 0: there is one day */
static guint
find_start(const struct phrases_match *match)
{
	for (guint i = 0; match->values && i < match->values->len; i++)
		if (strcmp(g_array_index(match->values, struct phrases_value, i).name,
		        "start") == 0)
			return i + 1;
	return 0;
}

static bool
find_day_among(const struct phrases_match *match, guint from, guint to, GDateTime *here,
    char day[DAY_BYTES])
{
	struct phrases_match part = *match;
	g_autoptr(GArray) values =
	    g_array_new(FALSE, FALSE, sizeof(struct phrases_value));

	if (match->values && from < to)
		g_array_append_vals(values,
		    &g_array_index(match->values, struct phrases_value, from),
		    to - from);
	part.values = values;
	return find_day(&part, here, day);
}

bool
natural_time_find_day(
    const struct phrases_match *match, GDateTime *here, char day[DAY_BYTES])
{
	const char *more = phrases_get_value(match, "until", 0);
	g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
	g_autoptr(GDateTime) then = NULL;
	int64_t at;

	if (!find_day_among(match, find_start(match),
	        match->values ? match->values->len : 0, here, day))
		return false;
	/* "until 4 December inclusive" */
	if (!more || !day_parse(day, utc, &at, NULL))
		return true;
	then = g_date_time_new_from_unix_utc(at);
	return parse_relative(more, then, day);
}

bool
natural_time_find_start(
    const struct phrases_match *match, GDateTime *here, char day[DAY_BYTES])
{
	guint end = find_start(match);

	return end && find_day_among(match, 0, end, here, day);
}

bool
natural_time_parse_day(const char *text, GDateTime *here, char day[DAY_BYTES])
{
	static const char *const sections[] = {"until", "day", "span"};
	/* "14d" */
	g_autoptr(GRegex) joint = g_regex_new("(?<=\\d)(?=\\p{L})", 0, 0, NULL);
	g_autofree char *spaced =
	    g_utf8_validate(text, -1, NULL)
	        ? g_regex_replace_literal(joint, text, -1, 0, " ", 0, NULL)
	        : NULL;
	pb_auto(phrases_text) words = phrases_text_new(spaced ? spaced : "");
	const struct phrases_span span = {words, 0, words->words->len};
	char found[DAY_BYTES] = "";

	for (size_t i = 0;
	     *text != '-' && words->words->len && i < G_N_ELEMENTS(sections); i++) {
		struct phrases_match match;
		const char *relative;
		bool is_day;

		if (!phrases_cover(sections[i], &span, &match))
			continue;
		relative = phrases_get_value(&match, "day", 0);
		/* "next week" begins then, "until next week" ends then. */
		is_day = (i == 0 || !relative || !g_str_has_prefix(relative, NEXT)) &&
		         natural_time_find_day(&match, here, found) && *found;
		phrases_match_clear(&match);
		if (is_day)
			g_strlcpy(day, found, DAY_BYTES);
		return is_day;
	}
	return false;
}

/* ---- times ---- */

/* @param half  "am", "pm", or NULL: the hour is of a 24-hour clock */
static bool
set_minute(int hour, int minutes, const char *half, int *minute)
{
	bool is_pm = g_strcmp0(half, "pm") == 0;

	if (hour < 0 || hour > 23 || minutes > 59 || (half && hour < 1) ||
	    (half && !is_pm && hour > HALF_DAY_HOURS))
		return false;
	if (half && (hour <= HALF_DAY_HOURS || is_pm))
		hour = hour % HALF_DAY_HOURS + (is_pm ? HALF_DAY_HOURS : 0);
	*minute = hour * 60 + minutes;
	return true;
}

/* "18:30", "7.30", "8h", "9pm" */
static bool
parse_clock(const char *text, const char *half, int *minute)
{
	g_autofree char *low = g_ascii_strdown(text, -1);
	const char *rest = low + strspn(low, "0123456789");
	int minutes = *rest && g_ascii_isdigit(rest[1]) ? atoi(rest + 1) : 0;

	if (g_str_has_suffix(low, "am"))
		half = "am";
	if (g_str_has_suffix(low, "pm"))
		half = "pm";
	return set_minute(atoi(low), minutes, half, minute);
}

bool
natural_time_find_minute(const struct phrases_match *match, int *minute)
{
	const char *clock = phrases_get_value(match, "clock", 0);
	const char *half = phrases_get_value(match, "half", 0);
	const char *fixed = phrases_get_value(match, "hour", 0);
	int hours = natural_time_find_number(match, 0);

	if (clock)
		return parse_clock(clock, half, minute);
	if (!fixed)
		return set_minute(hours, 0, half, minute);
	if (strchr(fixed, ':'))
		return parse_clock(fixed, half, minute);
	/* "half past eight" is eight, and thirty minutes. */
	if (!strchr("+-", *fixed))
		return set_minute(hours, 0, half ? half : fixed, minute);
	if (!set_minute(hours, 0, half, minute))
		return false;
	*minute = (*minute + atoi(fixed) + DAY_MINUTES) % DAY_MINUTES;
	return true;
}

bool
natural_time_parse_minute(const char *text, int *minute)
{
	g_autofree char *plain = g_strstrip(g_strdup(text));
	pb_auto(phrases_text) words = NULL;
	struct phrases_match match;
	bool is_time;

	/* "8" is eight in the morning, as on a clock with 24 hours. */
	if (g_regex_match_simple("^\\d{1,2}(?:[:.]\\d\\d)?$", plain, 0, 0))
		return parse_clock(plain, NULL, minute);
	if (!g_utf8_validate(plain, -1, NULL) || *plain == '-')
		return false;
	words = phrases_text_new(plain);
	if (!phrases_cover(
	        "hour", &(struct phrases_span){words, 0, words->words->len}, &match))
		return false;
	is_time = natural_time_find_minute(&match, minute);
	phrases_match_clear(&match);
	return is_time;
}
