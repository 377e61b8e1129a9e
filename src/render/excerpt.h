/*
 * excerpt.h - the beginning of an abstract.
 */
#ifndef PAPERBOY_RENDER_EXCERPT_H
#define PAPERBOY_RENDER_EXCERPT_H

#include <glib.h>

/* Maximum length in characters, including the ellipsis. */
#define EXCERPT_CHARS 300

#define EXCERPT_SENTENCES 2

/**
 * Format the first EXCERPT_SENTENCES sentences, or EXCERPT_CHARS of them, cut at a
 * word and ended with U+2026.  A full stop after a single letter or a common
 * abbreviation does not end a sentence, nor does one before a lower-case letter.
 *
 * @param text  any text
 * @return one sanitized line (message/sanitize.h), owned by the caller
 */
char *excerpt_format(const char *text);

#endif
