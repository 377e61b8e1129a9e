/*
 * profile.h - a subscriber's name, schedule, preferences and pauses.
 *
 * Each function that takes an address is one commit, with its entry in the audit log.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/day.h"
#include "model/subscriber.h"
#include "store/core/store.h"

/* Changes for profile_set(); NULL or 0 keeps a value. */
struct profile_change {
	const char *name;      /* "" removes it */
	const char *zone;      /* IANA name */
	const char *at;        /* HH:MM */
	const char *frequency; /* for profile_parse_frequency() */
	int max_full;
	const char *days;                    /* "mon,thu": weekly, on these */
	const char *language;                /* "de"; "" removes it */
	const char *words[PREFERENCE_COUNT]; /* for preferences_choose() */
	const char *who;                     /* for the audit log */
};

/** Whether a request changes anything. */
bool profile_is_change(const struct profile_change *change);

/** Format non-default preferences: "quiet note, attach bibtex". @return or NULL */
char *profile_format_preferences(const struct subscriber *subscriber);

/**
 * Read a time of day: "07:30", or an informal form (model/schedule.h).
 *
 * @return false with PB_ERROR_INPUT, also if it is ambiguous (morning or evening)
 */
bool profile_parse_minute(const char *text, int *minute, GError **error);

/** Check a number of papers with abstract. @return false with PB_ERROR_INPUT */
bool profile_check_max(int max_full, GError **error);

/** Check a language: two letters, or "" for none. @return false with PB_ERROR_INPUT */
bool profile_check_language(const char *text, GError **error);

/**
 * Read "daily", "weekdays", "weekly" (on Mondays) or "weekly:mon,thu".
 *
 * @param schedule  frequency and weekdays are set, on success only
 */
bool
profile_parse_frequency(const char *text, struct schedule *schedule, GError **error);

/** Inverse of profile_parse_frequency(). @return a new string */
char *profile_format_frequency(const struct schedule *schedule);

/**
 * Find the subscriber's first slot on or after a day.
 *
 * @param zone  the subscriber's
 * @param day   a valid YYYY-MM-DD
 * @return s since the epoch
 */
int64_t profile_find_slot(
    const struct subscriber *subscriber, GTimeZone *zone, const char *day);

/**
 * Apply a change to a subscriber in memory.
 *
 * @return false with PB_ERROR_INPUT; the subscriber may be partly changed
 */
bool profile_apply(
    struct subscriber *subscriber, const struct profile_change *change, GError **error);

/** Apply a pause to a subscriber in memory; see profile_pause(). */
bool profile_apply_pause(
    struct subscriber *subscriber, const char *until, int64_t now, GError **error);

/**
 * Change name, schedule or preferences.  The next digest is at the next slot of the new
 * schedule; a digest that is already due remains due.
 *
 * @return the changed subscriber; NULL with PB_ERROR_INPUT or PB_ERROR_NOT_FOUND
 */
struct subscriber *profile_set(struct store *store, const char *address,
    const struct profile_change *change, int64_t now, GError **error);

/**
 * Pause digests.  Filters continue to match papers.  Queued mail that is not being sent
 * yet is cancelled, and its papers become due again.
 *
 * Digests resume at the first slot on the day (in the subscriber's zone), with one for
 * all papers missed that are still eligible.
 *
 * @param until  "2026-12-01", "14d" from today, or NULL: until profile_resume()
 * @return the changed subscriber; NULL with PB_ERROR_INPUT, PB_ERROR_LIMIT (more than
 *         BOUNDS_PAUSE_DAYS ahead) or PB_ERROR_NOT_FOUND
 */
struct subscriber *profile_pause(struct store *store, const char *address,
    const char *until, const char *who, int64_t now, GError **error);

/**
 * End a pause: one digest with the papers missed is due at once.
 *
 * @param catch_up  papers with abstract in that digest (see profile_check_max()); 0:
 *                  the subscriber's max
 * @return the changed subscriber; NULL with PB_ERROR_INPUT if not paused
 */
struct subscriber *profile_resume(struct store *store, const char *address,
    int catch_up, const char *who, int64_t now, GError **error);

/**
 * Parse the end of a pause.
 *
 * @param text  "2026-12-01", or informal: "14d", "for 2 weeks", "friday"
 * @param day   set on success: a day after today, at most BOUNDS_PAUSE_DAYS away
 */
bool profile_parse_until(const char *text, GTimeZone *zone, int64_t now,
    char day[DAY_BYTES], GError **error);

/** End expired pauses; in batches, each one commit. @param count  added to */
bool
profile_end_pause(struct store *store, int64_t now, unsigned *count, GError **error);
