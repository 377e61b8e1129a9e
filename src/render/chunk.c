/*
 * chunk.c - a run of whole lines of a part, kept plain and encoded.
 */
#include "render/chunk.h"

#include <string.h>

#include "message/encoding.h"

static size_t
count_lines(const char *text, size_t size)
{
	const char *end = text + size;
	size_t count = 0;

	for (const char *p = text; (p = memchr(p, '\n', (size_t)(end - p))); p++)
		count++;
	return count;
}

void
chunk_init(struct chunk *piece, GString *text)
{
	if (text->len > 0 && text->str[text->len - 1] != '\n')
		g_string_append_c(text, '\n');
	piece->plain = text;
	piece->encoded = g_string_sized_new(text->len + text->len / 16);
	encoding_append_quoted_printable(piece->encoded, text->str, text->len);
	piece->foreign = encoding_count_non_ascii(text->str, text->len);
	piece->lines = count_lines(text->str, text->len);
}

void
chunk_clear(struct chunk *piece)
{
	if (!piece->plain)
		return;
	g_string_free(g_steal_pointer(&piece->plain), TRUE);
	g_string_free(g_steal_pointer(&piece->encoded), TRUE);
}

void
chunk_stats_add(struct chunk_stats *sum, const struct chunk *piece)
{
	sum->plain_bytes += piece->plain->len + piece->lines;
	sum->encoded_bytes += piece->encoded->len;
	sum->foreign += piece->foreign;
}

void
chunk_stats_subtract(struct chunk_stats *sum, const struct chunk *piece)
{
	sum->plain_bytes -= piece->plain->len + piece->lines;
	sum->encoded_bytes -= piece->encoded->len;
	sum->foreign -= piece->foreign;
}

void
chunk_stats_append(
    struct chunk_stats *sum, GString *encoded, const char *text, size_t size)
{
	size_t before = encoded->len;

	encoding_append_quoted_printable(encoded, text, size);
	sum->plain_bytes += size + count_lines(text, size);
	sum->encoded_bytes += encoded->len - before;
	sum->foreign += encoding_count_non_ascii(text, size);
}

enum encoding
chunk_stats_get_encoding(const struct chunk_stats *sum)
{
	return encoding_choose(sum->plain_bytes, sum->foreign);
}

size_t
chunk_stats_get_part_bytes(const struct chunk_stats *sum)
{
	switch (chunk_stats_get_encoding(sum)) {
	case ENCODING_QUOTED_PRINTABLE:
		return sum->encoded_bytes;
	case ENCODING_BASE64:
		return encoding_get_base64_size(sum->plain_bytes);
	}
	g_assert_not_reached();
}
