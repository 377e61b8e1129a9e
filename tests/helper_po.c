/*
 * helper_po.c - write the translations of a PO file as the program reads it.
 *
 * helper_po FILE COUNTS reads lines from standard input, with \001 for a line end: a
 * text, or two for a text with plural forms, separated by \002.  It writes the
 * translation of each, or that for each count below COUNTS, in the same way.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/po.h"

static void
write_translations(const struct po *po, char *line, int counts)
{
	char *plural = strchr(line, '\002');

	if (!plural) {
		printf("%s\001", po_get(po, line));
		return;
	}
	/* As PL_() */
	*plural = '\0';
	for (int n = 0; n < counts; n++)
		printf("%s%s", n ? "\002" : "", po_get_count(po, line, n));
	putchar('\001');
}

int
main(int argc, char **argv)
{
	pb_auto(po) po = po_new();
	g_autoptr(GError) error = NULL;
	g_autofree char *file = NULL, *input = NULL;
	g_auto(GStrv) lines = NULL;

	if (argc != 3 || !g_file_get_contents(argv[1], &file, NULL, &error) ||
	    !g_file_get_contents("/dev/stdin", &input, NULL, &error) ||
	    !po_parse(po, argv[1], file, NULL, &error))
		g_error("%s", error ? error->message : "usage: helper_po FILE COUNTS");
	lines = g_strsplit(input, "\001", -1);
	for (unsigned i = 0; lines[i] && *lines[i]; i++)
		write_translations(po, lines[i], atoi(argv[2]));
	return EXIT_SUCCESS;
}
