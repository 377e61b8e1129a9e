/*
 * append.h - append to a GString without a call if there is room: a hot path.
 */
#ifndef PAPERBOY_BASE_APPEND_H
#define PAPERBOY_BASE_APPEND_H

#include <glib.h>
#include <stdint.h>
#include <string.h>

/** The same as g_string_append_len(). @param data  not in the string */
static inline void
append_bytes(GString *out, const char *data, size_t size)
{
	size_t end = out->len + size;

	if (end >= out->allocated_len) {
		g_string_append_len(out, data, (gssize)size);
		return;
	}
	memcpy(out->str + out->len, data, size);
	out->str[end] = '\0';
	out->len = end;
}

static inline void
append_text(GString *out, const char *text)
{
	append_bytes(out, text, strlen(text));
}

/** Append a number in decimal digits, faster than printf(). @param number  0 or more */
static inline void
append_number(GString *out, int64_t number)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	append_bytes(out, digits + at, sizeof(digits) - at);
}

#endif
