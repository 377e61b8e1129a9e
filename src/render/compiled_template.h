/*
 * compiled_template.h - rendered text that is wrapped and encoded in advance, except
 * for lines with placeholders.
 *
 * Most lines around the papers are the same for all subscribers.  A template is
 * rendered once with placeholders in the view; only lines that contain one are
 * processed per message.
 */
#pragma once

#include <glib.h>

#include "message/compose.h"
#include "render/chunk.h"
#include "render/view.h"

/* Maximum number of different placeholders. */
#define COMPILED_TEMPLATE_PLACEHOLDERS_MAX  62
#define COMPILED_TEMPLATE_PLACEHOLDER_BYTES 4

struct compiled_template;

/* One part of a message under construction. */
struct template_buffer {
	GArray *spans;    /* of struct compose_span */
	GString *encoded; /* lines with values, quoted-printable */
	struct chunk_stats stats;
	GString *line; /* scratch space */
	GString *wrapped;
};

/**
 * Format the placeholder of a value.
 *
 * @param number  less than COMPILED_TEMPLATE_PLACEHOLDERS_MAX
 */
void compiled_template_format_placeholder(
    unsigned number, char placeholder[COMPILED_TEMPLATE_PLACEHOLDER_BYTES]);

/** Put the placeholder of a value into a map. @param name  a string literal */
void
compiled_template_put_placeholder(struct view *map, const char *name, unsigned number);

/** Compile a rendered text. @param columns  to wrap at, or 0 */
struct compiled_template *compiled_template_new(const char *text, unsigned columns);
void compiled_template_free(struct compiled_template *compiled);

/**
 * Append the text with the values, escaped where the template escapes them.
 *
 * @param values  by number; one for each placeholder
 */
void compiled_template_fill(const struct compiled_template *compiled,
    const char *const *values, struct template_buffer *buffer);

/** Append the same as plain text, lines ending in LF. */
void compiled_template_append_plain(
    const struct compiled_template *compiled, const char *const *values, GString *out);

void template_buffer_init(struct template_buffer *buffer);
void template_buffer_clear(struct template_buffer *buffer);

/** Empty a buffer. */
void template_buffer_reset(struct template_buffer *buffer);

/**
 * Get the spans, after the last compiled_template_fill().
 *
 * @return buffer->spans->len spans, borrowed from the buffer and the templates
 */
const struct compose_span *template_buffer_get_spans(struct template_buffer *buffer);
