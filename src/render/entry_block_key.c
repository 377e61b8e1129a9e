/*
 * entry_block_key.c - what tells fragments apart, as one run of octets.
 */
#include "render/entry_block_key.h"

#include <stdint.h>
#include <string.h>

#include "base/bounds.h"

/* What a key begins with. */
struct key_head {
	const struct paper *shared;
	int64_t upvotes;
	unsigned depth;
	unsigned reasons;
};

guint
entry_block_key_hash(gconstpointer data)
{
	const struct entry_block_key *key = data;
	const uint64_t odd = 0x9E3779B97F4A7C15;
	uint64_t hash = key->hashed, eight;
	size_t i = 0;

	for (; i + sizeof(eight) <= key->hashed; i += sizeof(eight)) {
		memcpy(&eight, key->bytes->str + i, sizeof(eight));
		hash = (hash ^ eight) * odd;
		hash ^= hash >> 29;
	}
	for (; i < key->hashed; i++)
		hash = (hash ^ (unsigned char)key->bytes->str[i]) * odd;
	return (guint)(hash >> 32);
}

gboolean
entry_block_key_is_equal(gconstpointer a, gconstpointer b)
{
	const GString *left = ((const struct entry_block_key *)a)->bytes;
	const GString *right = ((const struct entry_block_key *)b)->bytes;

	return left->len == right->len && memcmp(left->str, right->str, left->len) == 0;
}

static void
add_field(GString *bytes, const char *text)
{
	g_string_append_len(
	    bytes, text ? text : "", text ? (gssize)strlen(text) + 1 : 1);
}

static void
add_texts(GString *bytes, const struct paper *paper)
{
	unsigned authors = paper->authors->len;

	g_string_append_len(bytes, (const char *)&authors, sizeof(authors));
	add_field(bytes, paper->title);
	add_field(bytes, paper->url);
	add_field(bytes, paper->code_url);
	add_field(bytes, paper->project_url);
	for (unsigned i = 0; i < MIN(paper->authors->len, BOUNDS_DIGEST_AUTHORS); i++)
		add_field(bytes, paper->authors->pdata[i]);
	add_field(bytes, paper->abstract);
}

void
entry_block_key_set(struct entry_block_key *key, const struct digest_entry *entry,
    enum entry_block_depth depth, unsigned reasons)
{
	const struct paper *paper = entry->paper;
	GString *bytes = key->bytes;
	const struct key_head head = {
	    .shared = paper->shares > 0 ? paper : NULL,
	    .upvotes = entry->upvotes,
	    .depth = depth,
	    .reasons = reasons,
	};

	g_string_truncate(bytes, 0);
	g_string_append_len(bytes, (const char *)&head, sizeof(head));
	add_field(bytes, entry->day);
	for (unsigned i = 0; reasons != ENTRY_BLOCK_KEY_ANY && i < reasons; i++) {
		const struct digest_reason *reason = entry->reasons->pdata[i];

		add_field(bytes, reason->filter);
		add_field(bytes, reason->words);
	}
	if (!head.shared)
		add_field(bytes, paper->id);
	key->hashed = bytes->len;
	if (!head.shared)
		add_texts(bytes, paper);
}

void
entry_block_key_clear(struct entry_block_key *key)
{
	g_string_free(key->bytes, TRUE);
	paper_free(key->shared);
}

void
entry_block_key_init(struct entry_block_key *key, const struct entry_block_key *probe,
    struct paper *paper)
{
	key->bytes = g_string_new_len(probe->bytes->str, (gssize)probe->bytes->len);
	key->hashed = probe->hashed;
	key->shared = paper->shares > 0 ? paper_share(paper) : NULL;
}
