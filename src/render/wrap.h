/*
 * wrap.h - line wrapping of plain text.
 */
#pragma once

#include <glib.h>

/**
 * Break every line that is wider than `columns`.
 *
 *  1. Lines are broken at blanks and between wide characters.  A word that is longer
 *     than a line, such as a link, is not broken.
 *  2. Continuation lines are indented like the line, and by two more after a bullet
 *     (`* ` or `- `).
 *  3. No line ends in a blank.
 *  4. None consists of "--", which mail programs take for the start of a signature.
 *
 * Columns are those of a terminal: two for a wide character, none for a combining one.
 *
 * @param text  valid UTF-8; lines end in LF
 * @return owned by the caller; ends in LF unless it is empty
 */
char *wrap_format_text(const char *text, unsigned columns);
