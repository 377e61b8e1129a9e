/*
 * entry_key.h - keys of the caches of rendered papers and reasons.
 */
#ifndef PAPERBOY_RENDER_ENTRY_KEY_H
#define PAPERBOY_RENDER_ENTRY_KEY_H

#include <glib.h>

/* Everything that determines a cached value. */
struct entry_key {
	const char *bytes; /* not text; borrowed */
	size_t size;
	guint hash;
};

/** Append a text with its NUL, so that fields cannot run together. @param text or NULL
 */
void entry_key_add(GString *bytes, const char *text);

/** Make a key of bytes. @param hashed  of the first bytes: the rest rarely differs */
struct entry_key entry_key_make(const GString *bytes, size_t hashed);

/* A table with such keys. */
guint entry_key_hash(gconstpointer key);
gboolean entry_key_equal(gconstpointer a, gconstpointer b);

#endif
