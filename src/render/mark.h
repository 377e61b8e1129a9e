/*
 * mark.h - marks the words of a text that filters matched.
 */
#pragma once

#include <glib.h>

#include "model/hit.h"

/**
 * Append a text with `<mark>` around the words of hits on a field, title or abstract:
 * words with the same letters and accents as in the hit, whatever is between them; in
 * scripts without spaces (base/bigram.h) the same characters, anywhere.  Words of a URL
 * are not marked, since mail programs make links of URLs.
 *
 * @param html     text with escapes, but no tags
 * @param reasons  of struct digest_reason *
 */
void mark_append(GString *out, const char *html, size_t size, const GPtrArray *reasons,
    enum hit_field field);
