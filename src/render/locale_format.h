/*
 * locale_format.h - counts, dates and lists in the reader's language.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

#include "render/catalog.h"

/* Both are borrowed. */
struct locale_format {
	const struct catalog *catalog;
	const char *language; /* "de" */
};

/**
 * Format a count: "42 votes".
 *
 * @param text  PL_()
 * @return owned by the caller
 */
char *locale_format_count(
    const struct locale_format *format, int64_t count, const char *text);

/** Format a text: N_(). @return owned by the caller */
char *locale_format_text(const struct locale_format *format, const char *text);

enum locale_format_length {
	LOCALE_FORMAT_NO_YEAR, /* Sat 21 Nov */
	LOCALE_FORMAT_SHORT,   /* Sat 21 Nov 2026 */
	LOCALE_FORMAT_LONG,    /* Saturday 21 November 2026 */
};

/** Format a day. @param day  YYYY-MM-DD @return owned by the caller; NULL if invalid */
char *locale_format_day(const struct locale_format *format, const char *day,
    enum locale_format_length length);

/**
 * Format a list of names: up to `limit` of them, then "and 12 more"; one name more is
 * listed too.
 *
 * @param names  of char *
 * @return owned by the caller; NULL for an empty list
 */
char *locale_format_names(
    const struct locale_format *format, const GPtrArray *names, unsigned limit);
