/*
 * encoding.h - transfer encodings of UTF-8 text (RFC 2045 section 6).
 *
 * The output is 7-bit with CRLF and at most 76 columns, and survives relays: no line
 * starts with "." or "From ", none ends in a blank. The input has LF or CRLF; any other
 * byte is preserved.
 */
#pragma once

#include <glib.h>

enum encoding {
	ENCODING_QUOTED_PRINTABLE = 0, /* mostly ASCII */
	ENCODING_BASE64 = 1,           /* more than 30 % non-ASCII bytes */
};

/** @return the value for Content-Transfer-Encoding */
const char *encoding_get_name(enum encoding encoding);

/**
 * Append text in quoted-printable. Chunks that end with a line break may be encoded
 * separately.
 */
void encoding_append_quoted_printable(GString *out, const char *text, size_t size);

/** Decode what encoding_append_quoted_printable() made; lines end in LF. */
void encoding_append_decoded(GString *out, const char *text, size_t size);

/** Append text in the more compact encoding; base64 has CRLF line ends. @return it */
enum encoding encoding_append_text(GString *out, const char *text, size_t size);
