/*
 * feed_date.h - date formats of feeds.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/day.h"

/**
 * Parse a date of RFC 822 and its successors (also with two-digit years, named zones,
 * without weekday, seconds or time), ISO 8601 (year, month or day, time and fraction,
 * with or without zone), or ctime().
 *
 * A missing or unknown zone is UTC (RFC 5322 section 4.3).
 *
 * @param text  or NULL
 * @param at    set on success: s since the epoch, >= 0
 * @param day   set on success unless NULL: the day in the date's own zone
 * @return false if it is not a date from 1970 to 9999
 */
bool feed_date_parse(const char *text, int64_t *at, char day[DAY_BYTES]);
