/*
 * text.h - foreign text made fit to match, store and print.
 *
 * Everything a source says passes through here once, at intake; later code may
 * rely on one line of valid UTF-8 without a character that acts instead of
 * showing.
 */
#ifndef PAPERBOY_BASE_TEXT_H
#define PAPERBOY_BASE_TEXT_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * Normalise a title, a name or an abstract.
 *
 * Octets that are not UTF-8 become U+FFFD, one each.  Controls, bidirectional
 * controls, zero-width characters, tags and noncharacters go; TeX is decoded
 * (base/tex.h); the result is NFC (UAX #15), every run of white space (no-break
 * space and line breaks too) one blank, none at the ends, and at most 30
 * combining marks follow each other (the Stream-Safe limit of UAX #15).
 * Normalising the result again changes nothing, except for TeX made or cut to defeat
 * that.
 *
 * @param text       any octets, zero octets too
 * @param length     their number
 * @param max_bytes  longer text is cut before the character that does not fit, and
 *                   a letter is not cut from its marks
 * @return newly allocated, never NULL, may be empty
 */
char *text_normalize(const char *text, size_t length, size_t max_bytes);

/**
 * Tell whether text_normalize() drops a character: controls but white space, and
 * what does not show (soft hyphens, zero-width characters, marks of direction).
 */
bool text_is_stripped_char(gunichar c);

/**
 * Quote user input in a message.
 *
 * Invalid UTF-8 and control characters become U+FFFD.
 *
 * @param max_chars  longer text is cut there, and three dots follow
 * @return newly allocated
 */
char *text_quote(const char *text, size_t max_chars);

/**
 * Normalise a link (RFC 3986) that shall stand in a mail.
 *
 * Blanks around it go, the scheme becomes lower case, and octets beyond ASCII are
 * percent-encoded.  Only http and https, with a host of ASCII letters,
 * digits, dots and hyphens (or an IPv6 address in brackets) and without a user name.
 *
 * @param url        NUL-terminated, or NULL
 * @param max_bytes  limit of the result
 * @return newly allocated; NULL when it is not such a link, is too long, is not UTF-8
 * or holds a control, a blank, a quote, a backslash or an angle bracket
 */
char *text_normalize_url(const char *url, size_t max_bytes);

/**
 * Check what a person says that goes into headers, tables and terminals: one line
 * of text, neither empty nor too long.  It is not changed.
 *
 * @param what       what is checked, for the message: "the name"
 * @param text       any octets up to the NUL; NULL is fine
 * @return false with PB_ERROR_INPUT
 */
bool
text_check_line(const char *what, const char *text, size_t max_bytes, GError **error);

#endif
