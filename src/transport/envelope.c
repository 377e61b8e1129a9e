/*
 * envelope.c - a message to one recipient, and its wire format.
 */
#include "transport/envelope.h"

#include <stdint.h>
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
check_lines(const char *at, const char *end)
{
	size_t n;

	if (memchr(at, '\0', (size_t)(end - at)))
		return "a NUL";
	for (; at < end; at += MIN(n + 2, (size_t)(end - at))) {
		const char *wrong = check_line(at, end, &n);

		if (wrong)
			return wrong;
	}
	return NULL;
}

/* Bytes that are examined together. */
#define BLOCK_BYTES 256

G_STATIC_ASSERT(3 * BLOCK_BYTES < BOUNDS_LINE_BYTES);

/* Found among bytes; each is examined with the one before it. */
struct scan {
	uint8_t wrong; /* a NUL, or a CR or LF without the other one */
	uint8_t dots;  /* at the start of a line */
	uint8_t ends;  /* LF */
	uint8_t bits;  /* of all bytes */
};

static void
scan_byte(struct scan *scan, const uint8_t *at)
{
	uint8_t is_end = at[0] == '\n', is_after_cr = at[-1] == '\r';

	scan->wrong |= (uint8_t)((is_end ^ is_after_cr) | (at[0] == 0));
	scan->dots |= (uint8_t)((at[0] == '.') & (at[-1] == '\n'));
	scan->ends |= is_end;
	scan->bits |= at[0];
}

/* Compilers turn this loop, which has a constant end, into vector instructions. */
static struct scan
scan_block(const uint8_t *at)
{
	struct scan scan = {0};

	for (unsigned i = 0; i < BLOCK_BYTES; i++)
		scan_byte(&scan, at + i);
	return scan;
}

/*
 * Check all lines at once.
 *
 * @return false when a line is wrong or may be too long: check_lines() knows
 */
static bool
scan_lines(const uint8_t *bytes, size_t size, struct envelope_content *content)
{
	struct scan all = {
	    .wrong = bytes[0] == '\n' || bytes[0] == 0 || bytes[size - 1] == '\r',
	    .dots = bytes[0] == '.',
	    .bits = bytes[0],
	};
	bool is_long = false;
	size_t at = 1;

	for (; size - at >= BLOCK_BYTES; at += BLOCK_BYTES) {
		struct scan block = scan_block(bytes + at);

		all.wrong |= block.wrong;
		all.dots |= block.dots;
		all.bits |= block.bits;
		is_long |= !block.ends;
	}
	for (; at < size; at++)
		scan_byte(&all, bytes + at);
	content->has_dots = all.dots != 0;
	content->is_8bit = all.bits > 127;
	return !all.wrong && !is_long;
}

bool
envelope_check_message(
    const struct envelope *envelope, struct envelope_content *content, GError **error)
{
	size_t size;
	const char *bytes = g_bytes_get_data(envelope->message, &size);
	const char *wrong;

	*content = (struct envelope_content){0};
	if (size == 0 || scan_lines((const uint8_t *)bytes, size, content))
		return true;
	wrong = check_lines(bytes, bytes + size);
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
envelope_append_data(const struct envelope *envelope,
    const struct envelope_content *content, GString *data)
{
	size_t size;
	const char *bytes = g_bytes_get_data(envelope->message, &size);

	if (content->has_dots)
		append_stuffed(bytes, bytes + size, data);
	else
		g_string_append_len(data, bytes, size);
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
	struct envelope_content content;

	if (!envelope_check_message(envelope, &content, error))
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
