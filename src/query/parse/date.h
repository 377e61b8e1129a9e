/*
 * date.h - a range of days in a filter: 2026-07, ..2026-08-15, 7d...
 *
 * A day is a number here, 20260731, so that days compare as they follow each other.
 * Relative ends are measured from a day that is given; nothing asks for today.
 */
#ifndef PAPERBOY_QUERY_PARSE_DATE_H
#define PAPERBOY_QUERY_PARSE_DATE_H

#include <glib.h>
#include <stdbool.h>

#include "query/query_error.h"

/* No day. */
#define DATE_NONE 0U

enum date_kind {
	DATE_OPEN, /* no end */
	DATE_DAY,
	DATE_BACK, /* so long before a day that is given */
};

struct date_end {
	enum date_kind kind;
	unsigned day;   /* DATE_DAY */
	unsigned count; /* DATE_BACK: 0 to 999 ... */
	char unit;      /* ... of 'd', 'w', 'm' (calendar months) or 'y' */
};

/* Both ends belong to it. */
struct date_range {
	struct date_end from;
	struct date_end until;
};

/**
 * Read a value of date:.
 *
 * A month or a year is all of its days; behind ".." it ends with its last day.
 * Something relative alone is "from then on".
 *
 * @param column  of the text
 * @return false with a problem: no date, no such day, the wrong way round
 */
bool date_parse(const char *text, size_t len, unsigned column, struct date_range *range,
    struct query_error *problem);

/** Format it so that date_parse() gives it again: one text for equal ranges. */
void date_append(const struct date_range *range, GString *out);

/** Read "2026-07-31". @return DATE_NONE when it is none */
unsigned date_read_day(const char *text);

/** Tell whether a range has a relative end. */
bool date_is_relative(const struct date_range *range);

/** Tell whether a day lies in a range. @param origin  the day that relative ends are
 * measured from; DATE_NONE: they fail */
bool date_is_within(const struct date_range *range, unsigned day, unsigned origin);

#endif
