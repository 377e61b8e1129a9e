/*
 * date.h - date ranges of a filter: 2026-07, ..2026-08-15, 7d...
 *
 * A day is a number, as GDate counts them (g_date_get_julian()). Relative ends count
 * from an origin that the caller supplies.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "query/query_error.h"

#define DATE_NONE 0U

enum date_kind {
	DATE_OPEN, /* unbounded */
	DATE_DAY,
	DATE_BACK, /* relative to the origin */
};

struct date_end {
	enum date_kind kind;
	unsigned day;   /* DATE_DAY */
	unsigned count; /* DATE_BACK: 0 to 999 ... */
	char unit;      /* ... of 'd', 'w', 'm' (calendar months) or 'y' */
};

/* Both ends are inclusive. */
struct date_range {
	struct date_end from;
	struct date_end until;
};

/**
 * Parse a value of date:.
 *
 * A month or a year stands for all of its days; after "..", for its last day. A bare
 * relative date is the beginning of an open range.
 *
 * @param column  of the text
 * @return false and sets problem on error: not a date, no such day, empty range
 */
bool date_parse(const char *text, size_t len, unsigned column, struct date_range *range,
    struct query_error *problem);

/** Format a range so that date_parse() returns it; equal ranges have equal texts. */
void date_append(const struct date_range *range, GString *out);

/** Parse "2026-07-31". @return DATE_NONE when it is not a day */
unsigned date_read_day(const char *text);

/** Whether an end is relative. */
bool date_is_relative(const struct date_range *range);

/**
 * Whether a day is in a range. @param origin  of relative ends; with DATE_NONE, these
 * never match
 */
bool date_is_within(const struct date_range *range, unsigned day, unsigned origin);
