/*
 * piece.h - a run of whole lines of a part, kept plain and encoded.
 *
 * Lines are what makes encoding apart exact: see mail/encoding.h.
 */
#ifndef PAPERBOY_RENDER_PIECE_H
#define PAPERBOY_RENDER_PIECE_H

#include <glib.h>

#include "mail/encoding.h"

struct piece {
	GString *plain;   /* lines that end in LF */
	GString *encoded; /* the same in quoted-printable */
	size_t lines;
	size_t foreign; /* octets that are not ASCII */
};

/** What many pieces come to, so that a part can be measured before it is made. */
struct piece_sum {
	size_t plain_bytes; /* with CRLF */
	size_t encoded_bytes;
	size_t foreign;
};

/** Make a piece of a text; a last line without LF gets one. @param text taken */
void piece_init(struct piece *piece, GString *text);
void piece_clear(struct piece *piece);

void piece_sum_add(struct piece_sum *sum, const struct piece *piece);
void piece_sum_subtract(struct piece_sum *sum, const struct piece *piece);

/** Append whole lines in quoted-printable, and add what they come to. */
void piece_sum_append(
    struct piece_sum *sum, GString *encoded, const char *text, size_t size);

/** Tell which encoding suits a part of that sum. */
enum encoding piece_sum_get_encoding(const struct piece_sum *sum);

/** Tell how many octets a part of that sum has once it is encoded. */
size_t piece_sum_get_part_bytes(const struct piece_sum *sum);

#endif
