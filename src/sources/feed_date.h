/*
 * feed_date.h - the dates of feeds, in all their spellings.
 */
#ifndef PAPERBOY_SOURCES_FEED_DATE_H
#define PAPERBOY_SOURCES_FEED_DATE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/day.h"

/**
 * Read a date of RFC 822 and its successors (two-digit years, names of zones, no
 * weekday, no seconds, no time), of ISO 8601 (a year, a month, a day, with time and
 * fraction, with or without zone, dc:date's profile too), or of ctime().
 *
 * A zone that is not told, or not known, is UTC (RFC 5322 section 4.3).
 *
 * @param text  or NULL
 * @param at    set on success: s since the epoch, >= 0
 * @param day   set on success when it is not NULL: the day in its own zone
 * @return false when it is no date of 1970 to 9999
 */
bool feed_date_parse(const char *text, int64_t *at, char day[DAY_BYTES]);

#endif
