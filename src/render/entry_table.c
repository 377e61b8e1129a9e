/*
 * entry_table.c - caches of rendered papers and reasons, which threads share.
 */
#include "render/entry_table.h"

#include <glib.h>
#include <stdint.h>
#include <string.h>

/* ---- keys of the caches of rendered papers and reasons ---- */

void
entry_key_add(GString *bytes, const char *text)
{
	g_string_append_len(bytes, text ? text : "", text ? strlen(text) + 1 : 1);
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

static guint
entry_key_hash(gconstpointer key)
{
	return ((const struct entry_key *)key)->hash;
}

static gboolean
entry_key_equal(gconstpointer a, gconstpointer b)
{
	const struct entry_key *left = a, *right = b;

	return left->size == right->size &&
	       memcmp(left->bytes, right->bytes, left->size) == 0;
}

/* ---- entry table ---- */

static void *
get_value(const struct entry_table *table, void *key)
{
	return (char *)key - table->key_offset;
}

static struct entry_key *
get_key(const struct entry_table *table, void *value)
{
	void *key = (char *)value + table->key_offset;

	return key;
}

void
entry_table_init(struct entry_table *table, size_t key_offset, GDestroyNotify unref,
    size_t limit_bytes)
{
	*table = (struct entry_table){
	    .keys = g_hash_table_new(entry_key_hash, entry_key_equal),
	    .key_offset = key_offset,
	    .unref = unref,
	    .limit_bytes = limit_bytes,
	};
	g_mutex_init(&table->lock);
}

static void
empty(struct entry_table *table)
{
	GHashTableIter at;
	void *key;

	g_hash_table_iter_init(&at, table->keys);
	while (g_hash_table_iter_next(&at, &key, NULL)) {
		g_hash_table_iter_remove(&at);
		table->unref(get_value(table, key));
	}
	table->bytes = 0;
}

void
entry_table_clear(struct entry_table *table)
{
	empty(table);
	g_hash_table_unref(table->keys);
	g_mutex_clear(&table->lock);
}

void *
entry_table_find(struct entry_table *table, const struct entry_key *key)
{
	void *found;

	g_mutex_lock(&table->lock);
	found = g_hash_table_lookup(table->keys, key);
	if (found)
		found = g_atomic_rc_box_acquire(get_value(table, found));
	g_mutex_unlock(&table->lock);
	return found;
}

void
entry_table_add(struct entry_table *table, void *value, size_t bytes)
{
	struct entry_key *key = get_key(table, value);

	g_mutex_lock(&table->lock);
	if (!g_hash_table_contains(table->keys, key)) {
		if (table->bytes + bytes > table->limit_bytes)
			empty(table);
		table->bytes += bytes;
		g_atomic_rc_box_acquire(value);
		g_hash_table_add(table->keys, key);
	}
	g_mutex_unlock(&table->lock);
}
