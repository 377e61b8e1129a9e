/*
 * natural_time.h - parse informal times and dates: "9pm", "2 weeks", "friday".
 *
 * Only unambiguous input is accepted.  schedule.h and day.h parse the exact forms
 * (07:30, 2026-12-01).  Does not read the clock: the caller passes the current date.
 */
#ifndef PAPERBOY_MODEL_NATURAL_TIME_H
#define PAPERBOY_MODEL_NATURAL_TIME_H

#include <glib.h>
#include <stdbool.h>

#include "base/day.h"

enum natural_time_hour {
	NATURAL_TIME_HOUR_CLEAR,   /* unambiguous */
	NATURAL_TIME_HOUR_EITHER,  /* "9": morning or evening */
	NATURAL_TIME_HOUR_NOTHING, /* not recognised as a time of day */
};

/**
 * Parse "9pm", "9:30 p.m.", "21h", "21 Uhr", "21", "07.30", "noon".
 *
 * @param minute  after midnight; for NATURAL_TIME_HOUR_EITHER the one in the morning
 */
enum natural_time_hour natural_time_parse_minute(const char *text, int *minute);

/** Whether a word qualifies the hour before it: "pm", "Uhr", "o'clock". */
bool natural_time_is_of_hour(const char *word);

/**
 * Parse "14d", "for 2 weeks", "two weeks", "a month", "tomorrow", or "until friday"
 * (the next one after today).
 *
 * @param here  today in the subscriber's zone
 * @return false if not recognised; day is unchanged then
 */
bool natural_time_parse_day(const char *text, GDateTime *here, char day[DAY_BYTES]);

#endif
