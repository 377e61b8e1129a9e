/*
 * fnv1a.h - FNV-1a hash, for change detection.
 */
#ifndef PAPERBOY_BASE_FNV1A_H
#define PAPERBOY_BASE_FNV1A_H

#include <glib.h>
#include <stdint.h>

/**
 * Compute the 64-bit FNV-1a (Fowler, Noll, Vo) hash without its sign bit.  It is not
 * collision-resistant and must only be used to detect accidental changes.
 *
 * @return 0 or more
 */
static inline int64_t
fnv1a_hash(const void *start, size_t size)
{
	const uint8_t *data = start;
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++)
		sum = (sum ^ data[i]) * UINT64_C(0x100000001b3);
	return (int64_t)(sum & INT64_MAX);
}

static inline int64_t
fnv1a_hash_bytes(GBytes *bytes)
{
	gsize size;
	const void *data = g_bytes_get_data(bytes, &size);

	return fnv1a_hash(data, size);
}

#endif
