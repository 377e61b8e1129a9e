/*
 * piece.c - a run of whole lines of a part, kept plain and encoded.
 */
#include "render/piece.h"

#include <string.h>

#include "mail/encoding.h"

static size_t
count_lines(const GString *text)
{
	const char *end = text->str + text->len;
	size_t count = 0;

	for (const char *p = text->str; (p = memchr(p, '\n', (size_t)(end - p))); p++)
		count++;
	return count;
}

void
piece_init(struct piece *piece, GString *text)
{
	if (text->len > 0 && text->str[text->len - 1] != '\n')
		g_string_append_c(text, '\n');
	piece->plain = text;
	piece->encoded = g_string_sized_new(text->len + text->len / 16);
	encoding_append_quoted_printable(piece->encoded, text->str, text->len);
	piece->foreign = encoding_count_foreign(text->str, text->len);
	piece->lines = count_lines(text);
}

void
piece_clear(struct piece *piece)
{
	if (!piece->plain)
		return;
	g_string_free(g_steal_pointer(&piece->plain), TRUE);
	g_string_free(g_steal_pointer(&piece->encoded), TRUE);
}

void
piece_sum_add(struct piece_sum *sum, const struct piece *piece)
{
	sum->plain_bytes += piece->plain->len + piece->lines;
	sum->encoded_bytes += piece->encoded->len;
	sum->foreign += piece->foreign;
}

void
piece_sum_subtract(struct piece_sum *sum, const struct piece *piece)
{
	sum->plain_bytes -= piece->plain->len + piece->lines;
	sum->encoded_bytes -= piece->encoded->len;
	sum->foreign -= piece->foreign;
}

static enum encoding
choose_encoding(const struct piece_sum *sum)
{
	return encoding_choose(sum->plain_bytes, sum->foreign);
}

size_t
piece_sum_get_part_bytes(const struct piece_sum *sum)
{
	switch (choose_encoding(sum)) {
	case ENCODING_QUOTED_PRINTABLE:
		return sum->encoded_bytes;
	case ENCODING_BASE64:
		return encoding_get_base64_size(sum->plain_bytes);
	}
	g_assert_not_reached();
}

static GString *
join_plain(const GPtrArray *pieces)
{
	GString *plain = g_string_new(NULL);

	for (unsigned i = 0; i < pieces->len; i++) {
		const struct piece *piece = pieces->pdata[i];

		g_string_append_len(
		    plain, piece->plain->str, (gssize)piece->plain->len);
	}
	return plain;
}

char *
piece_join_plain(const GPtrArray *pieces)
{
	return g_string_free(join_plain(pieces), FALSE);
}

void
piece_join(const GPtrArray *pieces, GString *buffer, struct message_part *part)
{
	struct piece_sum sum = {0};

	for (unsigned i = 0; i < pieces->len; i++)
		piece_sum_add(&sum, pieces->pdata[i]);
	g_string_truncate(buffer, 0);
	part->encoding = choose_encoding(&sum);
	switch (part->encoding) {
	case ENCODING_QUOTED_PRINTABLE:
		for (unsigned i = 0; i < pieces->len; i++) {
			const struct piece *piece = pieces->pdata[i];

			g_string_append_len(
			    buffer, piece->encoded->str, (gssize)piece->encoded->len);
		}
		break;
	case ENCODING_BASE64: {
		g_autoptr(GString) plain = join_plain(pieces);

		encoding_append_base64(buffer, plain->str, plain->len);
		break;
	}
	}
	part->data = buffer->str;
	part->size = buffer->len;
}
