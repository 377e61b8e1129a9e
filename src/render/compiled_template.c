/*
 * compiled_template.c - rendered text that is wrapped and encoded in advance, except
 * for lines with placeholders.
 */
#include "render/compiled_template.h"

#include <stdbool.h>
#include <string.h>

#include "render/template.h"
#include "render/wrap.h"

/*
 * A placeholder is a control character, which templates and sanitized text cannot
 * contain, then the number, then a character that shows whether it was escaped.
 */
#define PLACEHOLDER         '\x03'
#define PLACEHOLDER_FIRST   'A'
#define PLACEHOLDER_RAW     "<"
#define PLACEHOLDER_ESCAPED "&lt;"

/* A text, and the value that follows it. */
struct segment {
	const char *text; /* in the line */
	unsigned size;
	unsigned value;
	bool is_escaped;
};

/* Lines without placeholders, or one line with some. */
struct span {
	struct chunk chunk;
	char *line; /* not wrapped, ends in LF; NULL for lines without placeholders */
	GArray *segments; /* of struct segment */
	const char *rest; /* of the line, after the last value */
};

struct compiled_template {
	unsigned columns;
	GArray *spans; /* of struct span */
};

void
compiled_template_format_placeholder(
    unsigned number, char placeholder[COMPILED_TEMPLATE_PLACEHOLDER_BYTES])
{
	g_assert(number < COMPILED_TEMPLATE_PLACEHOLDERS_MAX);
	placeholder[0] = PLACEHOLDER;
	placeholder[1] = (char)(PLACEHOLDER_FIRST + number);
	placeholder[2] = PLACEHOLDER_RAW[0];
	placeholder[3] = '\0';
}

void
compiled_template_put_placeholder(struct view *map, const char *name, unsigned number)
{
	char placeholder[COMPILED_TEMPLATE_PLACEHOLDER_BYTES];

	compiled_template_format_placeholder(number, placeholder);
	view_put_text(map, name, placeholder);
}

static void
clear_span(void *data)
{
	struct span *span = data;

	chunk_clear(&span->chunk);
	g_free(span->line);
	g_clear_pointer(&span->segments, g_array_unref);
}

static void
add_lines(struct compiled_template *compiled, const char *text, size_t size)
{
	g_autoptr(GString) lines = g_string_new_len(text, (gssize)size);
	g_autoptr(GString) wrapped = g_string_new(NULL);
	struct span span = {0};

	if (size == 0)
		return;
	if (compiled->columns > 0)
		wrap_append_text(wrapped, lines->str, compiled->columns);
	chunk_init(&span.chunk, compiled->columns > 0 ? wrapped : lines);
	g_array_append_val(compiled->spans, span);
}

static void
split_line(struct span *span)
{
	span->segments = g_array_new(FALSE, FALSE, sizeof(struct segment));
	span->rest = span->line;
	for (const char *at; (at = strchr(span->rest, PLACEHOLDER));) {
		const char *end = at + 2;
		struct segment segment = {
		    .text = span->rest,
		    .size = (unsigned)(at - span->rest),
		    .value = (unsigned)(at[1] - PLACEHOLDER_FIRST),
		    .is_escaped = g_str_has_prefix(end, PLACEHOLDER_ESCAPED),
		};

		g_array_append_val(span->segments, segment);
		span->rest = end + strlen(segment.is_escaped ? PLACEHOLDER_ESCAPED
		                                             : PLACEHOLDER_RAW);
	}
}

static void
add_line_with_placeholder(
    struct compiled_template *compiled, const char *text, size_t size)
{
	struct span span = {0};
	bool is_ended = text[size - 1] == '\n';

	span.line = g_strdup_printf("%.*s%s", (int)size, text, is_ended ? "" : "\n");
	split_line(&span);
	g_array_append_val(compiled->spans, span);
}

struct compiled_template *
compiled_template_new(const char *text, unsigned columns)
{
	struct compiled_template *compiled = g_new0(struct compiled_template, 1);
	const char *done = text; /* up to here it is in spans */

	compiled->columns = columns;
	compiled->spans = g_array_new(FALSE, FALSE, sizeof(struct span));
	g_array_set_clear_func(compiled->spans, clear_span);
	for (const char *placeholder; (placeholder = strchr(done, PLACEHOLDER));) {
		const char *line = placeholder, *end = strchr(placeholder, '\n');

		while (line > done && line[-1] != '\n')
			line--;
		end = end ? end + 1 : placeholder + strlen(placeholder);
		add_lines(compiled, done, (size_t)(line - done));
		add_line_with_placeholder(compiled, line, (size_t)(end - line));
		done = end;
	}
	add_lines(compiled, done, strlen(done));
	return compiled;
}

