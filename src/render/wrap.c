/*
 * wrap.c - line wrapping of plain text.
 */
#include "render/wrap.h"

#include <stdbool.h>
#include <string.h>

/* Maximum number of digits of a list number; more may be a year. */
#define NUMBER_DIGITS 3

/* Most text is ASCII, and lookups in Unicode tables are slow. */
static bool
is_wide(gunichar c)
{
	return c >= 0x80 && g_unichar_iswide(c);
}

static unsigned
get_width(gunichar c)
{
	if (c >= 0x80 && g_unichar_iszerowidth(c))
		return 0;
	return is_wide(c) ? 2 : 1;
}

/*
 * A small part of UAX 14: lines may be broken around ideographs, but do not start with
 * closing punctuation or end with opening punctuation.
 */
static bool
may_break_between(gunichar before, gunichar after)
{
	GUnicodeBreakType left, right;

	if (!is_wide(before) && !is_wide(after))
		return false;
	left = g_unichar_break_type(before);
	right = g_unichar_break_type(after);
	if (get_width(after) == 0 || left == G_UNICODE_BREAK_OPEN_PUNCTUATION)
		return false;
	return right != G_UNICODE_BREAK_CLOSE_PUNCTUATION &&
	       right != G_UNICODE_BREAK_CLOSE_PARANTHESIS &&
	       right != G_UNICODE_BREAK_EXCLAMATION &&
	       right != G_UNICODE_BREAK_NON_STARTER &&
	       right != G_UNICODE_BREAK_INFIX_SEPARATOR &&
	       right != G_UNICODE_BREAK_CONDITIONAL_JAPANESE_STARTER &&
	       right != G_UNICODE_BREAK_QUOTATION;
}

static void
append_line(GString *out, size_t indent, const char *from, const char *to)
{
	while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r'))
		to--;
	if (from < to) {
		if (indent == 0 && to - from == 2 && memcmp(from, "--", 2) == 0)
			indent = 1;
		for (size_t i = 0; i < indent; i++)
			g_string_append_c(out, ' ');
		g_string_append_len(out, from, to - from);
	}
	g_string_append_c(out, '\n');
}

/* Count the ASCII characters that a word continues with, at most `most`. */
static size_t
measure_word(const char *text, const char *end, size_t most)
{
	static const bool is_graph[256] = {['!' ... '~'] = true};
	size_t size = MIN((size_t)(end - text), most), n = 0;

	while (n < size && is_graph[(unsigned char)text[n]])
		n++;
	return n;
}

/* "12. " at the start of a list item. @return 0 for none */
static size_t
measure_number(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return digits > 0 && digits <= NUMBER_DIGITS && text[digits] == '.' &&
	               text[digits + 1] == ' '
	           ? digits + 2
	           : 0;
}

static void
wrap_line(GString *out, const char *line, const char *end, unsigned columns)
{
	size_t indent = strspn(line, " ");
	const char *content = line + indent;
	const char *from = line;
	const char *break_end = NULL;
	const char *break_next = NULL;
	gunichar before = 0;
	size_t column;

	if (end - content >= 2 && (content[0] == '*' || content[0] == '-') &&
	    content[1] == ' ') {
		indent += 2;
		content += 2;
	} else {
		size_t number = measure_number(content);

		indent += number;
		content += number;
	}
	column = indent;
	for (const char *p = content; p < end;) {
		size_t most = break_end ? columns + 1 : G_MAXSIZE;
		size_t word = before < 0x80 ? measure_word(p, end, most) : 0;
		gunichar c;

		/* Most words fit; none can be broken. */
		if (word && (!break_end || column + word <= columns)) {
			column += word;
			p += word;
			before = (gunichar)p[-1];
			continue;
		}
		c = (unsigned char)*p < 0x80 ? (gunichar)*p : g_utf8_get_char(p);
		if (word) {
			/* It is broken before the word. */
		} else if (c == ' ') {
			if (before != ' ' && before != 0)
				break_end = p;
			break_next = p + 1;
		} else if (before != 0 && before != ' ' &&
		           may_break_between(before, c)) {
			break_end = break_next = p;
		}
		if (word ||
		    (c != ' ' && break_end && column + get_width(c) > columns)) {
			append_line(out, from == line ? 0 : indent, from, break_end);
			p = from = break_next;
			column = indent;
			break_end = NULL;
			before = 0;
			continue;
		}
		column += get_width(c);
		before = c;
		p = g_utf8_next_char(p);
	}
	append_line(out, from == line ? 0 : indent, from, end);
}

char *
wrap_format_text(const char *text, unsigned columns)
{
	GString *out = g_string_sized_new(strlen(text) + strlen(text) / 16);

	while (*text) {
		const char *end = strchrnul(text, '\n');

		/* No character has more columns than bytes. */
		if ((size_t)(end - text) <= columns)
			append_line(out, 0, text, end);
		else
			wrap_line(out, text, end, columns);
		text = *end ? end + 1 : end;
	}
	return g_string_free(out, FALSE);
}
