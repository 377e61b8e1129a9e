/*
 * test_envelope.c - the wire format equals one that is made byte by byte.
 */
#include <stdint.h>
#include <string.h>

#include "base/bounds.h"
#include "lib/unit.h"
#include "transport/envelope.h"

#define ROUNDS 20000

/* @return whether it may be sent */
static bool
format_slowly(const char *bytes, size_t size, bool is_data, GString *out)
{
	size_t column = 0;

	for (size_t i = 0; i < size; i++) {
		bool is_end = bytes[i] == '\r' && i + 1 < size && bytes[i + 1] == '\n';

		if (!is_end && strchr("\r\n", bytes[i])) /* finds NUL, too */
			return false;
		if (is_end) {
			g_string_append(out, is_data ? "\r\n" : "\n");
			column = 0;
			i++;
			continue;
		}
		if (is_data && column == 0 && bytes[i] == '.')
			g_string_append_c(out, '.');
		g_string_append_c(out, bytes[i]);
		if (++column > BOUNDS_LINE_BYTES)
			return false;
	}
	if (column > 0)
		g_string_append(out, is_data ? "\r\n" : "\n");
	if (is_data)
		g_string_append(out, ".\r\n");
	return true;
}

static bool
is_8bit(const struct envelope *envelope)
{
	size_t size;
	const uint8_t *bytes = g_bytes_get_data(envelope->message, &size);
	bool is_found = false;

	for (size_t i = 0; i < size; i++)
		is_found |= bytes[i] > 127;
	return is_found;
}

static bool
format_data(const struct envelope *envelope, GString *data, GError **error)
{
	bool is_found;

	if (!envelope_check_message(envelope, &is_found, error))
		return false;
	g_assert_cmpint(is_found, ==, is_8bit(envelope));
	envelope_append_data(envelope, data);
	return true;
}

static void
check_format(const struct envelope *envelope, bool is_data)
{
	g_autoptr(GString) wanted = g_string_new("before\n");
	g_autoptr(GString) found = g_string_new("before\n");
	g_autoptr(GError) error = NULL;
	size_t size;
	const char *bytes = g_bytes_get_data(envelope->message, &size);
	bool is_good = format_slowly(bytes, size, is_data, wanted);

	if (!is_good)
		g_string_assign(wanted, "before\n");
	g_assert_cmpint(is_data ? format_data(envelope, found, &error)
	                        : envelope_format_file(envelope, found, &error),
	    ==, is_good);
	g_assert_cmpmem(found->str, found->len, wanted->str, wanted->len);
	g_assert_cmpint(error == NULL, ==, is_good);
}

static void
check_message(const GString *text)
{
	g_autoptr(GBytes) message = g_bytes_new(text->str, text->len);
	const struct envelope envelope = {.message = message};

	check_format(&envelope, true);
	check_format(&envelope, false);
}

TEST(random_messages_have_the_right_format)
{
	static const struct {
		const char *bytes;
		unsigned size, weight;
	} parts[] = {{"\r\n", 2, 30}, {".", 1, 30}, {"a", 1, 30}, {"bc d", 4, 30},
	    {"\xc3\xa9", 2, 2}, {"\r", 1, 1}, {"\n", 1, 1}, {"\0", 1, 1}};

	for (int round = 0; round < ROUNDS; round++) {
		g_autoptr(GString) text = g_string_new(NULL);

		for (int left = g_test_rand_int_range(0, 30); left > 0; left--) {
			int at = g_test_rand_int_range(0, 125);
			size_t part = 0;

			while (at >= (int)parts[part].weight)
				at -= (int)parts[part++].weight;
			g_string_append_len(
			    text, parts[part].bytes, (gssize)parts[part].size);
		}
		check_message(text);
	}
}

/* Messages of several blocks, with each of these bytes anywhere. */
TEST(every_byte_of_long_messages_is_checked)
{
	static const char others[] = {'\r', '\n', '\0', '.', '\xc3'};
	g_autoptr(GString) text = g_string_new(NULL);

	for (unsigned line = 0; text->len < 1000; line++)
		g_string_append_printf(text, "%.*s\r\n", (int)(line * 7 % 79),
		    ".ragged lines of text that ends somewhere, long enough for the "
		    "longest of them");
	for (size_t at = 0; at < text->len; at++)
		for (size_t i = 0; i < sizeof(others); i++) {
			char byte = text->str[at];

			text->str[at] = others[i];
			check_message(text);
			text->str[at] = byte;
		}
}

TEST(lines_are_limited)
{
	static const char *const ends[] = {"", "\r\n", "\r\n.\r\n"};

	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
		for (size_t n = BOUNDS_LINE_BYTES - 1; n <= BOUNDS_LINE_BYTES + 1;
		     n++) {
			g_autoptr(GString) text = g_string_new("a\r\n");

			for (size_t k = 0; k < n; k++)
				g_string_append_c(text, '.');
			g_string_append(text, ends[i]);
			check_message(text);
		}
}

UNIT_MAIN
