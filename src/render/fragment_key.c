/*
 * fragment_key.c - what tells fragments apart, as one run of octets.
 */
#include "render/fragment_key.h"

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
fragment_key_hash(gconstpointer data)
{
	const struct fragment_key *key = data;
	const uint64_t odd = 0x9E3779B97F4A7C15;
	uint64_t hash = key->hashed, eight;
	size_t i = 0;

	for (; i + sizeof(eight) <= key->hashed; i += sizeof(eight)) {
		memcpy(&eight, key->octets->str + i, sizeof(eight));
		hash = (hash ^ eight) * odd;
		hash ^= hash >> 29;
	}
	for (; i < key->hashed; i++)
		hash = (hash ^ (unsigned char)key->octets->str[i]) * odd;
	return (guint)(hash >> 32);
}

gboolean
fragment_key_is_equal(gconstpointer a, gconstpointer b)
{
	const GString *left = ((const struct fragment_key *)a)->octets;
	const GString *right = ((const struct fragment_key *)b)->octets;

	return left->len == right->len && memcmp(left->str, right->str, left->len) == 0;
}

static void
add_field(GString *octets, const char *text)
{
	g_string_append_len(
	    octets, text ? text : "", text ? (gssize)strlen(text) + 1 : 1);
}

static void
add_texts(GString *octets, const struct paper *paper)
{
	unsigned authors = paper->authors->len;

	g_string_append_len(octets, (const char *)&authors, sizeof(authors));
	add_field(octets, paper->title);
	add_field(octets, paper->url);
	add_field(octets, paper->code_url);
	add_field(octets, paper->project_url);
	for (unsigned i = 0; i < MIN(paper->authors->len, BOUNDS_DIGEST_AUTHORS); i++)
		add_field(octets, paper->authors->pdata[i]);
	add_field(octets, paper->abstract);
}

void
fragment_key_set(struct fragment_key *key, const struct digest_entry *entry,
    enum fragment_depth depth, unsigned reasons)
{
	const struct paper *paper = entry->paper;
	GString *octets = key->octets;
	const struct key_head head = {
	    .shared = paper->shares > 0 ? paper : NULL,
	    .upvotes = entry->upvotes,
	    .depth = depth,
	    .reasons = reasons,
	};

	g_string_truncate(octets, 0);
	g_string_append_len(octets, (const char *)&head, sizeof(head));
	add_field(octets, entry->day);
	for (unsigned i = 0; reasons != FRAGMENT_KEY_ANY && i < reasons; i++) {
		const struct digest_reason *reason = entry->reasons->pdata[i];

		add_field(octets, reason->filter);
		add_field(octets, reason->words);
	}
	if (!head.shared)
		add_field(octets, paper->id);
	key->hashed = octets->len;
	if (!head.shared)
		add_texts(octets, paper);
}

void
fragment_key_clear(struct fragment_key *key)
{
	g_string_free(key->octets, TRUE);
	paper_free(key->shared);
}

void
fragment_key_init(
    struct fragment_key *key, const struct fragment_key *probe, struct paper *paper)
{
	key->octets = g_string_new_len(probe->octets->str, (gssize)probe->octets->len);
	key->hashed = probe->hashed;
	key->shared = paper->shares > 0 ? paper_share(paper) : NULL;
}
