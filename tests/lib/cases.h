/*
 * cases.h - tables of cases, read from tests/tables.
 *
 * A line of NAME.tsv is a row of texts with a tab between them, "-" for NULL and "\"\""
 * for an empty text.  Backslashes are read as in C: \t, \n, \\, \" and octal bytes such
 * as \303.  Lines that are empty or begin with "#" are comments.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* First cell of the row behind the last. */
static const char cases_end[] = "";

static inline char *
cases_read_cell(const char *written)
{
	if (strcmp(written, "-") == 0)
		return NULL;
	return g_strcompress(strcmp(written, "\"\"") == 0 ? "" : written);
}

/** @return the lines of a file in tests/tables, comments included; owned by the caller
 */
static inline char **
cases_read_lines(const char *name, const char *suffix)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *path =
	    g_strdup_printf("%s/tests/tables/%s.%s", top ? top : ".", name, suffix);
	g_autofree char *text = NULL;
	g_autoptr(GError) error = NULL;

	g_file_get_contents(path, &text, NULL, &error);
	g_assert_no_error(error);
	return g_strsplit(text, "\n", -1);
}

/** Append the cells of a line to an array. @return their number; 0: a comment */
static inline unsigned
cases_split(const char *line, GPtrArray *cells)
{
	g_auto(GStrv) fields = NULL;
	unsigned count = 0;

	if (!*line || *line == '#')
		return 0;
	fields = g_strsplit(line, "\t", -1);
	for (; fields[count]; count++)
		g_ptr_array_add(cells, cases_read_cell(fields[count]));
	return count;
}

static inline GPtrArray *
cases_read(const char *name, size_t columns)
{
	g_auto(GStrv) lines = cases_read_lines(name, "tsv");
	GPtrArray *cells = g_ptr_array_new();

	for (unsigned i = 0; lines[i]; i++) {
		unsigned count = cases_split(lines[i], cells);

		if (count > 0 && count != columns)
			g_error("%s.tsv:%u: expected %zu fields", name, i + 1, columns);
	}
	g_assert_cmpuint(cells->len, >, 0);
	g_ptr_array_add(cells, (char *)cases_end);
	return cells;
}

/**
 * Load a table.
 *
 * @param row_bytes  size of a structure that has only `const char *` as members, one
 * for each column
 * @return an array of these structures, up to one whose first member is NULL; it is
 * kept until the program ends
 */
static inline const void *
cases_load(const char *name, size_t row_bytes)
{
	static GHashTable *tables;
	GPtrArray *cells;

	if (!tables)
		tables = g_hash_table_new(g_str_hash, g_str_equal);
	cells = g_hash_table_lookup(tables, name);
	if (!cells) {
		cells = cases_read(name, row_bytes / sizeof(char *));
		g_hash_table_insert(tables, (char *)name, cells);
	}
	return cells->pdata;
}

/** For each row of a table: CASES_FOREACH(row, "stem", *word, *folded) { row->word } */
#define CASES_FOREACH(row, name, ...)                        \
	for (const struct { const char __VA_ARGS__; } *row = \
	         cases_load(name, sizeof(*row));             \
	     *(const char *const *)row != cases_end; row++)

/** The same with a structure that is defined elsewhere. */
#define CASES_FOREACH_AS(type, row, name)                      \
	for (const type *row = cases_load(name, sizeof(*row)); \
	     *(const char *const *)row != cases_end; row++)

/** @return the number in a cell */
static inline int64_t
cases_number(const char *cell)
{
	gint64 number;
	g_autoptr(GError) error = NULL;

	g_ascii_string_to_signed(cell, 10, G_MININT64, G_MAXINT64, &number, &error);
	g_assert_no_error(error);
	return number;
}

/** @return whether a cell is "yes", and not "no" */
static inline bool
cases_is_yes(const char *cell)
{
	g_assert_true(strcmp(cell, "yes") == 0 || strcmp(cell, "no") == 0);
	return *cell == 'y';
}
