/*
 * list_settings.c - the settings of paperboy.conf(5), from the program's own table.
 */
#include <stdio.h>

#include "config/settings.h"

/* A backslash begins an escape in a manual page. */
static void
print_escaped(const char *text)
{
	for (; *text; text++)
		if (*text == '\\')
			fputs("\\e", stdout);
		else
			putchar(*text);
}

static void
print_setting(const struct settings_row *row, void *data)
{
	(void)data;
	printf(".It Cm %s\n", row->name);
	print_escaped(row->help);
	puts(*row->range ? ":" : ".");
	if (*row->range)
		printf("%s.\n", row->range);
	if (*row->value && *row->value != '"')
		printf("The default is %s.\n", row->value);
	else if (row->value[0] == '"' && row->value[1] != '"') {
		fputs("The default is\n.Li ", stdout);
		print_escaped(row->value);
		puts(" .");
	}
	if (row->needs_restart)
		puts("A change needs a restart.");
}

int
main(void)
{
	pb_auto(settings) defaults = settings_new();

	settings_foreach(defaults, print_setting, NULL);
	return 0;
}
