/*
 * fetch_days.h - which days of a source are due to be fetched.
 *
 * Lists stay open: 40 % of a day's papers come after the morning, votes change hourly,
 * code links and organisations are added days later.
 */
#ifndef PAPERBOY_SOURCES_FETCH_DAYS_H
#define PAPERBOY_SOURCES_FETCH_DAYS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define FETCH_DAYS_RECENT 3  /* days before today that are fetched at every poll */
#define FETCH_DAYS_OLDEST 14 /* days before today that are fetched once a day */

/** Whether a text is a valid date, YYYY-MM-DD. */
bool fetch_days_is_valid(const char *day);

/**
 * List the days to fetch, today (UTC) first, then backwards.
 *
 * @param now               s since the epoch, UTC; >= 0
 * @param last_old_poll_at  when days 4 to 14 were last fetched, s; -1: never
 * @param out               of char *, with g_free; days are appended
 * @return whether days 4 to 14 are included: the first time on each UTC day, or after
 *         the clock was set to another day
 */
bool fetch_days_due(int64_t now, int64_t last_old_poll_at, GPtrArray *out);

#endif
