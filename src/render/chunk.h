/*
 * chunk.h - a run of whole lines of a part, kept plain and encoded.
 *
 * Lines are what makes encoding apart exact: see message/encoding.h.
 */
#ifndef PAPERBOY_RENDER_CHUNK_H
#define PAPERBOY_RENDER_CHUNK_H

#include <glib.h>

#include "message/encoding.h"

struct chunk {
	GString *plain;   /* lines that end in LF */
	GString *encoded; /* the same in quoted-printable */
	size_t lines;
	size_t foreign; /* octets that are not ASCII */
};

/** What many pieces come to, so that a part can be measured before it is made. */
struct chunk_stats {
	size_t plain_bytes; /* with CRLF */
	size_t encoded_bytes;
	size_t foreign;
};

/** Make a piece of a text; a last line without LF gets one. @param text taken */
void chunk_init(struct chunk *piece, GString *text);
void chunk_clear(struct chunk *piece);

void chunk_stats_add(struct chunk_stats *sum, const struct chunk *piece);
void chunk_stats_subtract(struct chunk_stats *sum, const struct chunk *piece);

/** Append whole lines in quoted-printable, and add what they come to. */
void chunk_stats_append(
    struct chunk_stats *sum, GString *encoded, const char *text, size_t size);

/** Tell which encoding suits a part of that sum. */
enum encoding chunk_stats_get_encoding(const struct chunk_stats *sum);

/** Tell how many octets a part of that sum has once it is encoded. */
size_t chunk_stats_get_part_bytes(const struct chunk_stats *sum);

#endif
