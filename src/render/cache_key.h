/*
 * cache_key.h - what the octets of a digest depend on besides the digest, as a hash.
 */
#ifndef PAPERBOY_RENDER_CACHE_KEY_H
#define PAPERBOY_RENDER_CACHE_KEY_H

#include <glib.h>
#include <string.h>

/* Raise it whenever the code makes other octets of the same input. */
#define CACHE_KEY_VERSION "6"

/** Add a text, with its zero octet: so no two run into each other. @param text or NULL
 */
static inline void
cache_key_add(GChecksum *sum, const char *text)
{
	if (!text)
		text = "";
	g_checksum_update(sum, (const guchar *)text, (gssize)strlen(text) + 1);
}

#endif
