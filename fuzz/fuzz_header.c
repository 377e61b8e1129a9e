/*
 * fuzz_header.c - format any text as header fields.
 *
 * The result is one field within its limits, and decodes to the input.
 */
#include <string.h>

#include "base/bounds.h"
#include "fuzz.h"
#include "message/header.h"
#include "message/sanitize.h"

#define WORD_START "=?UTF-8?"

/* The text between "?Q?" or "?B?" and "?=", whole characters (RFC 2047 section 4). */
static void
decode_word(GString *out, char mode, const char *text, size_t size)
{
	size_t before = out->len;

	if (mode == 'B') {
		g_autofree char *base64 = g_strndup(text, size);
		gsize length;
		g_autofree guchar *bytes = g_base64_decode(base64, &length);

		g_string_append_len(out, (const char *)bytes, (gssize)length);
	}
	for (size_t i = 0; mode == 'Q' && i < size; i++) {
		if (text[i] == '=') {
			g_assert(i + 2 < size);
			g_string_append_c(
			    out, (char)(g_ascii_xdigit_value(text[i + 1]) * 16 +
			                g_ascii_xdigit_value(text[i + 2])));
			i += 2;
		} else {
			g_string_append_c(out, text[i] == '_' ? ' ' : text[i]);
		}
	}
	g_assert(g_utf8_validate_len(out->str + before, out->len - before, NULL));
}

/* Blanks between two encoded words do not count (RFC 2047 section 6.2). */
static char *
decode(const char *value)
{
	GString *out = g_string_new(NULL);
	bool is_behind_word = false;

	while (*value) {
		size_t blanks = is_behind_word ? strspn(value, " ") : 0;
		const char *end;

		if (!g_str_has_prefix(value + blanks, WORD_START)) {
			/* No text may look like an encoded word. */
			g_assert(!g_str_has_prefix(value, "=?"));
			g_string_append_c(out, *value++);
			is_behind_word = false;
			continue;
		}
		value += blanks;
		end = strstr(value + strlen(WORD_START "Q?"), "?=");
		g_assert(end && end + 2 - value <= BOUNDS_ENCODED_WORD_BYTES);
		decode_word(out, value[strlen(WORD_START)],
		    value + strlen(WORD_START "Q?"),
		    (size_t)(end - value) - strlen(WORD_START "Q?"));
		value = end + 2;
		is_behind_word = true;
	}
	return g_string_free(out, FALSE);
}

static void
check_text(const char *text)
{
	g_autofree char *line = sanitize_line(text, 0);
	g_autoptr(GString) field = g_string_new(NULL);
	g_autofree char *value = NULL;
	g_autofree char *decoded = NULL;

	fuzz_check_line(line, 3 * strlen(text));
	header_append_text(field, "Subject", text);
	fuzz_check_field(field, "Subject", true);
	fuzz_check_wire(field->str, field->len, BOUNDS_LINE_SOFT_BYTES, true);
	value = fuzz_unfold(field);
	decoded = decode(value);
	g_assert_cmpstr(decoded, ==, line);
}

static void
check_cut(const char *text, size_t limit_chars)
{
	g_autofree char *line = sanitize_line(text, limit_chars);

	fuzz_check_line(line, 4 * limit_chars);
	g_assert((size_t)g_utf8_strlen(line, -1) <= limit_chars);
}

/* A phrase decodes to its text, once its quotes are off. */
static void
check_phrase(const char *text)
{
	g_autofree char *line = sanitize_line(text, 0);
	g_autofree char *phrase = header_format_phrase(text);
	g_autofree char *decoded = NULL;

	g_assert(g_str_is_ascii(phrase));
	if (phrase[0] == '"') {
		g_autoptr(GString) plain = g_string_new(NULL);

		for (const char *p = phrase + 1; p[1]; p++) {
			g_assert(*p != '"');
			g_string_append_c(plain, *p == '\\' ? *++p : *p);
		}
		g_assert(g_str_has_suffix(phrase, "\""));
		g_assert_cmpstr(plain->str, ==, line);
		return;
	}
	g_assert(!strpbrk(phrase, "()<>[]:;@\\,.\""));
	decoded = decode(phrase);
	g_assert_cmpstr(decoded, ==, line);
}

/* Appended whole, or nothing at all. */
static void
check_outcome(
    bool is_done, const GString *field, const char *name, bool is_ascii, GError *error)
{
	if (is_done) {
		g_assert(!error);
		fuzz_check_field(field, name, is_ascii);
	} else {
		fuzz_check_error(error);
		g_assert(field->len == 0);
	}
	g_clear_error(&error);
}

static void
check_mailboxes(struct fuzz_input *input, const char *first)
{
	g_autofree char *second = fuzz_take_text(input);
	g_autofree char *address = fuzz_take_text(input);
	const struct header_mailbox list[] = {
	    {first, "reader@example.org"},
	    {second, address},
	    {address, "\xC3\xA9tienne@example.org"},
	};
	size_t count = 1 + input->left % G_N_ELEMENTS(list);
	g_autoptr(GString) field = g_string_new(NULL);
	GError *error = NULL;
	bool is_done = header_append_mailboxes(field, "To", list, count, &error);

	check_outcome(is_done, field, "To", count == 1, error);
}

static void
check_structured(const char *text, int64_t at)
{
	g_autoptr(GString) value = g_string_new(NULL);
	g_autoptr(GString) id = g_string_new(NULL);
	g_autoptr(GString) date = g_string_new(NULL);
	GError *error = NULL;
	bool is_done = header_append_folded(value, "List-Id", text, &error);

	check_outcome(is_done, value, "List-Id", true, error);
	error = NULL;
	is_done = header_append_message_id(id, "Message-ID", text, &error);
	g_assert(is_done == header_is_message_id(text));
	check_outcome(is_done, id, "Message-ID", true, error);
	error = NULL;
	is_done = header_append_date(date, "Date", at, &error);
	check_outcome(is_done, date, "Date", true, error);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	unsigned limit_chars = 1 + fuzz_take_byte(&input);
	unsigned shift = fuzz_take_byte(&input) % 55;
	g_autofree char *text = fuzz_take_text(&input);

	check_text(text);
	check_cut(text, limit_chars);
	check_phrase(text);
	check_structured(text, (int64_t)limit_chars << shift);
	check_structured(text, -((int64_t)limit_chars << shift));
	check_mailboxes(&input, text);
	return 0;
}
