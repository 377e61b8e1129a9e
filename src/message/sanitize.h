/*
 * sanitize.h - foreign text made harmless for one line of a message.
 *
 * Papers are normalised when they come in, yet what goes into a header or a
 * body passes here once more: the last gate does not trust the first.
 */
#ifndef PAPERBOY_MESSAGE_SANITIZE_H
#define PAPERBOY_MESSAGE_SANITIZE_H

#include <glib.h>
#include <stdbool.h>

/**
 * Make one line of text: valid UTF-8 (a bad octet becomes U+FFFD), no control
 * characters, no bidirectional controls (Unicode TR36 section 2.6), no
 * invisible tag characters, white space of any kind and length as one blank,
 * none at the ends.
 *
 * @param text         any octets up to the NUL; NULL is empty
 * @param limit_chars  0 for no limit; longer text is cut, at a blank where one
 *                     is near, and ends in U+2026 within the limit
 * @return the line, owned by the caller
 */
char *sanitize_line(const char *text, size_t limit_chars);

/**
 * Tell whether a link may stand in a mail: http or https, a host, no user
 * part, printable ASCII without blanks, quotes, brackets or backslashes, and
 * at most BOUNDS_PAPER_URL_BYTES.
 *
 * @param url  may be NULL
 */
bool sanitize_is_web_url(const char *url);

#endif
