/*
 * tex.h - the TeX that authors leave in titles, names and abstracts.
 *
 * Decodes what stands for a character (`L\'evy`, `Kra{\ss}`, `\&`, `$\alpha$`)
 * and takes the clothes off text (`\emph{X}` becomes X).  Everything else, real
 * formulas above all, stays as it was typed: a wrong guess loses words that
 * somebody searches for, a command left alone loses nothing.
 */
#ifndef PAPERBOY_BASE_TEX_H
#define PAPERBOY_BASE_TEX_H

/**
 * Decode TeX accents, letters, symbols and text commands.
 *
 * - `\'e`, `\'{e}`, `{\'e}`, `\v{z}`, `\c c`, `\'\i`: the letter, as base and
 *   combining mark when Unicode has no letter of its own for it; not yet NFC
 * - `\ss`, `\o`, `\aa`, `\alpha`, `\times`, ...: the character; `{}` after it and
 *   the blank after a letter belong to the command
 * - `\& \% \$ \# \_ \{ \}`: the character; `\,` `\;` `\:` and `\` + blank: a blank
 * - `\emph{X}`, `\textsc{X}`, `{\it X}`, ...: X
 * - `$...$` and `\(...\)`: decoded when all of it is symbols, text commands,
 *   digits and simple punctuation; else verbatim.  A `$` opens before and closes after
 *   a non-blank only, and does not close before a digit, so prices stay prices
 * - `\'s`, `\'re` and the like after a letter: an apostrophe that was escaped twice
 *
 * Decoding again changes nothing, except in text made to defeat that
 * (`\alph\emph{a}`).
 *
 * @param text  valid UTF-8; time is linear in its length
 * @return valid UTF-8, newly allocated; never longer than text by more than a few
 *         octets a command
 */
char *tex_decode(const char *text);

#endif
