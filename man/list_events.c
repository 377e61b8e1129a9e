/*
 * list_events.c - the events of paperboyd(8), from the program's own table.
 */
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "service/log/event.h"

#define COLUMNS 76

/* In lines of bearable length; a sentence begins a new one, as mdoc wants it. */
static void
print_wrapped(const char *text)
{
	g_auto(GStrv) words = g_strsplit_set(text, " ", -1);
	size_t column = 0;

	for (char **word = words; *word; word++) {
		size_t size = strlen(*word);

		if (!size)
			continue;
		if (column && column + 1 + size > COLUMNS) {
			putchar('\n');
			column = 0;
		}
		printf("%s%s", column ? " " : "", *word);
		column += size + (column ? 1 : 0);
		if (g_str_has_suffix(*word, ".")) {
			putchar('\n');
			column = 0;
		}
	}
	if (column)
		putchar('\n');
}

int
main(void)
{
	for (int kind = 0; kind < N_EVENTS; kind++) {
		const struct event_row *row = event_get_row(kind);

		printf(".It Sy %s Pq Cm %s\n", row->name, event_get_level_name(row));
		print_wrapped(row->help);
		printf(".br\n.Li %s\n", row->message_id);
	}
	return 0;
}
