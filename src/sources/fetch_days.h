/*
 * fetch_days.h - which days of a source to ask for now.
 *
 * A day is never finished: 40 % of its papers come after the morning, votes change by
 * the hour, code links and organisations come days later.  Pure: no clock.
 */
#ifndef PAPERBOY_SOURCES_FETCH_DAYS_H
#define PAPERBOY_SOURCES_FETCH_DAYS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define DAYS_RECENT 3  /* asked for at every poll, beside today */
#define DAYS_OLDEST 14 /* asked for once a day */

/** @return whether it is a day of the calendar, as YYYY-MM-DD */
bool fetch_days_is_valid(const char *day);

/**
 * List the days to ask for, today (UTC) first, then backwards.
 *
 * @param now               s since the epoch, UTC; >= 0
 * @param last_old_poll_at  when days 4 to 14 were last asked for, s; -1 for never
 * @param out               of char *, with g_free; days are appended
 * @return whether days 4 to 14 are among them: the first time on each UTC day, or
 *         when the clock was set to another day
 */
bool fetch_days_due(int64_t now, int64_t last_old_poll_at, GPtrArray *out);

#endif
