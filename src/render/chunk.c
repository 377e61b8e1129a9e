/*
 * chunk.c - whole lines of a part in quoted-printable.
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
	GString *encoded = g_string_sized_new(text->len + text->len / 16);

	if (text->len > 0 && text->str[text->len - 1] != '\n')
		g_string_append_c(text, '\n');
	chunk->stats = (struct chunk_stats){0};
	chunk_stats_append(&chunk->stats, encoded, text->str, text->len);
	chunk->encoded =
	    g_realloc(g_string_free(encoded, FALSE), chunk->stats.encoded_bytes + 1);
}

void
chunk_clear(struct chunk *chunk)
{
	g_clear_pointer(&chunk->encoded, g_free);
}

size_t
chunk_find_next_line(const struct chunk *chunk, size_t at)
{
	const char *encoded = chunk->encoded;
	size_t start;

	/* A line is several in quoted-printable, if it has soft breaks. */
	do {
		start = at;
		at = (size_t)(strchr(encoded + at, '\n') + 1 - encoded);
	} while (at - start > 2 && encoded[at - 3] == '=');
	return at;
}

size_t
chunk_find_line(const struct chunk *chunk, unsigned number)
{
	size_t at = 0;

	while (number-- > 0)
		at = chunk_find_next_line(chunk, at);
	return at;
}

void
chunk_stats_add(struct chunk_stats *stats, const struct chunk_stats *other)
{
	stats->plain_bytes += other->plain_bytes;
	stats->encoded_bytes += other->encoded_bytes;
	stats->non_ascii += other->non_ascii;
}

void
chunk_stats_subtract(struct chunk_stats *stats, const struct chunk_stats *other)
{
	stats->plain_bytes -= other->plain_bytes;
	stats->encoded_bytes -= other->encoded_bytes;
	stats->non_ascii -= other->non_ascii;
}

void
chunk_stats_append(
    struct chunk_stats *stats, GString *encoded, const char *text, size_t size)
{
	size_t before = encoded->len, plain_bytes = size + count_lines(text, size);

	encoding_append_quoted_printable(encoded, text, size);
	stats->plain_bytes += plain_bytes;
	stats->encoded_bytes += encoded->len - before;
	/* Lines that are encoded as they are are ASCII. */
	if (encoded->len - before != plain_bytes)
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
