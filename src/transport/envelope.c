/*
 * envelope.c - a message to one recipient, and its wire format.
 */
#include "transport/envelope.h"

#include <string.h>

#include "base/append.h"
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
	uint64_t seen = 0, words[4];

	for (; size >= sizeof(words); size -= sizeof(words), bytes += sizeof(words)) {
		memcpy(words, bytes, sizeof(words));
		seen |= words[0] | words[1] | words[2] | words[3];
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

/* @param has_dots  set if a line begins with a dot @return NULL, or an error
 * description
 */
static const char *
check_lines(const char *at, const char *end, bool *has_dots)
{
	size_t n;

	if (memchr(at, '\0', (size_t)(end - at)))
		return "a NUL";
	for (; at < end; at += MIN(n + 2, (size_t)(end - at))) {
		const char *wrong = check_line(at, end, &n);

		if (wrong)
			return wrong;
		*has_dots |= *at == '.';
	}
	return NULL;
}

bool
envelope_check_message(const struct envelope *envelope, bool *has_dots, GError **error)
{
	size_t size;
	const char *bytes = g_bytes_get_data(envelope->message, &size);
	const char *wrong;

	*has_dots = false;
	wrong = size > 0 ? check_lines(bytes, bytes + size, has_dots) : NULL;
	return !wrong || pb_fail(error, PB_ERROR_PERMANENT, "message has %s", wrong);
}

/* @return behind the line end, or the end */
static const char *
find_next_line(const char *at, const char *end)
{
	const char *stop = memchr(at, '\n', (size_t)(end - at));

	return stop ? stop + 1 : end;
}

static void
append_stuffed(const char *at, const char *end, GString *data)
{
	const char *from = at; /* not appended yet */

	for (; at < end; at = find_next_line(at, end))
		if (*at == '.') {
			g_string_append_len(data, from, at - from);
			g_string_append_c(data, '.');
			from = at;
		}
	g_string_append_len(data, from, end - from);
}

void
envelope_append_data(const struct envelope *envelope, bool has_dots, GString *data)
{
	size_t size;
	const char *bytes = g_bytes_get_data(envelope->message, &size);

	if (has_dots)
		append_stuffed(bytes, bytes + size, data);
	else
		append_bytes(data, bytes, size);
	if (size > 0 && bytes[size - 1] != '\n')
		g_string_append(data, "\r\n");
	g_string_append(data, ".\r\n");
}

bool
envelope_format_file(const struct envelope *envelope, GString *file, GError **error)
{
	size_t size;
	const char *at = g_bytes_get_data(envelope->message, &size);
	const char *end = at + size;
	bool has_dots;

	if (!envelope_check_message(envelope, &has_dots, error))
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
