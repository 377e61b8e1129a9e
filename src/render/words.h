/*
 * words.h - counts and dates as a reader says them, in English.
 */
#ifndef PAPERBOY_RENDER_WORDS_H
#define PAPERBOY_RENDER_WORDS_H

#include <glib.h>
#include <stdint.h>

/** Format a count: "1 vote", "42 votes". @return owned by the caller */
char *words_format_count(int64_t count, const char *noun);

enum words_length {
	WORDS_SHORT, /* Sat 21 Nov 2026 */
	WORDS_LONG,  /* Saturday 21 November 2026 */
};

/** Format a day. @param day  YYYY-MM-DD @return owned by the caller; NULL for no such
 * day */
char *words_format_day(const char *day, enum words_length length);

/**
 * Format a list of names: all of them up to `limit`, then "and 12 more".
 *
 * @param names  of char *
 * @return owned by the caller; NULL for none
 */
char *words_format_names(const GPtrArray *names, unsigned limit);

#endif
