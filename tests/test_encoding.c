/*
 * test_encoding.c - quoted-printable and base64: exact, short lines, safe starts.
 */
#include <string.h>

#include "base/bounds.h"
#include "lib/cases.h"
#include "lib/unit.h"
#include "message/encoding.h"

static GString *
encode(const char *text, size_t size)
{
	GString *out = g_string_new(NULL);

	encoding_append_quoted_printable(out, text, size);
	return out;
}

TEST(each_rule_of_quoted_printable)
{
	CASES_FOREACH(row, "quoted_printable", *text, *encoded) {
		g_autoptr(GString) out = encode(row->text, strlen(row->text));

		g_assert_cmpstr(out->str, ==, row->encoded);
	}
}

/* An independent decoder (RFC 2045 section 6.7). */
static GString *
decode(const GString *encoded)
{
	GString *out = g_string_new(NULL);

	for (size_t i = 0; i < encoded->len; i++) {
		if (encoded->str[i] != '=') {
			g_string_append_c(out, encoded->str[i]);
		} else if (encoded->str[i + 1] == '\r') {
			g_assert_cmpint(encoded->str[i + 2], ==, '\n');
			i += 2;
		} else {
			int high = g_ascii_xdigit_value(encoded->str[i + 1]);
			int low = g_ascii_xdigit_value(encoded->str[i + 2]);

			g_assert_true(high >= 0 && low >= 0);
			g_string_append_c(out, (char)(high * 16 + low));
			i += 2;
		}
	}
	return out;
}

static void
check_lines(const GString *encoded)
{
	g_auto(GStrv) lines = g_strsplit(encoded->str, "\r\n", -1);

	g_assert_cmpuint(strlen(encoded->str), ==, encoded->len);
	for (char **line = lines; *line; line++) {
		size_t size = strlen(*line);

		g_assert_cmpuint(size, <=, BOUNDS_BODY_LINE_BYTES);
		g_assert_false(g_str_has_prefix(*line, "."));
		g_assert_false(g_str_has_prefix(*line, "From "));
		g_assert_true(size == 0 || (*line)[size - 1] != ' ');
		g_assert_true(g_str_is_ascii(*line));
		g_assert_null(strpbrk(*line, "\r\n\t"));
	}
}

static GString *
new_random_text(GRand *random)
{
	static const char *const bits[] = {"x", " ", ".", "From ", "=", "\u00E9",
	    "\u957F", "word", "\n", "\r\n", "\t", "-",
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
	GString *text = g_string_new(NULL);
	int count = g_rand_int_range(random, 0, 120);

	for (int i = 0; i < count; i++)
		g_string_append(text,
		    bits[g_rand_int_range(random, 0, (gint32)G_N_ELEMENTS(bits))]);
	return text;
}

TEST(random_text_round_trips)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(1);

	for (unsigned i = 0; i < 3000; i++) {
		g_autoptr(GString) text = new_random_text(random);
		g_autoptr(GString) encoded = encode(text->str, text->len);
		g_autoptr(GString) decoded = decode(encoded);
		g_autoptr(GString) ours = g_string_new(NULL);

		check_lines(encoded);
		encoding_append_decoded(ours, encoded->str, encoded->len);
		g_string_replace(text, "\r\n", "\n", 0);
		g_assert_cmpstr(ours->str, ==, text->str);
		g_string_replace(decoded, "\r\n", "\n", 0);
		g_assert_cmpstr(decoded->str, ==, text->str);
	}
}

TEST(chunks_may_be_encoded_separately)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(2);

	for (unsigned i = 0; i < 1000; i++) {
		g_autoptr(GString) one = new_random_text(random);
		g_autoptr(GString) two = new_random_text(random);
		g_autoptr(GString) both = NULL;
		g_autoptr(GString) apart = NULL;

		g_string_append_c(one, '\n');
		apart = encode(one->str, one->len);
		encoding_append_quoted_printable(apart, two->str, two->len);
		g_string_append(one, two->str);
		both = encode(one->str, one->len);
		g_assert_cmpstr(apart->str, ==, both->str);
	}
}

TEST(lines_use_the_last_column)
{
	for (size_t size = 70; size <= 160; size++) {
		g_autofree char *text = g_strnfill(size, 'x');
		g_autoptr(GString) out = encode(text, size);
		const char *end = strstr(out->str, "\r\n");

		check_lines(out);
		if (size <= BOUNDS_BODY_LINE_BYTES)
			g_assert_null(end);
		else
			g_assert_cmpint(end - out->str, ==, BOUNDS_BODY_LINE_BYTES);
	}
}

TEST(nul_bytes_are_preserved)
{
	g_autoptr(GString) out = encode("a\0b\n", 4);

	g_assert_cmpstr(out->str, ==, "a=00b\r\n");
}

TEST(base64_has_canonical_lines)
{
	for (size_t size = 1; size <= 300; size++) {
		g_autofree char *text = g_strnfill(size, '\xC3');
		g_autoptr(GString) out = g_string_new(NULL);
		g_autofree guchar *decoded = NULL;
		gsize decoded_size = 0;

		for (size_t i = 9; i < size; i += 10)
			text[i] = '\n';
		g_assert_cmpint(
		    encoding_append_text(out, text, size), ==, ENCODING_BASE64);
		check_lines(out);
		g_assert_true(g_str_has_suffix(out->str, "\r\n"));
		decoded = g_base64_decode(out->str, &decoded_size);
		g_assert_cmpuint(decoded_size, ==, size + size / 10);
		for (size_t i = 0; i < decoded_size; i++) {
			if (decoded[i] == '\n')
				g_assert_cmpint(decoded[i - 1], ==, '\r');
		}
	}
}

TEST(base64_is_chosen_above_30_percent)
{
	g_autoptr(GString) out = g_string_new(NULL);

	g_assert_cmpint(
	    encoding_append_text(out, "", 0), ==, ENCODING_QUOTED_PRINTABLE);
	g_assert_cmpint(encoding_append_text(out, "abcdefg\u957F", 10), ==,
	    ENCODING_QUOTED_PRINTABLE);
	g_string_truncate(out, 0);
	g_assert_cmpint(
	    encoding_append_text(out, "abcd\u957F\r\n", 9), ==, ENCODING_BASE64);
	g_assert_cmpint(encoding_append_text(out, "\u957F\n", 4), ==, ENCODING_BASE64);
	g_assert_cmpstr(out->str, ==, "YWJjZOmVvw0K\r\n6ZW/DQo=\r\n");
}

UNIT_MAIN
