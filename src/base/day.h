/*
 * day.h - calendar days as YYYY-MM-DD, in UTC unless a zone is given.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Size of a formatted day with its NUL. */
#define DAY_BYTES 11

/* 1970-01-01 as counted by GDate. */
#define DAY_EPOCH 719163

/** Format the UTC day of a time. @param at  s since the epoch, years 1 to 9999 */
static inline void
day_format(int64_t at, char day[DAY_BYTES])
{
	int64_t days = at / 86400 - (at % 86400 < 0);
	GDate date;

	g_date_clear(&date, 1);
	g_date_set_julian(&date, (guint32)(days + DAY_EPOCH));
	g_snprintf(day, DAY_BYTES, "%04u-%02u-%02u", g_date_get_year(&date) % 10000u,
	    (unsigned)g_date_get_month(&date) % 100, g_date_get_day(&date) % 100u);
}

/** Format a time for people: "2026-11-20 18:00 UTC"; "-" if there is no such time.
 * @return a new string */
char *day_format_minute(int64_t at);

/** Format a time as 2026-11-20T18:00:00Z (RFC 3339). @return a new string */
char *day_format_time(int64_t at);

/** Whether a text is a day of the calendar, YYYY-MM-DD. */
bool day_is_valid(const char *day);

/**
 * Parse a day.
 *
 * @param day  YYYY-MM-DD, years 1970 to 9999
 * @param at   start of the day in the zone, s since the epoch; set on success only
 * @return false with PB_ERROR_INPUT if there is no such day
 */
bool day_parse(const char *day, GTimeZone *zone, int64_t *at, GError **error);

/**
 * Parse a time such as 2026-11-20T18:00:00Z, or a day (its start in UTC).
 *
 * @param at  s since the epoch, >= 0; set on success only
 * @return false with PB_ERROR_INPUT
 */
bool day_parse_time(const char *text, int64_t *at, GError **error);

/** @param day  valid YYYY-MM-DD @return start of the UTC day, s since the epoch */
int64_t day_start(const char *day);
