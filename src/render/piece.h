/*
 * piece.h - a run of whole lines of a part, kept plain and encoded.
 *
 * Lines are what makes encoding apart exact: see mail/encoding.h.
 */
#ifndef PAPERBOY_RENDER_PIECE_H
#define PAPERBOY_RENDER_PIECE_H

#include <glib.h>

#include "mail/message.h"

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

/** Tell how many octets a part of that sum has once it is encoded. */
size_t piece_sum_get_part_bytes(const struct piece_sum *sum);

/**
 * Join pieces to one part: in quoted-printable by copying, or in base64 where
 * that suits the whole better.
 *
 * @param pieces  of struct piece *
 * @param buffer  gets the octets; the part points into it
 */
void piece_join(const GPtrArray *pieces, GString *buffer, struct message_part *part);

/** Join pieces to plain text. @return owned by the caller */
char *piece_join_plain(const GPtrArray *pieces);

#endif
