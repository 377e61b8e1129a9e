/*
 * schedule.h - when a subscriber's digests are due.
 *
 * The caller passes the zone and the time.  A digest has a slot, named by its local
 * date and time, at an instant in UTC.  A local time that a clock change skips moves to
 * the end of the gap, even into the next day; of one that occurs twice, the second
 * occurrence is used.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/day.h"

enum schedule_frequency {
	SCHEDULE_DAILY,
	SCHEDULE_NOW,      /* every hour, on the hour */
	SCHEDULE_WEEKDAYS, /* Monday to Friday */
	SCHEDULE_WEEKLY,   /* on the days of `weekdays` */
};

#define SCHEDULE_MONDAY  0x01
#define SCHEDULE_ALL     0x7f
#define SCHEDULE_WORKING 0x1f

struct schedule {
	enum schedule_frequency frequency;
	unsigned weekdays; /* bit 0 is Monday; used when SCHEDULE_WEEKLY */
	int minute; /* local time, minutes after midnight, 0..1439; not for NOW */
};

struct schedule_slot {
	int64_t at;    /* s since the epoch, UTC */
	char name[17]; /* YYYY-MM-DDTHH:MM, local */
};

/** Get the first slot after a time. */
void schedule_get_next(const struct schedule *schedule, GTimeZone *zone, int64_t after,
    struct schedule_slot *slot);

/** Get the last slot at or before a time. */
void schedule_get_latest(const struct schedule *schedule, GTimeZone *zone, int64_t now,
    struct schedule_slot *slot);

/** Format the local date of a time, YYYY-MM-DD. */
void schedule_format_date(int64_t at, GTimeZone *zone, char date[DAY_BYTES]);

/** Give a weekly schedule at least one day, and clear the days of all others. */
struct schedule schedule_normalize(const struct schedule *schedule);

/** "daily", "weekdays", "weekly" or "now", in the store and in messages. */
const char *schedule_frequency_name(enum schedule_frequency frequency);
bool schedule_parse_frequency(
    const char *text, enum schedule_frequency *frequency, GError **error);

/** Parse "mon,thu" or "monday thursday" to bits. */
bool schedule_parse_weekdays(const char *text, unsigned *weekdays, GError **error);
char *schedule_format_weekdays(unsigned weekdays);

/** Parse "07:30" or "7:30" to minutes after midnight. */
bool schedule_parse_minute(const char *text, int *minute, GError **error);

#define SCHEDULE_MINUTE_BYTES sizeof("00:00")
void schedule_format_minute(int minute, char text[SCHEDULE_MINUTE_BYTES]);
