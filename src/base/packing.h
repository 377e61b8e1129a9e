/*
 * packing.h - packed values: numbers and texts in bytes, read as hostile.
 *
 * Numbers are base 128, least significant group first, in their shortest form; texts
 * are UTF-8 and end with a NUL.  So a value has one packed form only.
 *
 * One function describes a format for both directions: packing_number() and
 * packing_text() append the given value and return it, or ignore it and return the next
 * one of the packed bytes.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct packing {
	GByteArray *out; /* to be packed to; NULL: unpacked */
	const uint8_t *at, *end;
	/* After a damaged byte all further values are 0 or "". */
	bool is_bad;
};

/** Begin to unpack. @param data  NULL if it is empty */
static inline struct packing
packing_of(const void *data, size_t size)
{
	const uint8_t *at = size ? data : (const uint8_t *)"";

	return (struct packing){.at = at, .end = at + size};
}

/** Mark the value as damaged. @return 0 */
static inline uint64_t
packing_fail(struct packing *packing)
{
	packing->is_bad = true;
	packing->at = packing->end;
	return 0;
}

static inline void
packing_append(GByteArray *out, uint64_t number)
{
	uint8_t bytes[10];
	unsigned count = 0;

	for (; number >= 0x80; number >>= 7)
		bytes[count++] = (uint8_t)(number | 0x80);
	bytes[count++] = (uint8_t)number;
	g_byte_array_append(out, bytes, count);
}

/** @param max  at most INT64_MAX */
static inline uint64_t
packing_number(struct packing *packing, uint64_t number, uint64_t max)
{
	if (packing->out) {
		packing_append(packing->out, number);
		return number;
	}
	number = 0;
	for (unsigned shift = 0; shift < 63 && packing->at < packing->end; shift += 7) {
		uint8_t byte = *packing->at++;

		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		/* The shortest form is the only one. */
		return number > max || (byte == 0 && shift > 0) ? packing_fail(packing)
		                                                : number;
	}
	return packing_fail(packing);
}

/** The number of elements, each of which has at least `bytes` bytes. */
static inline unsigned
packing_count(struct packing *packing, unsigned elements, size_t bytes)
{
	uint64_t count = packing_number(packing, elements, UINT32_MAX);

	if (!packing->out && count > (size_t)(packing->end - packing->at) / bytes)
		packing_fail(packing);
	return packing->is_bad ? 0 : (unsigned)count;
}

/** Pack a text and return it, or unpack one, which is a part of the packed bytes. */
static inline const char *
packing_text(struct packing *packing, const char *text)
{
	const uint8_t *end;

	if (packing->out) {
		g_byte_array_append(
		    packing->out, (const uint8_t *)text, (guint)strlen(text) + 1);
		return text;
	}
	text = (const char *)packing->at;
	end = memchr(packing->at, '\0', (size_t)(packing->end - packing->at));
	if (!end ||
	    !g_utf8_validate_len(text, (size_t)((const char *)end - text), NULL)) {
		packing_fail(packing);
		return "";
	}
	packing->at = end + 1;
	return text;
}
