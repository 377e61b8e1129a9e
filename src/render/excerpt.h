/*
 * excerpt.h - the beginning of an abstract, for who wants it short.
 */
#ifndef PAPERBOY_RENDER_EXCERPT_H
#define PAPERBOY_RENDER_EXCERPT_H

#include <glib.h>

/* At most so many characters, the ellipsis among them. */
#define EXCERPT_CHARS 300

#define EXCERPT_SENTENCES 2

/**
 * Format the first EXCERPT_SENTENCES sentences, or EXCERPT_CHARS of them, cut at a
 * word.  What was cut ends in U+2026.  A full stop behind one letter or behind a usual
 * abbreviation ends no sentence, nor does one before a small letter.
 *
 * @param text  any text
 * @return one inert line (message/sanitize.h), owned by the caller
 */
char *excerpt_format(const char *text);

#endif
