/*
 * entry_key.c - keys of the caches of rendered papers and reasons.
 */
#include "render/entry_key.h"

#include <stdint.h>
#include <string.h>

#include "base/append.h"

void
entry_key_add(GString *bytes, const char *text)
{
	append_bytes(bytes, text ? text : "", text ? strlen(text) + 1 : 1);
}

struct entry_key
entry_key_make(const GString *bytes, size_t hashed)
{
	const uint64_t odd = 0x9E3779B97F4A7C15;
	uint64_t hash = hashed, eight;
	size_t i = 0;

	for (; i + sizeof(eight) <= hashed; i += sizeof(eight)) {
		memcpy(&eight, bytes->str + i, sizeof(eight));
		hash = (hash ^ eight) * odd;
		hash ^= hash >> 29;
	}
	for (; i < hashed; i++)
		hash = (hash ^ (unsigned char)bytes->str[i]) * odd;
	return (struct entry_key){bytes->str, bytes->len, (guint)(hash >> 32)};
}

guint
entry_key_hash(gconstpointer key)
{
	return ((const struct entry_key *)key)->hash;
}

gboolean
entry_key_equal(gconstpointer a, gconstpointer b)
{
	const struct entry_key *left = a, *right = b;

	return left->size == right->size &&
	       memcmp(left->bytes, right->bytes, left->size) == 0;
}
