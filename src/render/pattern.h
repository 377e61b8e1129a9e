/*
 * pattern.h - a text whose lines are wrapped and encoded already, but for those with
 * a hole.
 *
 * Most lines of a frame are the same for everybody.  A hole stands where a value of the
 * reader's goes: it is put into the view in the value's place, and the template
 * is rendered once for all.
 */
#ifndef PAPERBOY_RENDER_PATTERN_H
#define PAPERBOY_RENDER_PATTERN_H

#include <glib.h>
#include <stdbool.h>

#include "render/piece.h"

/* So many different holes can a pattern have. */
#define PATTERN_HOLES_MAX  16
#define PATTERN_HOLE_BYTES 4

struct pattern;

/* One part of a message as it grows. */
struct filling {
	GString *encoded; /* in quoted-printable */
	struct piece_sum sum;
	GString *line; /* to work on */
	GString *wrapped;
};

/** Write what stands for a value in a view. @param number  below PATTERN_HOLES_MAX */
void pattern_format_hole(unsigned number, char hole[PATTERN_HOLE_BYTES]);

/**
 * Make a pattern of a rendered text.
 *
 * @param columns  to wrap at, or 0
 */
struct pattern *pattern_new(const char *text, unsigned columns);
void pattern_free(struct pattern *pattern);

/** Tell whether a pattern has a hole at all. */
bool pattern_has_hole(const struct pattern *pattern);

/**
 * Make a pattern of another with some of its holes filled.
 *
 * @param values  by number; NULL where the hole stays
 */
struct pattern *pattern_bind(const struct pattern *pattern, const char *const *values);

/**
 * Append the lines with their values, which are escaped where the template says so.
 *
 * @param values  by number; one for every hole
 */
void pattern_fill(
    const struct pattern *pattern, const char *const *values, struct filling *filling);

/** Append the same as plain text, lines ending in LF. */
void pattern_append_plain(
    const struct pattern *pattern, const char *const *values, GString *out);

void filling_init(struct filling *filling);
void filling_clear(struct filling *filling);

#endif
