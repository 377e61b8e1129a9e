/*
 * rhythm.h - when a person's editions are due.
 *
 * Pure arithmetic: the zone and the time are passed in.  An edition has a
 * slot, named by its local date and hour, and an instant in UTC.  An hour
 * that a clock change skips moves to the end of the gap, even into the next
 * day; of an hour that comes twice the second is taken.
 */
#ifndef PAPERBOY_MODEL_RHYTHM_H
#define PAPERBOY_MODEL_RHYTHM_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/day.h"

enum rhythm_cadence {
	RHYTHM_DAILY,
	RHYTHM_NOW,      /* at every full hour */
	RHYTHM_WEEKDAYS, /* Monday to Friday */
	RHYTHM_WEEKLY,   /* on the days of `weekdays` */
};

#define RHYTHM_MONDAY  0x01
#define RHYTHM_ALL     0x7f
#define RHYTHM_WORKING 0x1f

struct rhythm {
	enum rhythm_cadence cadence;
	unsigned weekdays; /* bit 0 is Monday; used when RHYTHM_WEEKLY */
	int minute; /* local time, minutes after midnight, 0..1439; not for NOW */
};

struct rhythm_slot {
	int64_t at;    /* s since the epoch, UTC */
	char name[17]; /* YYYY-MM-DDTHH:MM, local */
};

/** The first slot after a time. */
void rhythm_get_next(const struct rhythm *rhythm, GTimeZone *zone, int64_t after,
    struct rhythm_slot *slot);

/** The last slot at or before a time. */
void rhythm_get_latest(const struct rhythm *rhythm, GTimeZone *zone, int64_t now,
    struct rhythm_slot *slot);

/** The local date of a time, YYYY-MM-DD. */
void rhythm_format_date(int64_t at, GTimeZone *zone, char date[DAY_BYTES]);

/** Make a rhythm whole: no weekly one without a day, no days where none count. */
struct rhythm rhythm_normalize(const struct rhythm *rhythm);

/** "daily", "weekdays", "weekly", "now": as in the store and for people. */
const char *rhythm_cadence_name(enum rhythm_cadence cadence);
bool
rhythm_parse_cadence(const char *text, enum rhythm_cadence *cadence, GError **error);

/** "mon,thu" or "monday thursday" to bits. */
bool rhythm_parse_weekdays(const char *text, unsigned *weekdays, GError **error);
char *rhythm_format_weekdays(unsigned weekdays);

/** "07:30" or "7:30" to minutes after midnight. */
bool rhythm_parse_minute(const char *text, int *minute, GError **error);

#define RHYTHM_MINUTE_BYTES sizeof("00:00")
void rhythm_format_minute(int minute, char text[RHYTHM_MINUTE_BYTES]);

#endif
