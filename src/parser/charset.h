/*
 * charset.h - text in any charset that mail is written in, as UTF-8.
 *
 * Converters are shared objects that have to be opened before the sandbox closes: so
 * the raw message is searched for names of charsets, those of a table are opened, and
 * no other name ever reaches iconv_open(3).  UTF-8 and windows-1252 need no converter.
 */
#ifndef PAPERBOY_PARSER_CHARSET_H
#define PAPERBOY_PARSER_CHARSET_H

#include <glib.h>

#include "base/cleanup.h"

struct charset_set;

/**
 * Open a converter for each charset that a message names, at most
 * BOUNDS_MAIL_CHARSETS of them.
 */
struct charset_set *charset_set_new(const char *text, size_t size);
void charset_set_free(struct charset_set *set);
PB_DEFINE_AUTO(charset_set, charset_set_free);

/**
 * Convert to UTF-8.  What is not of the charset becomes U+FFFD.  ISO 8859-1 is read as
 * windows-1252, which it is nearly always; so is a charset that is unknown or not
 * named, unless the text is valid UTF-8.
 *
 * @param name       as the message has it, or NULL
 * @param max_bytes  longer text is cut after a character
 * @return valid UTF-8, NUL-terminated without a NUL in it, owned by the caller
 */
char *charset_decode(struct charset_set *set, const char *name, const char *data,
    size_t size, size_t max_bytes);

#endif
