/*
 * encoding.h - transfer encodings of UTF-8 text (RFC 2045 section 6).
 *
 * Out comes 7-bit text with CRLF after every line and at most 76 columns,
 * safe against what relays do to lines: none starts with "." or "From ", none
 * ends in a blank.  In goes text with LF or CRLF; any other octet is kept.
 */
#ifndef PAPERBOY_MESSAGE_ENCODING_H
#define PAPERBOY_MESSAGE_ENCODING_H

#include <glib.h>

enum encoding {
	ENCODING_QUOTED_PRINTABLE = 0, /* mostly ASCII */
	ENCODING_BASE64 = 1,           /* more than 30 % of it is not ASCII */
};

/** Name an encoding as Content-Transfer-Encoding does. */
const char *encoding_get_name(enum encoding encoding);

/** Count the octets that are not ASCII. */
size_t encoding_count_non_ascii(const char *text, size_t size);

/** Choose for a text of so many octets, so many of which are not ASCII. */
enum encoding encoding_choose(size_t size, size_t foreign);

/**
 * Append text in quoted-printable.  Encoding pieces apart gives the same as
 * encoding them together as long as each piece ends with a line break.
 */
void encoding_append_quoted_printable(GString *out, const char *text, size_t size);

/** Append text in base64, its line ends made CRLF first. */
void encoding_append_base64(GString *out, const char *text, size_t size);

/**
 * Tell how much base64 makes, line ends and all.
 *
 * @param size  octets of the text with CRLF line ends
 */
size_t encoding_get_base64_size(size_t size);

/** Append text in the encoding that suits it. @return the one chosen */
enum encoding encoding_append_text(GString *out, const char *text, size_t size);

#endif
