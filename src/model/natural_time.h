/*
 * natural_time.h - days, times of day and numbers as people write them.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/day.h"
#include "model/phrases.h"

/**
 * Find the day that a match names, such as "until 7 December" or "for two weeks".
 *
 * @param here  today in the subscriber's zone
 * @param day   set: after today where the year or month is left open; "" for a time
 *              without an end ("for a while")
 * @return false if it names none; day is unchanged then
 */
bool natural_time_find_day(
    const struct phrases_match *match, GDateTime *here, char day[DAY_BYTES]);

/** Find the first of two days, "from Monday until 12 December". @return as above */
bool natural_time_find_start(
    const struct phrases_match *match, GDateTime *here, char day[DAY_BYTES]);

/** Find the time of day that a match names. @param minute  set: after midnight */
bool natural_time_find_minute(const struct phrases_match *match, int *minute);

/** Find the n-th number of a match, in digits or words. @return -1: there is none */
int natural_time_find_number(const struct phrases_match *match, unsigned n);

/**
 * Parse "9pm", "9:30 p.m.", "8 in the morning", "21h", "21 Uhr", "8", "07.30", "noon".
 *
 * @param minute  set: after midnight
 * @return false if it is not a time of day in any language
 */
bool natural_time_parse_minute(const char *text, int *minute);

/**
 * Parse "14d", "for two weeks", "tomorrow", "next friday", "until the 7th", "gestern".
 *
 * @return false if it is not a day in any language; day is unchanged then
 */
bool natural_time_parse_day(const char *text, GDateTime *here, char day[DAY_BYTES]);
