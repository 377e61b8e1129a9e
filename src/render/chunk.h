/*
 * chunk.h - whole lines of a part, plain and encoded.
 *
 * Whole lines, because these can be encoded separately (message/encoding.h).
 */
#ifndef PAPERBOY_RENDER_CHUNK_H
#define PAPERBOY_RENDER_CHUNK_H

#include <glib.h>

#include "message/encoding.h"

struct chunk {
	GString *plain;   /* lines ending in LF */
	GString *encoded; /* the same in quoted-printable */
	size_t lines;
	size_t non_ascii; /* bytes */
};

/* Totals of several chunks, to measure a part before it is built. */
struct chunk_stats {
	size_t plain_bytes; /* with CRLF */
	size_t encoded_bytes;
	size_t non_ascii;
};

/** Encode a text; LF is added if the last line lacks it. @param text taken */
void chunk_init(struct chunk *chunk, GString *text);
void chunk_clear(struct chunk *chunk);

void chunk_stats_add(struct chunk_stats *stats, const struct chunk *chunk);
void chunk_stats_subtract(struct chunk_stats *stats, const struct chunk *chunk);

/** Append whole lines in quoted-printable, and add their sizes. */
void chunk_stats_append(
    struct chunk_stats *stats, GString *encoded, const char *text, size_t size);

/** Get the best encoding for a part. */
enum encoding chunk_stats_get_encoding(const struct chunk_stats *stats);

/** Get the size of a part in that encoding. */
size_t chunk_stats_get_part_bytes(const struct chunk_stats *stats);

#endif
