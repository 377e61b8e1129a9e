/*
 * schedule.c - when a subscriber's digests are due.
 */
#include "model/schedule.h"
#include "model/phrases.h"

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

/* ---- times as people write them ---- */

#define HALF_DAY_HOURS 12

/* @return in lower case, without trailing punctuation; owned by the caller */
static char *
make_plain(const char *text)
{
	char *plain = g_utf8_validate(text, -1, NULL) ? g_utf8_strdown(text, -1)
	                                              : g_ascii_strdown(text, -1);

	g_strstrip(plain);
	for (size_t size = strlen(plain); size && strchr("!,; ", plain[size - 1]);)
		plain[--size] = '\0';
	return plain;
}

/* @param kind  of the hour: "am", "pm", or "24" */
static bool
set_hour(int hour, int minutes, const char *kind, int *minute)
{
	bool is_half = strcmp(kind, "24") != 0, is_pm = strcmp(kind, "pm") == 0;

	if (hour > 23 || minutes > 59 || (is_half && hour < 1) ||
	    (is_half && !is_pm && hour > HALF_DAY_HOURS))
		return false;
	if (is_half)
		hour = hour % HALF_DAY_HOURS + (is_pm ? HALF_DAY_HOURS : 0);
	*minute = hour * 60 + minutes;
	return true;
}

bool
natural_time_parse_minute(const char *text, int *minute)
{
	static const char shape[] = "^(\\d{1,2})(?:[:.](\\d\\d))? *(.*)$";
	g_autofree char *plain = make_plain(text);
	g_autoptr(GRegex) regex = g_regex_new(shape, 0, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;
	g_autofree char *hour = NULL, *minutes = NULL, *words = NULL;
	const char *value = phrases_find_value("times", plain), *kind;

	if (value)
		return schedule_parse_minute(value, minute, NULL);
	if (!g_regex_match(regex, plain, 0, &match))
		return false;
	hour = g_match_info_fetch(match, 1);
	minutes = g_match_info_fetch(match, 2);
	words = g_match_info_fetch(match, 3);
	/* "8" is eight in the morning, as on a clock with 24 hours. */
	kind = *words ? phrases_find_value("hours", words) : "24";
	return kind && set_hour((int)g_ascii_strtoll(hour, NULL, 10),
	                   (int)g_ascii_strtoll(minutes, NULL, 10), kind, minute);
}

/* Skip the first phrase of a section that the text begins with, and the blank after it.
 */
static const char *
skip_any(const char *text, const char *section)
{
	const struct phrases *const *language = phrases_get_all();

	for (; *language; language++) {
		const char *const *word = phrases_get(*language, section);

		for (; *word; word++)
			if (g_str_has_prefix(text, *word) && text[strlen(*word)] == ' ')
				return text + strlen(*word) + 1;
	}
	return text;
}

/* @return -1 if none */
static int
parse_number(const char *text)
{
	const char *value = phrases_find_value("numbers", text);
	guint64 parsed;

	return g_ascii_string_to_unsigned(
	           value ? value : text, 10, 0, 9999, &parsed, NULL)
	           ? (int)parsed
	           : -1;
}

/* "2 weeks", "2weeks", "two weeks". @return NULL if not a duration */
static GDateTime *
add_span(const char *text, GDateTime *here)
{
	size_t digits = strspn(text, "0123456789");
	size_t size = digits ? digits : strcspn(text, " ");
	g_autofree char *number = g_strndup(text, size);
	const char *name = text + size + strspn(text + size, " ");
	const char *unit = phrases_find_value("units", name);
	int count = parse_number(number), length;

	if (!unit || count < 0)
		return NULL;
	/* "7 days", "12 months" */
	length = count * (int)g_ascii_strtoll(unit, NULL, 10);
	return strstr(unit, "month") ? g_date_time_add_months(here, length)
	                             : g_date_time_add_days(here, length);
}

/* "yesterday", or the next such weekday after today. @return NULL if it is neither */
static GDateTime *
find_day(const char *text, GDateTime *here)
{
	const char *value = phrases_find_value("days", text);
	unsigned bits;
	int wanted, days;

	if (value && !g_ascii_isalpha(*value))
		return g_date_time_add_days(
		    here, (int)g_ascii_strtoll(value, NULL, 10));
	if (!value && !g_regex_match_simple("^[a-z]+$", text, 0, 0))
		return NULL;
	if (!schedule_parse_weekdays(value ? value : text, &bits, NULL))
		return NULL;
	wanted = g_bit_nth_lsf(bits, -1) + 1;
	days = (wanted - g_date_time_get_day_of_week(here) + 7) % 7;
	return g_date_time_add_days(here, days ? days : 7);
}

bool
natural_time_parse_day(const char *text, GDateTime *here, char day[DAY_BYTES])
{
	g_autofree char *plain = make_plain(text);
	const char *rest;
	g_autoptr(GDateTime) then = NULL;
	g_autofree char *found = NULL;

	if (g_str_has_suffix(plain, "."))
		plain[strlen(plain) - 1] = '\0';
	rest = skip_any(plain, "until");
	rest = skip_any(rest, "before");
	then = find_day(rest, here);
	if (!then)
		then = add_span(rest, here);
	if (!then)
		return false;
	found = g_date_time_format(then, "%Y-%m-%d");
	g_strlcpy(day, found, DAY_BYTES);
	return true;
}