void
compiled_template_free(struct compiled_template *compiled)
{
	if (!compiled)
		return;
	g_array_unref(compiled->spans);
	g_free(compiled);
}

static void
append_values(GString *out, const struct span *span, const char *const *values)
{
	for (unsigned i = 0; i < span->segments->len; i++) {
		const struct segment *segment =
		    &g_array_index(span->segments, struct segment, i);

		g_string_append_len(out, segment->text, segment->size);
		if (segment->is_escaped)
			template_append_escaped(out, values[segment->value]);
		else
			g_string_append(out, values[segment->value]);
	}
	g_string_append(out, span->rest);
}

void
compiled_template_fill(const struct compiled_template *compiled,
    const char *const *values, struct template_buffer *buffer)
{
	const unsigned count = compiled->spans->len, first = buffer->spans->len;
	struct compose_span *out;

	g_array_set_size(buffer->spans, first + count);
	out = &g_array_index(buffer->spans, struct compose_span, first);
	for (unsigned i = 0; i < count; i++, out++) {
		const struct span *span =
		    &g_array_index(compiled->spans, struct span, i);
		const size_t before = buffer->encoded->len;
		GString *line = buffer->line;

		if (!span->line) {
			*out = (struct compose_span){
			    span->chunk.encoded, span->chunk.stats.encoded_bytes};
			chunk_stats_add(&buffer->stats, &span->chunk.stats);
			continue;
		}
		g_string_truncate(line, 0);
		append_values(line, span, values);
		if (compiled->columns > 0) {
			line = buffer->wrapped;
			g_string_truncate(line, 0);
			wrap_append_text(line, buffer->line->str, compiled->columns);
		}
		chunk_stats_append(
		    &buffer->stats, buffer->encoded, line->str, line->len);
		/* To be set by template_buffer_get_spans(): the buffer may move. */
		*out = (struct compose_span){NULL, buffer->encoded->len - before};
	}
}

void
compiled_template_append_plain(
    const struct compiled_template *compiled, const char *const *values, GString *out)
{
	for (unsigned i = 0; i < compiled->spans->len; i++) {
		const struct span *span =
		    &g_array_index(compiled->spans, struct span, i);

		if (!span->line) {
			encoding_append_decoded(
			    out, span->chunk.encoded, span->chunk.stats.encoded_bytes);
		} else if (compiled->columns > 0) {
			g_autoptr(GString) line = g_string_sized_new(256);

			append_values(line, span, values);
			wrap_append_text(out, line->str, compiled->columns);
		} else {
			append_values(out, span, values);
		}
	}
}

const struct compose_span *
template_buffer_get_spans(struct template_buffer *buffer)
{
	size_t at = 0;

	for (unsigned i = 0; i < buffer->spans->len; i++) {
		struct compose_span *span =
		    &g_array_index(buffer->spans, struct compose_span, i);

		if (span->data)
			continue;
		span->data = buffer->encoded->str + at;
		at += span->size;
	}
	return (const struct compose_span *)(void *)buffer->spans->data;
}

void
template_buffer_reset(struct template_buffer *buffer)
{
	g_string_truncate(buffer->encoded, 0);
	g_array_set_size(buffer->spans, 0);
	buffer->stats = (struct chunk_stats){0};
}

void
template_buffer_init(struct template_buffer *buffer)
{
	*buffer = (struct template_buffer){
	    .encoded = g_string_sized_new(4096),
	    .spans = g_array_new(FALSE, FALSE, sizeof(struct compose_span)),
	    .line = g_string_sized_new(512),
	    .wrapped = g_string_sized_new(512),
	};
}

void
template_buffer_clear(struct template_buffer *buffer)
{
	if (!buffer->encoded)
		return;
	g_string_free(g_steal_pointer(&buffer->encoded), TRUE);
	g_array_unref(g_steal_pointer(&buffer->spans));
	g_string_free(g_steal_pointer(&buffer->line), TRUE);
	g_string_free(g_steal_pointer(&buffer->wrapped), TRUE);
}
