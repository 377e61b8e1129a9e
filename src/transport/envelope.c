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
	uint64_t seen = 0, word;

	for (; size >= sizeof(word); size -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		seen |= word;
	}
	for (; size; size--)
		seen |= *bytes++;
	return seen & UINT64_C(0x8080808080808080);
}

/* @param n_line  set: bytes without the line end @return NULL, or an error description
 */
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
	*n_line = n;
	return NULL;
}

/* @return NULL, or an error description */
static const char *
append_lines(const char *at, const char *end, bool is_data, GString *out)
{
	const char *from = at; /* not appended yet */
	size_t n;

	if (memchr(at, '\0', (size_t)(end - at)))
		return "a NUL";
	for (; at < end; at += MIN(n + 2, (size_t)(end - at))) {
		const char *wrong = check_line(at, end, &n);

		if (wrong)
			return wrong;
		if (is_data && *at == '.') {
			g_string_append_len(out, from, at - from);
			g_string_append_c(out, '.');
			from = at;
		} else if (!is_data) {
			g_string_append_len(out, at, (gssize)n);
			g_string_append_c(out, '\n');
		}
	}
	if (!is_data)
		return NULL;
	g_string_append_len(out, from, end - from);
	if (end[-1] != '\n')
		g_string_append(out, "\r\n");
	return NULL;
}

/* @param is_data  dots stuffed, with CRLF; else with LF */
static bool
append_message(
    const struct envelope *envelope, bool is_data, GString *out, GError **error)
{
	size_t size;
	const char *bytes = g_bytes_get_data(envelope->message, &size);
	gsize start = out->len;
	const char *wrong =
	    size > 0 ? append_lines(bytes, bytes + size, is_data, out) : NULL;

	if (!wrong)
		return true;
	g_string_truncate(out, start);
	return pb_fail(error, PB_ERROR_PERMANENT, "message has %s", wrong);
}

bool
envelope_format_data(const struct envelope *envelope, GString *data, GError **error)
{
	if (!append_message(envelope, true, data, error))
		return false;
	g_string_append(data, ".\r\n");
	return true;
}

bool
envelope_format_file(const struct envelope *envelope, GString *file, GError **error)
{
	return append_message(envelope, false, file, error);
}
