/*
 * schedule.c - when a subscriber's digests are due.
 */
#include "model/schedule.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"

/* Days to search for a slot: a weekly schedule has one in seven, and changes of the
 * zone's clock move it by a day at most. */
#define SEARCH_DAYS 15

#define HOUR_S INT64_C(3600)

static const char *const frequency_names[] = {
    [SCHEDULE_DAILY] = "daily",
    [SCHEDULE_NOW] = "now",
    [SCHEDULE_WEEKDAYS] = "weekdays",
    [SCHEDULE_WEEKLY] = "weekly",
};

/* The first three letters are also accepted. */
static const char *const day_names[] = {
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};

#define DAY_CHARS 3

/* Maximum length of an invalid word in an error message. */
#define SHOWN_CHARS 20

static unsigned
days_of(const struct schedule *schedule)
{
	switch (schedule->frequency) {
	case SCHEDULE_DAILY:
	case SCHEDULE_NOW:
		return SCHEDULE_ALL;
	case SCHEDULE_WEEKDAYS:
		return SCHEDULE_WORKING;
	case SCHEDULE_WEEKLY:
		return schedule->weekdays & SCHEDULE_ALL ? schedule->weekdays
		                                         : SCHEDULE_MONDAY;
	}
	return SCHEDULE_ALL;
}

/*
 * For an ambiguous local time GLib returns the instant in standard time.  That is the
 * second one in most zones, but the first where winter time is the exception (Dublin).
 */
static int64_t
second_of_two(GTimeZone *zone, GDateTime *at)
{
	int64_t one = g_date_time_to_unix(at);
	int64_t wall = one + g_date_time_get_utc_offset(at) / G_TIME_SPAN_SECOND;
	int interval = g_time_zone_find_interval(zone, G_TIME_TYPE_DAYLIGHT, wall);

	if (interval < 0)
		return one;
	return MAX(one, wall - g_time_zone_get_offset(zone, interval));
}

/* Get the slot on the local date `days` after that of `base`, if any. */
static bool
slot_on(const struct schedule *schedule, GTimeZone *zone, GDateTime *base, int days,
    struct schedule_slot *slot)
{
	g_autoptr(GDateTime) day = g_date_time_add_days(base, days);
	g_autoptr(GDateTime) at = NULL;
	g_autofree char *name = NULL;

	if (!(days_of(schedule) & (1u << (g_date_time_get_day_of_week(day) - 1))))
		return false;
	at = g_date_time_new(zone, g_date_time_get_year(day),
	    g_date_time_get_month(day), g_date_time_get_day_of_month(day),
	    schedule->minute / 60, schedule->minute % 60, 0);
	slot->at = second_of_two(zone, at);
	name = g_date_time_format(day, "%Y-%m-%dT");
	g_snprintf(slot->name, sizeof(slot->name), "%s%02d:%02d", name,
	    schedule->minute / 60, schedule->minute % 60);
	return true;
}

static GDateTime *
local_noon(int64_t at, GTimeZone *zone)
{
	g_autoptr(GDateTime) utc = g_date_time_new_from_unix_utc(at);
	g_autoptr(GDateTime) local = g_date_time_to_timezone(utc, zone);

	/* Count dates in UTC from here on, where every day has 24 hours. */
	return g_date_time_new_utc(g_date_time_get_year(local),
	    g_date_time_get_month(local), g_date_time_get_day_of_month(local), 12, 0,
	    0);
}

/* Get the slot of the hour that begins at a time; false if its name recurs. */
static bool
slot_of_hour(GTimeZone *zone, int64_t at, struct schedule_slot *slot)
{
	char names[2][sizeof(slot->name)];

	for (int i = 0; i < 2; i++) {
		g_autoptr(GDateTime) utc =
		    g_date_time_new_from_unix_utc(at + i * HOUR_S);
		g_autoptr(GDateTime) local = g_date_time_to_timezone(utc, zone);
		g_autofree char *name = g_date_time_format(local, "%Y-%m-%dT%H:%M");

		g_strlcpy(names[i], name, sizeof(names[i]));
	}
	slot->at = at;
	g_strlcpy(slot->name, names[0], sizeof(slot->name));
	return strcmp(names[0], names[1]) != 0;
}

static void
find_hour(GTimeZone *zone, int64_t at, int64_t step_s, struct schedule_slot *slot)
{
	while (!slot_of_hour(zone, at, slot))
		at += step_s;
}

void
schedule_get_next(const struct schedule *schedule, GTimeZone *zone, int64_t after,
    struct schedule_slot *slot)
{
	g_autoptr(GDateTime) base = local_noon(after, zone);

