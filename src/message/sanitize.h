/*
 * sanitize.h - neutralise untrusted text for one line of a message.
 *
 * Papers are normalised on input, but everything that goes into a header or body is
 * sanitized again here.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

/**
 * Convert to one line of valid UTF-8: invalid bytes become U+FFFD; control characters,
 * bidirectional controls (Unicode TR36 section 2.6) and invisible tag characters are
 * removed; white space is collapsed to single blanks and trimmed.
 *
 * @param text         any bytes up to the NUL; NULL is empty
 * @param limit_chars  0: unlimited; longer text is cut, at a nearby blank if possible,
 *                     and ends in U+2026 within the limit
 * @return owned by the caller
 */
char *sanitize_line(const char *text, size_t limit_chars);

/**
 * Format a title, an author's name or an abstract for people: TeX becomes plain text
 * (base/tex.h), the rest as by sanitize_line().
 */
char *sanitize_paper_text(const char *text, size_t limit_chars);

/**
 * Whether a link may be put into a mail: http or https, a host, no user part, printable
 * ASCII without blanks, quotes, brackets or backslashes, at most
 * BOUNDS_PAPER_URL_BYTES.
 *
 * @param url  may be NULL
 */
bool sanitize_is_web_url(const char *url);
