/*
 * encoding.c - transfer encodings of UTF-8 text (RFC 2045 section 6).
 */
#include "message/encoding.h"

#include <stdbool.h>
#include <string.h>

#include "base/bounds.h"

/* Part of the bytes that are not ASCII above which base64 is used, %. */
#define NON_ASCII_PERCENT 30

/* Input bytes per line of base64. */
#define BASE64_LINE_BYTES (BOUNDS_BODY_LINE_BYTES / 4 * 3)

const char *
encoding_get_name(enum encoding encoding)
{
	switch (encoding) {
	case ENCODING_QUOTED_PRINTABLE:
		return "quoted-printable";
	case ENCODING_BASE64:
		return "base64";
	}
	g_assert_not_reached();
}

/* RFC 2045 section 6.7.  Also, "." at the start of a line is doubled by SMTP (RFC 5321
 * section 4.5.2), and "From " gets a ">" in mbox files. */
static bool
is_literal(const char *at, const char *end, size_t column)
{
	if (*at == '=' || *at < ' ' || *at > '~')
		return false;
	if (column == 0 && (*at == '.' || (end - at >= 5 && !memcmp(at, "From ", 5))))
		return false;
	return *at != ' ' || at + 1 < end;
}

/* Count the characters of a line that stand for themselves in any column. */
static size_t
count_literals(const char *at, const char *end, size_t most)
{
	size_t count = 0;

	most = MIN(most, (size_t)(end - at));
	while (count < most && at[count] >= ' ' && at[count] <= '~' && at[count] != '=')
		count++;
	/* A blank at the end of the line is none. */
	return count && at + count == end && at[count - 1] == ' ' ? count - 1 : count;
}

/* @param end  of the line, without its line end */
static void
append_qp_line(GString *out, const char *at, const char *end)
{
	static const char hex[] = "0123456789ABCDEF";
	size_t column = 0;

	for (; at < end; at++) {
		/* The last column is reserved for the soft line break. */
		size_t run = column ? count_literals(
		                          at, end, BOUNDS_BODY_LINE_BYTES - 1 - column)
		                    : 0;
		size_t most, width;

		g_string_append_len(out, at, (gssize)run);
		column += run;
		at += run;
		if (at == end)
			break;
		most = BOUNDS_BODY_LINE_BYTES - (at + 1 < end);
		width = is_literal(at, end, column) ? 1 : 3;
		if (column + width > most) {
			g_string_append(out, "=\r\n");
			column = 0;
			width = is_literal(at, end, column) ? 1 : 3;
		}
		if (width == 1) {
			g_string_append_c(out, *at);
		} else {
			g_string_append_c(out, '=');
			g_string_append_c(out, hex[(unsigned char)*at >> 4]);
			g_string_append_c(out, hex[(unsigned char)*at & 15]);
		}
		column += width;
	}
}

void
encoding_append_quoted_printable(GString *out, const char *text, size_t size)
{
	const char *end = text + size;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *last = newline ? newline : end;

		append_qp_line(out, text,
		    newline && last > text && last[-1] == '\r' ? last - 1 : last);
		if (!newline)
			break;
		g_string_append(out, "\r\n");
		text = newline + 1;
	}
}

void
encoding_append_decoded(GString *out, const char *text, size_t size)
{
	const char *end = text + size;

	while (text < end) {
		size_t run = 0;

		while (text + run < end && text[run] != '=' && text[run] != '\r')
			run++;
		g_string_append_len(out, text, (gssize)run);
		text += run;
		if (text == end)
			break;
		if (*text == '\r') {
			text++;
		} else if (text[1] == '\r') {
			text += strlen("=\r\n");
		} else {
			g_string_append_c(
			    out, (char)(g_ascii_xdigit_value(text[1]) << 4 |
			                g_ascii_xdigit_value(text[2])));
			text += strlen("=XX");
		}
	}
}

static GString *
make_canonical(const char *text, size_t size)
{
	GString *canonical = g_string_sized_new(size + size / 32);

	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r'))
			g_string_append_c(canonical, '\r');
		g_string_append_c(canonical, text[i]);
	}
	return canonical;
}

/* Append text in base64, with line ends converted to CRLF. */
static void
append_base64(GString *out, const char *text, size_t size)
{
	g_autoptr(GString) canonical = make_canonical(text, size);

	for (size_t at = 0; at < canonical->len; at += BASE64_LINE_BYTES) {
		size_t count = MIN(canonical->len - at, BASE64_LINE_BYTES);
		char line[BOUNDS_BODY_LINE_BYTES + 8];
		gint state = 0;
		gint save = 0;
		size_t length =
		    g_base64_encode_step((const guchar *)canonical->str + at, count,
		        FALSE, line, &state, &save);

		length += g_base64_encode_close(FALSE, line + length, &state, &save);
		g_string_append_len(out, line, (gssize)length);
		g_string_append_len(out, "\r\n", 2);
	}
}

enum encoding
encoding_append_text(GString *out, const char *text, size_t size)
{
	size_t non_ascii = 0;

	for (size_t i = 0; i < size; i++)
		non_ascii += (unsigned char)text[i] >> 7;
	if (non_ascii * 100 > size * NON_ASCII_PERCENT) {
		append_base64(out, text, size);
		return ENCODING_BASE64;
	}
	encoding_append_quoted_printable(out, text, size);
	return ENCODING_QUOTED_PRINTABLE;
}
