/*
 * fragment_key.h - what tells fragments apart, as one run of octets.
 */
#ifndef PAPERBOY_RENDER_FRAGMENT_KEY_H
#define PAPERBOY_RENDER_FRAGMENT_KEY_H

#include <glib.h>
#include <stddef.h>

#include "model/digest.h"
#include "render/fragment.h"

/* For the number of reasons: whatever they are. */
#define FRAGMENT_KEY_ANY G_MAXUINT

/*
 * All that a fragment is made of, as one run of octets; a paper that is shared stands
 * in it by its address.  Only the first part is hashed: it tells papers and reasons
 * apart, the rest seldom differs.
 */
struct fragment_key {
	GString *octets;
	size_t hashed;
	struct paper *shared; /* keeps the address from becoming another's, or NULL */
};

/** For a GHashTable of struct fragment_key *. */
guint fragment_key_hash(gconstpointer data);
gboolean fragment_key_is_equal(gconstpointer a, gconstpointer b);

/**
 * Make it that of an entry.
 *
 * @param key      a probe: with octets, and nothing shared
 * @param reasons  how many of the entry's count, or FRAGMENT_KEY_ANY
 */
void fragment_key_set(struct fragment_key *key, const struct digest_entry *entry,
    enum fragment_depth depth, unsigned reasons);

/** Copy a probe, to be kept; the paper is, too, where it is shared. */
void fragment_key_init(
    struct fragment_key *key, const struct fragment_key *probe, struct paper *paper);
void fragment_key_clear(struct fragment_key *key);

#endif