	if (schedule->frequency == SCHEDULE_NOW) {
		find_hour(zone, (after / HOUR_S + 1) * HOUR_S, HOUR_S, slot);
		return;
	}
	for (int days = -1; days <= SEARCH_DAYS; days++)
		if (slot_on(schedule, zone, base, days, slot) && slot->at > after)
			return;
	g_assert_not_reached();
}

void
schedule_get_latest(const struct schedule *schedule, GTimeZone *zone, int64_t now,
    struct schedule_slot *slot)
{
	g_autoptr(GDateTime) base = local_noon(now, zone);

	if (schedule->frequency == SCHEDULE_NOW) {
		find_hour(zone, now / HOUR_S * HOUR_S, -HOUR_S, slot);
		return;
	}
	for (int days = 1; days >= -SEARCH_DAYS; days--)
		if (slot_on(schedule, zone, base, days, slot) && slot->at <= now)
			return;
	g_assert_not_reached();
}

void
schedule_format_date(int64_t at, GTimeZone *zone, char date[DAY_BYTES])
{
	g_autoptr(GDateTime) noon = local_noon(at, zone);
	g_autofree char *text = g_date_time_format(noon, "%Y-%m-%d");

	g_strlcpy(date, text, DAY_BYTES);
}

struct schedule
schedule_normalize(const struct schedule *schedule)
{
	struct schedule whole = *schedule;

	whole.weekdays = schedule->frequency == SCHEDULE_WEEKLY
	                     ? schedule->weekdays & SCHEDULE_ALL
	                     : SCHEDULE_ALL;
	if (!whole.weekdays)
		whole.weekdays = SCHEDULE_MONDAY;
	return whole;
}

const char *
schedule_frequency_name(enum schedule_frequency frequency)
{
	return frequency_names[frequency];
}

static bool
set_error(GError **error, const char *text, const char *message)
{
	g_autofree char *shown = text_quote(text, SHOWN_CHARS);

	return pb_error_set(error, PB_ERROR_INPUT, message, "text", shown, NULL);
}

bool
schedule_parse_frequency(
    const char *text, enum schedule_frequency *frequency, GError **error)
{
	for (size_t i = 0; i < G_N_ELEMENTS(frequency_names); i++) {
		if (g_ascii_strcasecmp(text, frequency_names[i]) == 0) {
			*frequency = (enum schedule_frequency)i;
			return true;
		}
	}
	return set_error(error, text,
	    N_("'{text}' is not a frequency (expected now, daily, weekdays or "
	       "weekly)"));
}

static bool
is_day(const char *text, const char *name)
{
	return g_ascii_strcasecmp(text, name) == 0 ||
	       (strlen(text) == DAY_CHARS &&
	           g_ascii_strncasecmp(text, name, DAY_CHARS) == 0);
}

bool
schedule_parse_weekdays(const char *text, unsigned *weekdays, GError **error)
{
	g_auto(GStrv) parts = g_strsplit_set(text, ", ", -1);
	unsigned bits = 0;

	for (char **part = parts; *part; part++) {
		size_t day = 0;

		if (!**part)
			continue;
		while (day < G_N_ELEMENTS(day_names) && !is_day(*part, day_names[day]))
			day++;
		if (day == G_N_ELEMENTS(day_names))
			return set_error(error, *part,
			    N_("'{text}' is not a day of the week (expected "
			       "mon,tue,wed,thu,fri,sat,sun)"));
		bits |= 1u << day;
	}
	if (!bits)
		return pb_error_set(error, PB_ERROR_INPUT,
		    N_("expected at least one day of the week, such as mon"), NULL);
	*weekdays = bits;
	return true;
}

char *
schedule_format_weekdays(unsigned weekdays)
{
	GString *text = g_string_new(NULL);

	for (size_t day = 0; day < G_N_ELEMENTS(day_names); day++)
		if (weekdays & (1u << day))
			g_string_append_printf(text, "%s%.*s", text->len ? "," : "",
			    DAY_CHARS, day_names[day]);
	return g_string_free(text, FALSE);
}

void
schedule_format_minute(int minute, char text[SCHEDULE_MINUTE_BYTES])
{
	g_snprintf(text, SCHEDULE_MINUTE_BYTES, "%02d:%02d", minute / 60, minute % 60);
}

bool
schedule_parse_minute(const char *text, int *minute, GError **error)
{
	int hours = 24, minutes = 60;

	if (g_regex_match_simple("^[0-9]{1,2}:[0-9]{2}\\z", text, 0, 0)) {
		hours = (int)g_ascii_strtoll(text, NULL, 10);
		minutes = (int)g_ascii_strtoll(strchr(text, ':') + 1, NULL, 10);
	}
	if (hours > 23 || minutes > 59)
		return set_error(error, text,
		    N_("'{text}' is not a time of day (expected HH:MM, such as "
		       "07:30)"));
	*minute = hours * 60 + minutes;
	return true;
}
