/*
 * packing.h - packed values: numbers and texts in bytes, read as hostile.
 *
 * Numbers are base 128, least significant group first, in their shortest form; texts
 * are UTF-8 and end with a NUL.  So a value has one packed form only.
 */
#ifndef PAPERBOY_BASE_PACKING_H
#define PAPERBOY_BASE_PACKING_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void
packing_put_number(GByteArray *out, uint64_t number)
{
	uint8_t bytes[10];
	unsigned count = 0;

	for (; number >= 0x80; number >>= 7)
		bytes[count++] = (uint8_t)(number | 0x80);
	bytes[count++] = (uint8_t)number;
	g_byte_array_append(out, bytes, count);
}

static inline void
packing_put_text(GByteArray *out, const char *text)
{
	g_byte_array_append(out, (const uint8_t *)text, (guint)strlen(text) + 1);
}

/* After a damaged byte all further values are 0 or "". */
struct unpacker {
	const uint8_t *at, *end;
	bool is_bad;
};

/** @param data  NULL if it is empty */
static inline struct unpacker
packing_start(const void *data, size_t size)
{
	const uint8_t *at = size ? data : (const uint8_t *)"";

	return (struct unpacker){.at = at, .end = at + size};
}

/** Mark the value as damaged. @return 0 */
static inline uint64_t
packing_fail(struct unpacker *in)
{
	in->is_bad = true;
	in->at = in->end;
	return 0;
}

/** @param max  at most INT64_MAX */
static inline uint64_t
packing_take_number(struct unpacker *in, uint64_t max)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < 63 && in->at < in->end; shift += 7) {
		uint8_t byte = *in->at++;

		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		/* The shortest form is the only one. */
		return number > max || (byte == 0 && shift > 0) ? packing_fail(in)
		                                                : number;
	}
	return packing_fail(in);
}

/** Take the number of elements, each of which has at least `bytes` bytes. */
static inline unsigned
packing_take_count(struct unpacker *in, size_t bytes)
{
	uint64_t count = packing_take_number(in, UINT32_MAX);

	return (unsigned)(count > (size_t)(in->end - in->at) / bytes ? packing_fail(in)
	                                                             : count);
}

/** @return a text of the packed bytes */
static inline const char *
packing_take_text(struct unpacker *in)
{
	const char *text = (const char *)in->at;
	const uint8_t *end = memchr(in->at, '\0', (size_t)(in->end - in->at));

	if (!end ||
	    !g_utf8_validate_len(text, (size_t)((const char *)end - text), NULL)) {
		packing_fail(in);
		return "";
	}
	in->at = end + 1;
	return text;
}

#endif
