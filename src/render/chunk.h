/*
 * chunk.h - whole lines of a part in quoted-printable.
 *
 * Whole lines, because these can be encoded separately (message/encoding.h).
 */
#pragma once

#include <glib.h>

#include "message/encoding.h"

/* Sizes of one or more chunks, to measure a part before it is built. */
struct chunk_stats {
	size_t plain_bytes; /* with CRLF */
	size_t encoded_bytes;
	size_t non_ascii;
};

struct chunk {
	char *encoded;
	struct chunk_stats stats;
};

/** Encode a text; LF is added to it if the last line lacks it. */
void chunk_init(struct chunk *chunk, GString *text);
void chunk_clear(struct chunk *chunk);

/** Find the position of a line of the text, from 0, in the encoded chunk. */
size_t chunk_find_line(const struct chunk *chunk, unsigned number);

/** Find the position of the next line of the text. @param at  of a line */
size_t chunk_find_next_line(const struct chunk *chunk, size_t at);

void chunk_stats_add(struct chunk_stats *stats, const struct chunk_stats *other);
void chunk_stats_subtract(struct chunk_stats *stats, const struct chunk_stats *other);

/** Append whole lines in quoted-printable, and add their sizes. */
void chunk_stats_append(
    struct chunk_stats *stats, GString *encoded, const char *text, size_t size);

/** Choose base64 for a part with many non-ASCII bytes, else quoted-printable. */
enum encoding chunk_stats_get_encoding(const struct chunk_stats *stats);

/** Get the size of a part in that encoding. */
size_t chunk_stats_get_part_bytes(const struct chunk_stats *stats);
