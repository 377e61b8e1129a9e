/*
 * day.c - calendar days as YYYY-MM-DD, in UTC unless a zone is given.
 */
#include "base/day.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"

#define SHOWN_CHARS 20

char *
day_format_minute(int64_t at)
{
	g_autoptr(GDateTime) time = at < 0 ? NULL : g_date_time_new_from_unix_utc(at);

	return time ? g_date_time_format(time, "%Y-%m-%d %H:%M UTC") : g_strdup("-");
}

char *
day_format_time(int64_t at)
{
	g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(at);

	return g_date_time_format(time, "%Y-%m-%dT%H:%M:%SZ");
}

bool
day_is_valid(const char *day)
{
	static const char shape[] = "0000-00-00";

	if (strlen(day) != strlen(shape))
		return false;
	for (size_t i = 0; shape[i]; i++)
		if (shape[i] == '0' ? !g_ascii_isdigit(day[i]) : day[i] != shape[i])
			return false;
	return g_date_valid_dmy(
	    (GDateDay)atoi(day + 8), (GDateMonth)atoi(day + 5), (GDateYear)atoi(day));
}

bool
day_parse(const char *day, GTimeZone *zone, int64_t *at, GError **error)
{
	g_autoptr(GDateTime) midnight = NULL;

	if (day_is_valid(day))
		midnight = g_date_time_new(
		    zone, atoi(day), atoi(day + 5), atoi(day + 8), 0, 0, 0);
	if (!midnight || g_date_time_to_unix(midnight) < 0) {
		g_autofree char *shown = text_quote(day, SHOWN_CHARS);

		return pb_error_set(error, PB_ERROR_INPUT,
		    N_("'{text}' is not a day (expected YYYY-MM-DD, such as "
		       "2026-12-01)"),
		    "text", shown, NULL);
	}
	*at = g_date_time_to_unix(midnight);
	return true;
}

bool
day_parse_time(const char *text, int64_t *at, GError **error)
{
	g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
	g_autoptr(GDateTime) time = g_date_time_new_from_iso8601(text, utc);

	if (!time && day_parse(text, utc, at, NULL))
		return true;
	if (!time || g_date_time_to_unix(time) < 0)
		return pb_fail(error, PB_ERROR_INPUT,
		    "'%.30s' is not a time (expected 2026-11-20 or "
		    "2026-11-20T18:00:00Z)",
		    text);
	*at = g_date_time_to_unix(time);
	return true;
}

int64_t
day_start(const char *day)
{
	GDate date;

	g_date_clear(&date, 1);
	g_date_set_dmy(&date, (GDateDay)atoi(day + 8), (GDateMonth)atoi(day + 5),
	    (GDateYear)atoi(day));
	return ((int64_t)g_date_get_julian(&date) - DAY_EPOCH) * CLOCK_DAY_S;
}
