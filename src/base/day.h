/*
 * day.h - calendar days in UTC, as YYYY-MM-DD.
 */
#ifndef PAPERBOY_BASE_DAY_H
#define PAPERBOY_BASE_DAY_H

#include <glib.h>
#include <stdint.h>

/* Room for a day and its NUL. */
#define DAY_BYTES 11

/** The UTC day of a time. @param at  s since the epoch, of years 1 to 9999 */
static inline void
day_format(int64_t at, char day[DAY_BYTES])
{
	g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(at);
	g_autofree char *text = g_date_time_format(time, "%Y-%m-%d");

	g_strlcpy(day, text, DAY_BYTES);
}

/** The first second of a UTC day. @param day  YYYY-MM-DD, valid */
static inline int64_t
day_start(const char *day)
{
	g_autofree char *text = g_strconcat(day, "T00:00:00Z", NULL);
	g_autoptr(GDateTime) time = g_date_time_new_from_iso8601(text, NULL);

	return g_date_time_to_unix(time);
}

#endif
