/*
 * charset.h - conversion of mail charsets to UTF-8.
 *
 * Converters are shared objects that must be opened before the sandbox closes.
 * Therefore the raw message is searched for charset names, those in a table are opened,
 * and no other name reaches iconv_open(3). UTF-8 and windows-1252 need no converter.
 */
#pragma once

#include <glib.h>

#include "base/cleanup.h"

struct charset_set;

/**
 * Open converters for the charsets named in a message, at most
 * BOUNDS_MAIL_CHARSETS.
 */
struct charset_set *charset_set_new(const char *text, size_t size);
void charset_set_free(struct charset_set *set);
PB_DEFINE_AUTO(charset_set, charset_set_free);

/**
 * Convert to UTF-8. Invalid bytes become U+FFFD. ISO 8859-1 is read as windows-1252, as
 * are unknown and missing charsets, unless the text is valid UTF-8.
 *
 * @param name       charset label of the message, or NULL
 * @param max_bytes  longer text is cut after a character
 * @return valid UTF-8 without NUL, NUL-terminated, owned by the caller
 */
char *charset_decode(struct charset_set *set, const char *name, const char *data,
    size_t size, size_t max_bytes);
