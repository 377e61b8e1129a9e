/*
 * tex.h - TeX markup in titles, names and abstracts: decoded, and shown as plain text.
 *
 * Stored text keeps what tex_decode() does not know, in particular formulas: a wrong
 * guess loses words that filters and searches find, an unchanged command does not.
 * tex_display() converts the rest for people, and for nothing else: positions in stored
 * text are not positions in its result.
 */
#pragma once

#include <stdbool.h>

/**
 * Decode TeX accents, letters, symbols and text commands, before text is stored.
 *
 * - `\'e`, `\'{e}`, `{\'e}`, `\v{z}`, `\c c`, `\'\i`: the letter, as base and
 *   combining mark if Unicode has no precomposed letter; not yet NFC
 * - `\ss`, `\o`, `\aa`, `\alpha`, `\times`, ...: the character; a following `{}`, and
 *   the blank after a letter command, are part of the command
 * - `\& \% \$ \# \_ \{ \}`: the character; `\,` `\;` `\:` and `\` + blank: a blank
 * - `\emph{X}`, `\textsc{X}`, `{\it X}`, ...: X
 * - `$...$` and `\(...\)`: decoded if it consists of symbols, text commands, digits
 *   and simple punctuation only; else verbatim.  A `$` opens before and closes after
 *   a non-blank only, and does not close before a digit, so that prices are unchanged
 * - `\'s`, `\'re` and the like after a letter: an apostrophe that was escaped twice
 *
 * The function is idempotent, except for text crafted to defeat that
 * (`\alph\emph{a}`).  It takes time linear in the length.
 *
 * @param text  valid UTF-8
 * @return valid UTF-8, newly allocated; at most a few bytes per command longer than
 *         text
 */
char *tex_decode(const char *text);

/** Whether a text may contain TeX; if not, tex_display() copies it. */
bool tex_display_is_needed(const char *text);

/**
 * Convert the TeX of stored text to plain text.
 *
 * - `$O(n \log n)$`, `\(x^2\)`, `\[\mathbb{R}\]`: O(n log n), x², ℝ.  A formula is
 *   converted only if the text says what TeX would show, apart from italics and bold
 *   type; another one (`x^{2/3}`, `\frac{a}{b}`) stays, delimiters included
 * - `\cite{X}`, `\ref{X}`, `\label{X}`: removed with the blank before
 * - `\url{X}`: X; `\href{X}{Y}`: Y; `\footnote{X}`: X in parentheses
 * - `\eg`, `\ie`: e.g., i.e.; `\mathbb{R}`, `\in`: as in a formula
 * - `\name`, `\name{}`: the name; `\name{X}` of an unknown command: X
 * - `\5`: $5; it is left of `\$5` where a source removes the dollars of formulas
 * - `~`: a blank if it ties a word to the next; "~5" and "10~20" stay
 * - `--`, `---`: dashes; ``X'' and ''X'': quotation marks; neither in http addresses
 *
 * Outside of formulas the result has no backslash.  It takes time linear in the length.
 *
 * @param text  valid UTF-8
 * @return valid UTF-8, newly allocated, with blanks as they come
 */
char *tex_display(const char *text);
