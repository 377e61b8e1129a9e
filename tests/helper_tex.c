/*
 * helper_tex.c - show texts for the script that checks them.
 *
 * For each line of standard input prints the text as it is stored, a tab, and the text
 * as it is shown.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#include "base/bounds.h"
#include "base/text.h"
#include "message/sanitize.h"

int
main(void)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t length;

	while ((length = getline(&line, &size, stdin)) > 0) {
		g_autofree char *stored =
		    text_normalize(line, (size_t)length, BOUNDS_PAPER_ABSTRACT_BYTES);
		g_autofree char *shown = sanitize_paper_text(stored, 0);

		printf("%s\t%s\n", stored, shown);
	}
	free(line);
	return 0;
}
