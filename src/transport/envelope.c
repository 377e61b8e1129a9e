/*
 * envelope.c - a message to one recipient, and its wire format.
 */
#include "transport/envelope.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"

static bool
check_address(const char *address, const char *whose, GError **error)
{
	const char *wrong = NULL;

	if (strlen(address) > BOUNDS_ADDRESS_BYTES)
		wrong = "is too long";
	else if (!g_utf8_validate(address, -1, NULL))
		wrong = "is not UTF-8";
	for (const char *at = address; !wrong && *at; at++) {
		unsigned char byte = (unsigned char)*at;

		if (byte < 0x21 || byte == 0x7f || byte == '<' || byte == '>')
			wrong = "has an invalid character";
	}
	if (!wrong)
		return true;
	return pb_fail(error, PB_ERROR_PERMANENT, "%s address %s", whose, wrong);
}

bool
envelope_check_addresses(const struct envelope *envelope, GError **error)
{
	if (!*envelope->recipient)
		return pb_fail(error, PB_ERROR_PERMANENT, "recipient address is empty");
	return check_address(envelope->sender, "sender", error) &&
	       check_address(envelope->recipient, "recipient", error);
}

bool
envelope_needs_smtputf8(const struct envelope *envelope)
{
	return envelope->needs_smtputf8 || !g_str_is_ascii(envelope->sender) ||
	       !g_str_is_ascii(envelope->recipient);
}

bool
envelope_is_8bit(const struct envelope *envelope)
{
	size_t size;
	const unsigned char *bytes = g_bytes_get_data(envelope->message, &size);
	unsigned char seen = 0;

	for (size_t i = 0; i < size; i++)
		seen |= bytes[i];
	return seen & 0x80;
}

/* @return NULL, or an error description */
static const char *
check_line(const char *at, const char *end, size_t *n_line)
{
	const char *stop = memchr(at, '\n', (size_t)(end - at));
	size_t n = (size_t)((stop ? stop : end) - at);

	if (stop) {
		if (n == 0 || at[n - 1] != '\r')
			return "a bare LF";
		n--;
	}
	if (n > BOUNDS_LINE_BYTES)
		return "a line that is too long";
	if (memchr(at, '\r', n))
		return "a bare CR";
	if (memchr(at, '\0', n))
		return "a NUL";
	*n_line = n;
	return NULL;
}

/* Copy line by line with the given line end, with or without dot stuffing. */
static bool
copy_lines(const struct envelope *envelope, GString *out, bool has_dots_doubled,
    const char *line_end, GError **error)
{
	size_t size;
	const char *at = g_bytes_get_data(envelope->message, &size);
	const char *end = size > 0 ? at + size : at;
	gsize start = out->len;

	while (at < end) {
		size_t n = 0;
		const char *wrong = check_line(at, end, &n);

		if (wrong) {
			g_string_truncate(out, start);
			return pb_fail(
			    error, PB_ERROR_PERMANENT, "message has %s", wrong);
		}
		if (has_dots_doubled && n > 0 && *at == '.')
			g_string_append_c(out, '.');
		g_string_append_len(out, at, (gssize)n);
		g_string_append(out, line_end);
		at += MIN(n + 2, (size_t)(end - at));
	}
	return true;
}

bool
envelope_format_data(const struct envelope *envelope, GString *data, GError **error)
{
	if (!copy_lines(envelope, data, true, "\r\n", error))
		return false;
	g_string_append(data, ".\r\n");
	return true;
}

bool
envelope_format_file(const struct envelope *envelope, GString *file, GError **error)
{
	return copy_lines(envelope, file, false, "\n", error);
}
