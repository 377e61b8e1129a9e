/*
 * entry_block_key.h - what tells fragments apart, as one run of octets.
 */
#ifndef PAPERBOY_RENDER_ENTRY_BLOCK_KEY_H
#define PAPERBOY_RENDER_ENTRY_BLOCK_KEY_H

#include <glib.h>
#include <stddef.h>

#include "model/digest.h"
#include "render/entry_block.h"

/* For the number of reasons: whatever they are. */
#define ENTRY_BLOCK_KEY_ANY G_MAXUINT

/*
 * All that a fragment is made of, as one run of octets; a paper that is shared stands
 * in it by its address.  Only the first part is hashed: it tells papers and reasons
 * apart, the rest seldom differs.
 */
struct entry_block_key {
	GString *bytes;
	size_t hashed;
	struct paper *shared; /* keeps the address from becoming another's, or NULL */
};

/** For a GHashTable of struct entry_block_key *. */
guint entry_block_key_hash(gconstpointer data);
gboolean entry_block_key_is_equal(gconstpointer a, gconstpointer b);

/**
 * Make it that of an entry.
 *
 * @param key      a probe: with octets, and nothing shared
 * @param reasons  how many of the entry's count, or ENTRY_BLOCK_KEY_ANY
 */
void entry_block_key_set(struct entry_block_key *key, const struct digest_entry *entry,
    enum entry_block_depth depth, unsigned reasons);

/** Copy a probe, to be kept; the paper is, too, where it is shared. */
void entry_block_key_init(struct entry_block_key *key,
    const struct entry_block_key *probe, struct paper *paper);
void entry_block_key_clear(struct entry_block_key *key);

#endif
