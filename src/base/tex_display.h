/*
 * tex_display.h - show the TeX that is left in titles, names and abstracts.
 *
 * Stored text keeps what base/tex.h does not decode, so that filters and searches do
 * not depend on this file.  It is for text that people read, nothing else: positions in
 * stored text are not positions in its result.
 */
#ifndef PAPERBOY_BASE_TEX_DISPLAY_H
#define PAPERBOY_BASE_TEX_DISPLAY_H

#include <stdbool.h>

/** Whether a text may contain TeX; if not, tex_display_format() copies it. */
bool tex_display_is_needed(const char *text);

/**
 * Convert TeX to plain text.
 *
 * - `$O(n \log n)$`, `\(x^2\)`, `\[...\]`: O(n log n), x², as by base/tex_math.h; a
 *   formula that cannot be written so stays as it is, delimiters included
 * - `\cite{X}`, `\ref{X}`, `\label{X}`: removed with the blank before
 * - `\url{X}`: X; `\href{X}{Y}`: Y; `\footnote{X}`: X in parentheses
 * - `\eg`, `\ie`: e.g., i.e.; `\mathbb{R}`, `\in`: as in a formula
 * - `\name`, `\name{}`: the name; `\name{X}` of an unknown command: X
 * - `\5`: $5; it is left of `\$5` where a source removes the dollars of formulas
 * - `~`: a blank if it ties a word to the next; "~5" and "10~20" stay
 * - `--`, `---`: dashes; ``X'' and ''X'': quotation marks
 *
 * Outside of formulas the result has no backslash.  Addresses (http...) are copied, but
 * for `\_`, `\allowbreak` and the like.
 * It takes time linear in the length.
 *
 * @param text  valid UTF-8
 * @return valid UTF-8, newly allocated, with blanks as they come
 */
char *tex_display_format(const char *text);

#endif
