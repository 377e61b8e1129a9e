/*
 * compiled_template.h - a text whose lines are wrapped and encoded already, but for
 * those with a hole.
 *
 * Most lines of a frame are the same for everybody.  A hole stands where a value of the
 * reader's goes: it is put into the view in the value's place, and the template
 * is rendered once for all.
 */
#ifndef PAPERBOY_RENDER_COMPILED_TEMPLATE_H
#define PAPERBOY_RENDER_COMPILED_TEMPLATE_H

#include <glib.h>
#include <stdbool.h>

#include "render/chunk.h"

/* So many different holes can a pattern have. */
#define COMPILED_TEMPLATE_HOLES_MAX  16
#define COMPILED_TEMPLATE_HOLE_BYTES 4

struct compiled_template;

/* One part of a message as it grows. */
struct filling {
	GString *encoded; /* in quoted-printable */
	struct chunk_stats sum;
	GString *line; /* to work on */
	GString *wrapped;
};

/** Write what stands for a value in a view. @param number  below
 * COMPILED_TEMPLATE_HOLES_MAX */
void compiled_template_format_hole(
    unsigned number, char placeholder[COMPILED_TEMPLATE_HOLE_BYTES]);

/**
 * Make a pattern of a rendered text.
 *
 * @param columns  to wrap at, or 0
 */
struct compiled_template *compiled_template_new(const char *text, unsigned columns);
void compiled_template_free(struct compiled_template *pattern);

/** Tell whether a pattern has a hole at all. */
bool compiled_template_has_hole(const struct compiled_template *pattern);

/**
 * Make a pattern of another with some of its holes filled.
 *
 * @param values  by number; NULL where the hole stays
 */
struct compiled_template *compiled_template_bind(
    const struct compiled_template *pattern, const char *const *values);

/**
 * Append the lines with their values, which are escaped where the template says so.
 *
 * @param values  by number; one for every hole
 */
void compiled_template_fill(const struct compiled_template *pattern,
    const char *const *values, struct filling *filling);

/** Append the same as plain text, lines ending in LF. */
void compiled_template_append_plain(
    const struct compiled_template *pattern, const char *const *values, GString *out);

void filling_init(struct filling *filling);
void filling_clear(struct filling *filling);

#endif
