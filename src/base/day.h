/*
 * day.h - calendar days as YYYY-MM-DD, in UTC unless a zone is named.
 */
#ifndef PAPERBOY_BASE_DAY_H
#define PAPERBOY_BASE_DAY_H

#include <glib.h>
#include <stdbool.h>
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

/** When a time is, as people and programs read it: 2026-11-20T18:00:00Z. */
char *day_format_time(int64_t at);

/**
 * When a day begins: at its first instant in a zone.
 *
 * @param day  YYYY-MM-DD, of the years 1970 to 9999
 * @param at   set on success only, s
 * @return false with PB_ERROR_INPUT when there is no such day
 */
bool day_parse(const char *day, GTimeZone *zone, int64_t *at, GError **error);

/**
 * Read a time: 2026-11-20T18:00:00Z, or a day, which is its beginning in UTC.
 *
 * @param at  set on success only, s; >= 0
 * @return false with PB_ERROR_INPUT
 */
bool day_parse_time(const char *text, int64_t *at, GError **error);

#endif
