/*
 * encoding.c - transfer encodings of UTF-8 text (RFC 2045 section 6).
 */
#include "message/encoding.h"

#include <stdbool.h>
#include <string.h>

#include "base/bounds.h"

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

size_t
encoding_count_non_ascii(const char *text, size_t size)
{
	size_t count = 0;

	for (size_t i = 0; i < size; i++)
		count += (unsigned char)text[i] >> 7;
	return count;
}

enum encoding
encoding_choose(size_t size, size_t non_ascii)
{
	return non_ascii * 100 > size * NON_ASCII_PERCENT ? ENCODING_BASE64
	                                                  : ENCODING_QUOTED_PRINTABLE;
}

/* One table lookup instead of three comparisons: a hot path. */
static bool
is_plain(char c)
{
	static const bool plain[256] = {[' ' ... '<'] = true, ['>' ... '~'] = true};

	return plain[(unsigned char)c];
}

/* RFC 2045 section 6.7. Also, "." at the start of a line is doubled by SMTP (RFC 5321
 * section 4.5.2), and "From " gets a ">" in mbox files. */
static bool
needs_escape_at_start(const char *text, size_t size)
{
	return text[0] == '.' || (size >= 5 && memcmp(text, "From ", 5) == 0);
}

static bool
is_plain_line(const char *line, size_t size)
{
	if (size == 0)
		return true;
	if (size > BOUNDS_BODY_LINE_BYTES || line[size - 1] == ' ' ||
	    needs_escape_at_start(line, size))
		return false;
	for (size_t i = 0; i < size; i++)
		if (!is_plain(line[i]))
			return false;
	return true;
}

/* Number of bytes that are copied literally within this line, without the last of the
 * text. */
static size_t
measure_run(const char *text, size_t size, size_t column)
{
	size_t most = MIN(size, BOUNDS_BODY_LINE_BYTES - column) - 1;
	size_t n = 0;

	while (n < most && is_plain(text[n]))
		n++;
	return n;
}

/* At worst every byte becomes three, and every line gets a soft break. */
static size_t
get_qp_bytes(size_t size)
{
	return size * 3 + (size * 3 / (BOUNDS_BODY_LINE_BYTES - 3) + 1) * 3;
}

/* @param out  has room for get_qp_bytes() @return its end */
static char *
encode_qp_line(char *out, const char *line, size_t size)
{
	static const char hex[] = "0123456789ABCDEF";
	size_t column = 0;

	for (size_t i = 0; i < size; i++) {
		size_t run = column > 0 ? measure_run(line + i, size - i, column) : 0;
		bool is_last, is_literal;
		size_t cost;

		memcpy(out, line + i, run);
		out += run;
		column += run;
		i += run;
		is_last = i + 1 == size;
		is_literal =
		    is_plain(line[i]) && !(is_last && line[i] == ' ') &&
		    !(column == 0 && needs_escape_at_start(line + i, size - i));
		cost = is_literal ? 1 : 3;

		/* The last column is reserved for the soft break. */
		if (column + cost > BOUNDS_BODY_LINE_BYTES - (is_last ? 0 : 1)) {
			memcpy(out, "=\r\n", 3);
			out += 3;
			column = 0;
			i--;
			continue;
		}
		if (is_literal) {
			*out++ = line[i];
		} else {
			*out++ = '=';
			*out++ = hex[(unsigned char)line[i] >> 4];
			*out++ = hex[(unsigned char)line[i] & 15];
		}
		column += cost;
	}
	return out;
}

static void
append_careful_line(GString *out, const char *line, size_t size)
{
	size_t at = out->len;
	char *end;

	g_string_set_size(out, at + get_qp_bytes(size));
	end = encode_qp_line(out->str + at, line, size);
	g_string_truncate(out, (size_t)(end - out->str));
}

/* Append a line that is encoded as it is. */
static void
append_plain_line(GString *out, const char *line, size_t size, bool is_ended)
{
	size_t at = out->len, end = at + size + (is_ended ? 2 : 0);

	if (end < out->allocated_len)
		out->len = end;
	else
		g_string_set_size(out, end);
	memcpy(out->str + at, line, size);
	if (is_ended)
		memcpy(out->str + at + size, "\r\n", 2);
	out->str[end] = '\0';
}

void
encoding_append_quoted_printable(GString *out, const char *text, size_t size)
{
	const char *end = text + size;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((newline ? newline : end) - text);

		if (newline && length > 0 && text[length - 1] == '\r')
			length--;
		if (is_plain_line(text, length)) {
			append_plain_line(out, text, length, newline != NULL);
		} else {
			append_careful_line(out, text, length);
			if (newline)
				g_string_append_len(out, "\r\n", 2);
		}
		if (!newline)
			break;
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

void
encoding_append_base64(GString *out, const char *text, size_t size)
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

size_t
encoding_get_base64_size(size_t size)
{
	size_t lines = (size + BASE64_LINE_BYTES - 1) / BASE64_LINE_BYTES;

	return (size + 2) / 3 * 4 + 2 * lines;
}

enum encoding
encoding_append_text(GString *out, const char *text, size_t size)
{
	enum encoding chosen =
	    encoding_choose(size, encoding_count_non_ascii(text, size));

	switch (chosen) {
	case ENCODING_QUOTED_PRINTABLE:
		encoding_append_quoted_printable(out, text, size);
		break;
	case ENCODING_BASE64:
		encoding_append_base64(out, text, size);
		break;
	}
	return chosen;
}
