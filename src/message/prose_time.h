/*
 * prose_time.h - days and times of day in words, by the phrases of all languages.
 */
#ifndef PAPERBOY_MESSAGE_PROSE_TIME_H
#define PAPERBOY_MESSAGE_PROSE_TIME_H

#include "base/day.h"
#include "message/prose.h"

/**
 * Find the day that a wish names, such as "until 7 December" or "for two weeks".
 *
 * @param here  today in the subscriber's zone
 * @param day   set: after today where the year or month is left open; "" for a time
 *              without an end ("for a while")
 * @return false if it names none; day is unchanged then
 */
bool
prose_find_day(const struct prose_item *item, GDateTime *here, char day[DAY_BYTES]);

/**
 * Parse a day in words: "next friday", "yesterday", "until the 7th", "drei Wochen".
 *
 * @return false if it is none in any language; day is unchanged then
 */
bool prose_parse_day(const char *text, GDateTime *here, char day[DAY_BYTES]);

/** Find the time of day that a wish names. @param minute  after midnight */
bool prose_find_minute(const struct prose_item *item, int *minute);

/** Find the number of a wish, in digits or words. @return -1 if there is none */
int prose_find_number(const struct prose_item *item, unsigned n);

#endif
