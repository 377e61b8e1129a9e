/*
 * chunk.c - whole lines of a part, plain and encoded.
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
chunk_init(struct chunk *chunk, GString *text)
{
	if (text->len > 0 && text->str[text->len - 1] != '\n')
		g_string_append_c(text, '\n');
	chunk->plain = text;
	chunk->encoded = g_string_sized_new(text->len + text->len / 16);
	encoding_append_quoted_printable(chunk->encoded, text->str, text->len);
	chunk->non_ascii = encoding_count_non_ascii(text->str, text->len);
	chunk->lines = count_lines(text->str, text->len);
}

void
chunk_clear(struct chunk *chunk)
{
	if (!chunk->plain)
		return;
	g_string_free(g_steal_pointer(&chunk->plain), TRUE);
	g_string_free(g_steal_pointer(&chunk->encoded), TRUE);
}

void
chunk_stats_add(struct chunk_stats *stats, const struct chunk *chunk)
{
	stats->plain_bytes += chunk->plain->len + chunk->lines;
	stats->encoded_bytes += chunk->encoded->len;
	stats->non_ascii += chunk->non_ascii;
}

void
chunk_stats_subtract(struct chunk_stats *stats, const struct chunk *chunk)
{
	stats->plain_bytes -= chunk->plain->len + chunk->lines;
	stats->encoded_bytes -= chunk->encoded->len;
	stats->non_ascii -= chunk->non_ascii;
}

void
chunk_stats_append(
    struct chunk_stats *stats, GString *encoded, const char *text, size_t size)
{
	size_t before = encoded->len;

	encoding_append_quoted_printable(encoded, text, size);
	stats->plain_bytes += size + count_lines(text, size);
	stats->encoded_bytes += encoded->len - before;
	stats->non_ascii += encoding_count_non_ascii(text, size);
}

enum encoding
chunk_stats_get_encoding(const struct chunk_stats *stats)
{
	return encoding_choose(stats->plain_bytes, stats->non_ascii);
}

size_t
chunk_stats_get_part_bytes(const struct chunk_stats *stats)
{
	switch (chunk_stats_get_encoding(stats)) {
	case ENCODING_QUOTED_PRINTABLE:
		return stats->encoded_bytes;
	case ENCODING_BASE64:
		return encoding_get_base64_size(stats->plain_bytes);
	}
	g_assert_not_reached();
}
