/*
 * cache_key.h - hash of everything but the digest that a message depends on.
 */
#pragma once

#include <glib.h>
#include <string.h>

/* To be changed with code that changes the output. */
#define CACHE_KEY_VERSION "14"

/** Add a text with its NUL, so that fields cannot run together. @param text or NULL */
static inline void
cache_key_add(GChecksum *checksum, const char *text)
{
	if (!text)
		text = "";
	g_checksum_update(checksum, (const guchar *)text, (gssize)strlen(text) + 1);
}
