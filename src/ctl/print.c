/*
 * print.c - what paperboyctl shows: tables for people, JSON for scripts.
 */
#include "ctl/print.h"

#include <stdbool.h>
#include <stdio.h>

void
print_json(json_t *value)
{
	json_dumpf(value, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY);
	putchar('\n');
	json_decref(value);
}

json_t *
print_json_text(const char *text)
{
	return text ? json_string(text) : json_null();
}

json_t *
print_json_number(int64_t number)
{
	return number < 0 ? json_null() : json_integer(number);
}

char **
print_row(const char *first, ...)
{
	GPtrArray *cells = g_ptr_array_new();
	va_list arguments;

	va_start(arguments, first);
	for (const char *cell = first; cell; cell = va_arg(arguments, const char *))
		g_ptr_array_add(cells, g_strdup(cell));
	va_end(arguments);
	g_ptr_array_add(cells, NULL);
	return (char **)g_ptr_array_free(cells, FALSE);
}

/* What a person wrote must not move the terminal's cursor. */
static void
print_cell(const char *cell, long width)
{
	long used = 0;

	for (; *cell; cell = g_utf8_next_char(cell)) {
		gunichar c = g_utf8_get_char(cell);
		char bytes[7] = "?";

		if (!g_unichar_iscntrl(c))
			bytes[g_unichar_to_utf8(c, bytes)] = '\0';
		fputs(bytes, stdout);
		used++;
	}
	for (; used < width; used++)
		putchar(' ');
}

char *
print_dup_line(const char *text)
{
	GString *line = g_string_new(NULL);

	for (; *text; text = g_utf8_next_char(text)) {
		gunichar c = g_utf8_get_char(text);

		g_string_append_unichar(line, g_unichar_iscntrl(c) ? '?' : c);
	}
	return g_string_free(line, FALSE);
}

void
print_table(const GPtrArray *rows)
{
	char **head = rows->len ? rows->pdata[0] : NULL;
	guint columns = head ? g_strv_length(head) : 0;
	g_autofree long *widths = g_new0(long, columns + 1);

	for (unsigned i = 0; i < rows->len; i++)
		for (guint j = 0; j < columns; j++)
			widths[j] = MAX(
			    widths[j], g_utf8_strlen(((char **)rows->pdata[i])[j], -1));
	for (unsigned i = 0; i < rows->len; i++) {
		char **row = rows->pdata[i];

		for (guint j = 0; j < columns; j++) {
			bool is_last = j + 1 == columns;

			print_cell(row[j], is_last ? 0 : widths[j]);
			fputs(is_last ? "\n" : "  ", stdout);
		}
	}
}
