/*
 * tex_tables.h - the names of TeX's accents, letters, symbols and text commands.
 *
 * Names come without the backslash and with their length, as they stand in the
 * middle of a text.
 */
#ifndef PAPERBOY_BASE_TEX_TABLES_H
#define PAPERBOY_BASE_TEX_TABLES_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

enum tex_kind {
	TEX_CHARACTER, /* of a word: blanks after the command belong to it */
	TEX_SYMBOL,
};

struct tex_symbol {
	const char *name;
	const char *text; /* UTF-8 */
	enum tex_kind kind;
};

/** @return the symbol of that name, or NULL */
const struct tex_symbol *tex_find_symbol(const char *name, size_t length);

/** @return the combining mark of an accent (`'`, `v`, ...), or 0 */
gunichar tex_find_accent(char name);

/** @return whether it only dresses the text in its one argument (`emph`) */
bool tex_is_text_command(const char *name, size_t length);

/** @return whether it dresses the rest of its group (`it`) */
bool tex_is_font_switch(const char *name, size_t length);

#endif
