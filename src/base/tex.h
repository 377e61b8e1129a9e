/*
 * tex.h - decode TeX markup in titles, names and abstracts.
 *
 * Decodes markup for a character (`L\'evy`, `Kra{\ss}`, `\&`, `$\alpha$`) and removes
 * text formatting (`\emph{X}` becomes X).  Everything else, in particular formulas, is
 * left unchanged: a wrong guess loses searchable words, an unchanged command does not.
 */
#ifndef PAPERBOY_BASE_TEX_H
#define PAPERBOY_BASE_TEX_H

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

#endif
