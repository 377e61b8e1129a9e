/*
 * profile.h - a person's name and rhythm, and pauses.
 *
 * Each call on an address is one commit with its line in the audit.
 */
#ifndef PAPERBOY_SERVICE_PEOPLE_PROFILE_H
#define PAPERBOY_SERVICE_PEOPLE_PROFILE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/day.h"
#include "model/subscriber.h"
#include "store/core/store.h"

/* Changes for profile_set(): NULL or 0 keeps the old value. */
struct profile_change {
	const char *name;      /* "" takes it away */
	const char *zone;      /* IANA name */
	const char *at;        /* HH:MM */
	const char *frequency; /* as profile_parse_frequency() reads it */
	int max_full;
	const char *days;                    /* "mon,thu": weekly, on these */
	const char *language;                /* "de"; "" takes it away */
	const char *words[PREFERENCE_COUNT]; /* what preferences_choose() reads */
	const char *who;                     /* for the audit */
};

/** Is there anything that it changes? */
bool profile_is_change(const struct profile_change *change);

/** "quiet note, attach bibtex": what is not as it is for everybody, or NULL. */
char *profile_format_preferences(const struct subscriber *subscriber);

/**
 * Read a time of day: "07:30", or as people say it (model/natural_time.h).
 *
 * @return false with PB_ERROR_INPUT, also when it may be morning or evening
 */
bool profile_parse_minute(const char *text, int *minute, GError **error);

/** Check how many papers are to be shown in full. @return false with PB_ERROR_INPUT */
bool profile_check_max(int max_full, GError **error);

/** Check a language: two letters, or "" for none. @return false with PB_ERROR_INPUT */
bool profile_check_language(const char *text, GError **error);

/**
 * Read "daily", "weekdays", "weekly" (on Mondays) or "weekly:mon,thu".
 *
 * @param rhythm  its cadence and weekdays are set, on success only
 */
bool
profile_parse_frequency(const char *text, struct schedule *schedule, GError **error);

/** The other way round: "weekly:mon,thu". @return a new string */
char *profile_format_frequency(const struct schedule *schedule);

/**
 * The first slot of a person on a day, or after it.
 *
 * @param zone  the person's
 * @param day   YYYY-MM-DD; one that exists
 * @return s
 */
int64_t profile_find_slot(
    const struct subscriber *subscriber, GTimeZone *zone, const char *day);

/**
 * Apply a change to a subscriber in memory.
 *
 * @return false with PB_ERROR_INPUT; the subscriber may have been changed in part
 */
bool profile_apply(
    struct subscriber *subscriber, const struct profile_change *change, GError **error);

/** Apply a pause to a subscriber in memory; until and errors as profile_pause(). */
bool profile_apply_pause(
    struct subscriber *subscriber, const char *until, int64_t now, GError **error);

/**
 * Change name or rhythm.  The next digest is at the next slot of the new rhythm; one
 * that is due already stays due.
 *
 * @return as the person is now; NULL with PB_ERROR_INPUT or PB_ERROR_NOT_FOUND
 */
struct subscriber *profile_set(struct store *store, const char *address,
    const struct profile_change *change, int64_t now, GError **error);

/**
 * Send nothing for a while.  Filters go on finding papers.  Mail that has not
 * begun to go out is cancelled, and its papers wait with the others.
 *
 * Mail comes again at the first slot on the day (in the person's zone): one
 * digest with what was missed, as far back as papers are eligible.
 *
 * @param until  "2026-12-01", "14d" from today, or NULL: until profile_resume()
 * @return as the person is now; NULL with PB_ERROR_INPUT, PB_ERROR_LIMIT (further than
 *         BOUNDS_PAUSE_DAYS) or PB_ERROR_NOT_FOUND
 */
struct subscriber *profile_pause(struct store *store, const char *address,
    const char *until, const char *who, int64_t now, GError **error);

/**
 * End a pause: one digest with what was missed is due at once.
 *
 * @param catch_up  papers with abstract of that digest, as profile_check_max(); 0: as
 * in any other
 * @return as the person is now; NULL with PB_ERROR_INPUT when there is no pause
 */
struct subscriber *profile_resume(struct store *store, const char *address,
    int catch_up, const char *who, int64_t now, GError **error);

/**
 * Read when a pause ends.
 *
 * @param until  "2026-12-01", or as people say it: "14d", "for 2 weeks", "friday"
 * @param day    set on success: a day after today, at most BOUNDS_PAUSE_DAYS away
 */
bool profile_parse_until(const char *until, GTimeZone *zone, int64_t now,
    char day[DAY_BYTES], GError **error);

/** End the pauses whose day has come; in pages, each one commit. @param count added to
 */
bool
profile_end_pause(struct store *store, int64_t now, unsigned *count, GError **error);

#endif
