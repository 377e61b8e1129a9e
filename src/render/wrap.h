/*
 * wrap.h - lines of a plain text brought to a width.
 */
#ifndef PAPERBOY_RENDER_WRAP_H
#define PAPERBOY_RENDER_WRAP_H

#include <glib.h>

/**
 * Break every line that is wider than `columns`, at blanks and between wide
 * characters.  What follows is indented as the line was, and by two more behind
 * a bullet (`* ` or `- `).  A word that fits on no line, such as a link, stays
 * whole.  No line ends in a blank, and none is "--" at its start alone, which
 * mail programs take for the end of a text.
 *
 * Columns are those of a terminal: two for a wide character, none for a
 * combining one.
 *
 * @param text  valid UTF-8; lines end with LF
 * @return owned by the caller; ends with LF unless it is empty
 */
char *wrap_format_text(const char *text, unsigned columns);

/** The same, appended. */
void wrap_append_text(GString *out, const char *text, unsigned columns);

#endif
