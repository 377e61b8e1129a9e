/*
 * locale_format.h - counts and dates as a reader says them, in the language of the
 * reader.
 */
#ifndef PAPERBOY_RENDER_LOCALE_FORMAT_H
#define PAPERBOY_RENDER_LOCALE_FORMAT_H

#include <glib.h>
#include <stdint.h>

#include "render/catalog.h"

/* A language of the file of phrases. */
struct words {
	const struct catalog *book;
	const char *language; /* "de" */
};

/**
 * Format a count by the phrases digest.NOUN.one and digest.NOUN.many: "42 votes".
 *
 * @return owned by the caller
 */
char *
locale_format_format_count(const struct words *words, int64_t count, const char *noun);

/** Say the phrase digest.NAME. @return owned by the caller */
char *locale_format_text(const struct words *words, const char *name);

enum locale_format_length {
	WORDS_SHORT, /* Sat 21 Nov 2026 */
	WORDS_LONG,  /* Saturday 21 November 2026 */
};

/** Format a day. @param day  YYYY-MM-DD @return owned by the caller; NULL for no such
 * day */
char *locale_format_format_day(
    const struct words *words, const char *day, enum locale_format_length length);

/**
 * Format a list of names: all of them up to `limit`, then "and 12 more".
 *
 * @param names  of char *
 * @return owned by the caller; NULL for none
 */
char *locale_format_format_names(
    const struct words *words, const GPtrArray *names, unsigned limit);

#endif
