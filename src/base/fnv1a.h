/*
 * fnv1a.h - FNV-1a hash, for change detection.
 */
#pragma once

#include <glib.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t
fnv1a_mix(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * UINT64_C(0x100000001b3);
	/* The product moves differences up only. */
	return sum ^ sum >> 32;
}

/**
 * Compute a 64-bit hash without its sign bit: FNV-1a (Fowler, Noll, Vo) with words of 8
 * bytes instead of bytes.  It is not collision-resistant and must only be used to
 * detect accidental changes.
 *
 * @return 0 or more, the same on all machines
 */
static inline int64_t
fnv1a_hash(const void *start, size_t size)
{
	const uint8_t *data = start;
	uint64_t sum = UINT64_C(0xcbf29ce484222325) ^ size, word;

	for (; size >= sizeof(word); size -= sizeof(word), data += sizeof(word)) {
		memcpy(&word, data, sizeof(word));
		sum = fnv1a_mix(sum, GUINT64_FROM_LE(word));
	}
	if (size) {
		word = 0;
		memcpy(&word, data, size);
		sum = fnv1a_mix(sum, GUINT64_FROM_LE(word));
	}
	return (int64_t)(sum & INT64_MAX);
}

static inline int64_t
fnv1a_hash_bytes(GBytes *bytes)
{
	gsize size;
	const void *data = g_bytes_get_data(bytes, &size);

	return fnv1a_hash(data, size);
}
