/*
 * tex_math.h - TeX formulas as Unicode text.
 *
 * A formula is converted only if the text says exactly what TeX would show, apart from
 * italics and bold type: `x^2` is x², `x^{2/3}` and `\frac{a}{b}c` cannot be written.
 */
#ifndef PAPERBOY_BASE_TEX_MATH_H
#define PAPERBOY_BASE_TEX_MATH_H

#include <glib.h>
#include <stdbool.h>

/**
 * Append a formula, given without its delimiters.
 *
 * @return false if it cannot be written as text; then nothing is appended
 */
bool tex_math_append(GString *out, const char *at, const char *end);

/**
 * Append a single command with its arguments.
 *
 * @param at  its backslash
 * @return the position after it; NULL, with nothing appended, if it is not known or
 *         cannot be written as text
 */
const char *tex_math_append_command(GString *out, const char *at, const char *end);

/**
 * Append a text as superscript or subscript.
 *
 * @param mark  '^' or '_'
 * @return false if Unicode lacks one of the characters; then nothing is appended
 */
bool tex_math_append_script(GString *out, const char *text, char mark);

#endif
