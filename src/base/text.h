/*
 * text.h - sanitise untrusted text for matching, storage and output.
 *
 * All text from sources is normalised once, on import; later code can rely on a
 * single line of valid UTF-8 without control or invisible characters.
 */
#pragma once

#include "base/po.h"
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* Errors of text_check_line(). */
#define TEXT_LINE_EMPTY   N_("the {what} is empty")
#define TEXT_LINE_LONG    N_("the {what} is too long")
#define TEXT_LINE_UTF8    N_("the {what} is not UTF-8")
#define TEXT_LINE_CONTROL N_("the {what} contains a control character")

/**
 * Normalise a title, a name or an abstract.
 *
 * Each byte that is not valid UTF-8 becomes U+FFFD.  Controls, bidirectional
 * controls, zero-width characters, tags and noncharacters are removed; TeX is decoded
 * (base/tex.h).  The result is in NFC (UAX #15); each run of white space (including
 * no-break spaces and line breaks) is one space, leading and trailing ones are
 * removed, and at most 30 combining marks follow each other (the Stream-Safe limit of
 * UAX #15).  The function is idempotent, except for TeX that is crafted or truncated
 * to defeat that.
 *
 * @param text       any bytes, including NUL
 * @param max_bytes  longer text is truncated before the word that does not fit, and
 *                   ends in an ellipsis; if it is less than a few words, before the
 *                   character, but a letter is not separated from its combining marks
 * @return newly allocated, never NULL, may be empty
 */
char *text_normalize(const char *text, size_t length, size_t max_bytes);

/**
 * Check whether text_normalize() removes a character: controls other than white space,
 * and invisible characters (soft hyphens, zero-width characters, direction marks).
 */
bool text_is_stripped_char(gunichar c);

/**
 * Quote user input in a message.
 *
 * Invalid UTF-8 and control characters become U+FFFD.
 *
 * @param max_chars  longer text is truncated and "..." appended
 * @return newly allocated
 */
char *text_quote(const char *text, size_t max_chars);

/**
 * Normalise a URL (RFC 3986) for use in a message.
 *
 * Surrounding blanks are removed, the scheme becomes lower case, and non-ASCII bytes
 * are percent-encoded.  Accepts http and https only, with a host of ASCII letters,
 * digits, dots and hyphens (or an IPv6 address in brackets), without user information.
 *
 * @param url        may be NULL
 * @param max_bytes  limit for the result
 * @return newly allocated; NULL if the URL is not of this form, is too long, is not
 * UTF-8 or contains a control, a blank, a quote, a backslash or an angle bracket
 */
char *text_normalize_url(const char *url, size_t max_bytes);

/**
 * Check user input for use in headers, tables and terminals: one line of text,
 * neither empty nor too long.
 *
 * @param what       name of the value, for the error message: "the name"
 * @param text       any bytes up to the NUL; may be NULL
 * @return false with PB_ERROR_INPUT
 */
bool
text_check_line(const char *what, const char *text, size_t max_bytes, GError **error);

/** strcmp() of two pointers to strings, for g_ptr_array_sort(). */
int text_compare_pointers(const void *a, const void *b);

/**
 * Check the lines of a message, which end with CRLF; the last one need not.
 *
 * @return NULL, or what is wrong: "a bare CR", "a bare LF", "a NUL", or "a line that is
 *         too long" (BOUNDS_LINE_BYTES)
 */
const char *text_find_bad_line(const char *bytes, size_t size);

/**
 * Append windows-1252 as UTF-8, with bytes that it does not define as in the Encoding
 * Standard.
 *
 * @param max_bytes  length of out after which nothing is appended
 */
void
text_append_windows_1252(GString *out, const char *data, size_t size, size_t max_bytes);
