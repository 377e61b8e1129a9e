/*
 * natural_time.h - times of day and days as people say them: "9pm", "2 weeks",
 * "friday".
 *
 * Only what can mean one thing is understood; the exact forms (07:30, 2026-12-01) are
 * schedule.h's and day.h's.  Pure: what day it is comes in.
 */
#ifndef PAPERBOY_MODEL_NATURAL_TIME_H
#define PAPERBOY_MODEL_NATURAL_TIME_H

#include <glib.h>
#include <stdbool.h>

#include "base/day.h"

enum natural_time_hour {
	NATURAL_TIME_HOUR_CLEAR,   /* understood */
	NATURAL_TIME_HOUR_EITHER,  /* "9": in the morning or in the evening */
	NATURAL_TIME_HOUR_NOTHING, /* no time of day, as far as is known here */
};

/**
 * Understand "9pm", "9:30 p.m.", "21h", "21 Uhr", "21", "07.30", "noon".
 *
 * @param minute  after midnight; for NATURAL_TIME_HOUR_EITHER that of the morning
 */
enum natural_time_hour natural_time_parse_minute(const char *text, int *minute);

/** Whether a word belongs to the hour before it: "pm", "Uhr", "o'clock". */
bool natural_time_is_of_hour(const char *word);

/**
 * Understand "14d", "for 2 weeks", "two weeks", "a month", "tomorrow", "until friday",
 * which is the next one after today.
 *
 * @param here  today, where the person is
 * @return false: not understood, and day is untouched
 */
bool natural_time_parse_day(const char *text, GDateTime *here, char day[DAY_BYTES]);

#endif
