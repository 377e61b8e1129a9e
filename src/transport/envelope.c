/*
 * envelope.c - a message to one recipient, and its wire format.
 */
#include "transport/envelope.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/text.h"

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
envelope_check_message(const struct envelope *envelope, bool *is_8bit, GError **error)
{
	size_t size;
	const char *bytes = g_bytes_get_data(envelope->message, &size);
	const char *wrong = text_find_bad_line(bytes, size);

	*is_8bit = false;
	for (size_t i = 0; i < size; i++)
		*is_8bit |= (unsigned char)bytes[i] > 127;
	return !wrong || pb_fail(error, PB_ERROR_PERMANENT, "message has %s", wrong);
}

/* @return behind the line end, or the end */
static const char *
find_next_line(const char *at, const char *end)
{
	const char *stop = memchr(at, '\n', (size_t)(end - at));

	return stop ? stop + 1 : end;
}

void
envelope_append_data(const struct envelope *envelope, GString *data)
{
	size_t size;
	const char *at = g_bytes_get_data(envelope->message, &size);
	const char *end = at + size;
	const char *from = at; /* not appended yet */

	for (; at < end; at = find_next_line(at, end))
		if (*at == '.') {
			g_string_append_len(data, from, at - from);
			g_string_append_c(data, '.');
			from = at;
		}
	g_string_append_len(data, from, end - from);
	if (size > 0 && end[-1] != '\n')
		g_string_append(data, "\r\n");
	g_string_append(data, ".\r\n");
}

bool
envelope_format_file(const struct envelope *envelope, GString *file, GError **error)
{
	size_t size;
	const char *at = g_bytes_get_data(envelope->message, &size);
	const char *end = at + size;
	bool is_8bit;

	if (!envelope_check_message(envelope, &is_8bit, error))
		return false;
	while (at < end) {
		const char *next = find_next_line(at, end);
		size_t n_end = next[-1] == '\n' ? strlen("\r\n") : 0;

		g_string_append_len(file, at, next - at - (gssize)n_end);
		g_string_append_c(file, '\n');
		at = next;
	}
	return true;
}
