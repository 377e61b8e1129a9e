/*
 * fnv1a.h - a number that tells octets from others, against mistakes alone.
 */
#ifndef PAPERBOY_BASE_FNV1A_H
#define PAPERBOY_BASE_FNV1A_H

#include <glib.h>
#include <stdint.h>

/**
 * FNV-1a (Fowler, Noll, Vo) of 64 bits, without its sign bit.  Whoever wants two texts
 * with one fingerprint can make them: it only tells whether something has changed.
 *
 * @return 0 or more
 */
static inline int64_t
fnv1a_hash(GBytes *bytes)
{
	gsize size;
	const guint8 *data = g_bytes_get_data(bytes, &size);
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (gsize i = 0; i < size; i++)
		sum = (sum ^ data[i]) * UINT64_C(0x100000001b3);
	return (int64_t)(sum & INT64_MAX);
}

#endif
