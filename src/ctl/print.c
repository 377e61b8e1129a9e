/*
 * print.c - JSON values and single lines of output.
 */
#include "ctl/print.h"

#include <stdio.h>

void
print_json(json_t *value)
{
	json_dumpf(value, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY);
	putchar('\n');
	json_decref(value);
}

void
print_json_line(json_t *value)
{
	json_dumpf(value, stdout, 0);
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
