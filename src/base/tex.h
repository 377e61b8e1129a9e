/*
 * tex.h - decode TeX markup in titles, names and abstracts.
 *
 * Decodes markup for a character (`L\'evy`, `Kra{\ss}`, `\&`, `$\alpha$`) and removes
 * text formatting (`\emph{X}` becomes X).  Everything else, in particular formulas, is
 * left unchanged: a wrong guess loses searchable words, an unchanged command does not.
 * The rest is converted when it is shown (base/tex_display.h).
 */
#ifndef PAPERBOY_BASE_TEX_H
#define PAPERBOY_BASE_TEX_H

#include <stddef.h>

/**
 * Decode TeX accents, letters, symbols and text commands.
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

/** Find the character that a command stands for: "alpha". @return UTF-8, or NULL */
const char *tex_find_symbol(const char *name, size_t length);

/**
 * Find the brace that closes a group.
 *
 * @param open  its opening brace
 * @return NULL if there is none within BOUNDS_TEX_ARGUMENT_BYTES
 */
const char *tex_find_closing_brace(const char *open, const char *end);

/**
 * Find the end of a formula by the rule for prices in tex_decode().
 *
 * @param at               its opening `$`, `$$`, `\(` or `\[`
 * @param delimiter_bytes  set to the size of that and of the closing one
 * @return the closing delimiter; NULL if this is not a formula, or one of more than
 *         BOUNDS_TEX_FORMULA_BYTES
 */
const char *
tex_find_formula_end(const char *at, const char *end, size_t *delimiter_bytes);

#endif
