/*
 * fuzz_encoding.c - encode any bytes in the transfer encodings, and decode them.
 */
#include <string.h>

#include "base/bounds.h"
#include "fuzz.h"
#include "message/encoding.h"

/* The expected bytes on the wire: line ends as CRLF, all else unchanged. */
static GString *
make_canonical(const char *text, size_t size)
{
	GString *canonical = g_string_new(NULL);

	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r'))
			g_string_append_c(canonical, '\r');
		g_string_append_c(canonical, text[i]);
	}
	return canonical;
}

/* RFC 2045 section 6.7, strictly: only "=XX", "=CRLF" and what may stand as it is. */
static GString *
decode_quoted_printable(const GString *encoded)
{
	GString *text = g_string_new(NULL);

	for (size_t i = 0; i < encoded->len; i++) {
		const char *p = encoded->str + i;

		if (*p != '=') {
			g_assert((*p >= ' ' && *p <= '~') || *p == '\r' || *p == '\n');
			g_string_append_c(text, *p);
			continue;
		}
		i += 2;
		if (strncmp(p, "=\r\n", 3) == 0)
			continue;
		g_assert(g_ascii_isxdigit(p[1]) && g_ascii_isxdigit(p[2]));
		g_string_append_c(text, (char)(g_ascii_xdigit_value(p[1]) * 16 +
		                               g_ascii_xdigit_value(p[2])));
	}
	return text;
}

/* Check for bytes that relays and mailboxes would change. */
static void
check_lines(const GString *encoded)
{
	g_autoptr(GString) closed =
	    g_string_new_len(encoded->str, (gssize)encoded->len);

	g_assert(strlen(encoded->str) == encoded->len);
	if (closed->len > 0 && closed->str[closed->len - 1] != '\n')
		g_string_append(closed, "\r\n");
	fuzz_check_wire(closed->str, closed->len, BOUNDS_BODY_LINE_BYTES, true);
	for (const char *line = closed->str; *line; line = strchr(line, '\n') + 1) {
		size_t size = strcspn(line, "\r");

		g_assert(line[0] != '.' && !g_str_has_prefix(line, "From "));
		g_assert(
		    size == 0 || (line[size - 1] != ' ' && line[size - 1] != '\t'));
	}
}

static void
check_quoted_printable(const char *text, size_t size, const GString *canonical)
{
	const char *middle = memchr(text + size / 2, '\n', size - size / 2);
	size_t split = middle ? (size_t)(middle + 1 - text) : 0;
	g_autoptr(GString) whole = g_string_new(NULL);
	g_autoptr(GString) apart = g_string_new(NULL);
	g_autoptr(GString) decoded = NULL;

	encoding_append_quoted_printable(whole, text, size);
	check_lines(whole);
	decoded = decode_quoted_printable(whole);
	g_assert(g_string_equal(decoded, canonical));
	encoding_append_quoted_printable(apart, text, split);
	encoding_append_quoted_printable(apart, text + split, size - split);
	g_assert(g_string_equal(whole, apart));
}

static void
check_base64(const GString *encoded, const GString *canonical)
{
	gsize length;
	g_autofree guchar *decoded = g_base64_decode(encoded->str, &length);

	g_assert(length == canonical->len);
	g_assert(length == 0 || memcmp(decoded, canonical->str, length) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = size > 0 ? (const char *)data : "";
	g_autoptr(GString) canonical = make_canonical(text, size);
	g_autoptr(GString) chosen = g_string_new(NULL);

	check_quoted_printable(text, size, canonical);
	if (encoding_append_text(chosen, text, size) == ENCODING_BASE64)
		check_base64(chosen, canonical);
	check_lines(chosen);
	return 0;
}
