/*
 * prose_time.c - days and times of day in words, by the phrases of all languages.
 */
#include "message/prose_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HALF_DAY_MINUTES (12 * 60)
#define DAY_MINUTES      (24 * 60)
#define YEAR_MIN         2000

/* ---- numbers ---- */

int
prose_find_number(const struct prose_item *item, unsigned n)
{
	for (guint i = 0; i < item->names->len; i++) {
		const char *name = item->names->pdata[i];

		if ((strcmp(name, "number") == 0 || strcmp(name, "count") == 0) &&
		    n-- == 0)
			return atoi(item->values->pdata[i]);
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

	then = g_date_time_new_local(
	    is_open ? g_date_time_get_year(here) : year, month, number, 12, 0, 0);
	if (then && is_open &&
	    g_date_time_get_day_of_year(then) <= g_date_time_get_day_of_year(here)) {
		g_date_time_unref(then);
		then = g_date_time_new_local(
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

/* "1d", "-1d", "next-week" */
static bool
parse_relative(const char *text, GDateTime *here, char day[DAY_BYTES])
{
	g_autoptr(GDateTime) then = NULL;
	int year = g_date_time_get_year(here), month = g_date_time_get_month(here);

	if (strcmp(text, "next-week") == 0)
		then =
		    g_date_time_add_days(here, 8 - g_date_time_get_day_of_week(here));
	else if (strcmp(text, "next-month") == 0)
		then = g_date_time_new_local(
		    year + month / 12, month % 12 + 1, 1, 12, 0, 0);
	else if (strcmp(text, "next-year") == 0)
		then = g_date_time_new_local(year + 1, 1, 1, 12, 0, 0);
	else
		then = g_date_time_add_days(here, atoi(text));
	return set_day(then, day);
}

static bool
find_span(const struct prose_item *item, const char *unit, GDateTime *here,
    char day[DAY_BYTES])
{
	int count = prose_find_number(item, 0), size = atoi(unit);
	g_autoptr(GDateTime) then = NULL;

	count = count < 0 ? 1 : count;
	if (g_str_has_suffix(unit, "d"))
		then = g_date_time_add_days(here, count * size);
	else
		then = g_date_time_add_months(
		    here, count * size * (g_str_has_suffix(unit, "y") ? 12 : 1));
	return set_day(then, day);
}

static bool
find_weekday(const char *name, GDateTime *here, char day[DAY_BYTES])
{
	static const char *const names[] = {
	    "mon", "tue", "wed", "thu", "fri", "sat", "sun"};
	g_autoptr(GDateTime) then = NULL;
	int days = -g_date_time_get_day_of_week(here) + 1;

	for (size_t i = 0; i < G_N_ELEMENTS(names) && strcmp(name, names[i]) != 0; i++)
		days++;
	days = (days + 7) % 7;
	then = g_date_time_add_days(here, days ? days : 7);
	return set_day(then, day);
}

bool
prose_find_day(const struct prose_item *item, GDateTime *here, char day[DAY_BYTES])
{
	const char *date = prose_get(item, "date", 0),
	           *unit = prose_get(item, "unit", 0);
	const char *month = prose_get(item, "month", 0);
	const char *weekday = prose_get(item, "weekday", 0);
	const char *relative = prose_get(item, "day", 0);
	int number = prose_find_number(item, 0);

	if (prose_get(item, "span", 0)) {
		*day = '\0';
		return true;
	}
	if (date)
		return parse_date(date, here, day);
	if (unit)
		return find_span(item, unit, here, day);
	if (month)
		return set_date(here, prose_find_number(item, 1), atoi(month),
		    number < 1 ? 1 : number, day);
	if (relative)
		return parse_relative(relative, here, day);
	if (weekday)
		return find_weekday(weekday, here, day);
	/* "until the 7th" */
	if (number > 0 && number <= 31) {
		int this = g_date_time_get_month(here);
		bool is_past = number <= g_date_time_get_day_of_month(here);

		return set_date(here,
		    g_date_time_get_year(here) + (is_past && this == 12),
		    is_past ? this % 12 + 1 : this, number, day);
	}
	return false;
}

bool
prose_parse_day(const char *text, GDateTime *here, char day[DAY_BYTES])
{
	static const char *const sets[] = {"until", "day", "span"};
	char found[DAY_BYTES];

	for (size_t i = 0; i < G_N_ELEMENTS(sets); i++) {
		pb_auto(prose_item) item = prose_read_set(sets[i], text);

		if (item && prose_find_day(item, here, found) && *found) {
			g_strlcpy(day, found, DAY_BYTES);
			return true;
		}
	}
	return false;
}

/* ---- times ---- */

bool
prose_find_minute(const struct prose_item *item, int *minute)
{
	const char *clock = prose_get(item, "clock", 0),
	           *half = prose_get(item, "half", 0);
	const char *fixed = prose_get(item, "hour", 0);
	int hours = prose_find_number(item, 0), minutes = 0;
	const char *source = clock ? clock : fixed && strchr(fixed, ':') ? fixed : NULL;

	if (source) {
		const char *rest = source + strspn(source, "0123456789");

		hours = atoi(source);
		minutes = *rest && g_ascii_isdigit(rest[1]) ? atoi(rest + 1) : 0;
		if (strstr(source, "am") || strstr(source, "AM"))
			half = "am";
		if (strstr(source, "pm") || strstr(source, "PM"))
			half = "pm";
	} else if (fixed && hours >= 0 && strchr("+-", *fixed)) {
		minutes = atoi(fixed);
	} else if (fixed && !half) {
		half = fixed;
	}
	if (hours < 0 || hours > 24 || minutes > 59)
		return false;
	hours = hours * 60 + minutes;
	if (half && hours < 13 * 60)
		hours = hours % HALF_DAY_MINUTES +
		        (strcmp(half, "pm") == 0 ? HALF_DAY_MINUTES : 0);
	*minute = (hours + DAY_MINUTES) % DAY_MINUTES;
	return true;
}
